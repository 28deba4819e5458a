"""Machine code is never stale, nor read from where others could have put it."""

import errno
import os
import shutil
import sys
import warnings
from pathlib import Path
from types import ModuleType

import pytest
from numba.core import caching

import sraven
from helpers.python import python
from sraven.core import jit
from sraven.core.errors import CodeCacheWarning
from sraven.core.jit import source_digest

PACKAGE = Path(sraven.__file__).parent

PLACES = ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "HOME")


@pytest.fixture
def environment(monkeypatch, tmp_path):
    """Set where machine code may be: none of the places is known unless given."""

    def choose(**places):
        for name in PLACES:
            monkeypatch.delenv(name, raising=False)
        for name, path in places.items():
            monkeypatch.setenv(name, str(path))

    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    yield choose
    assert list(temporary.iterdir()) == []


def code_folder():
    return jit._code_folder.__wrapped__("sraven")


def test_places_in_order(tmp_path, environment):
    home = tmp_path / "home"
    home.mkdir()
    places = {"HOME": home, "XDG_CACHE_HOME": tmp_path / "xdg", "NUMBA_CACHE_DIR": tmp_path / "numba"}
    expected = {"HOME": home / ".cache", **{name: places[name] for name in list(places)[1:]}}
    for count, name in enumerate(places, start=1):
        environment(**dict(list(places.items())[:count]))
        folder = code_folder()
        assert folder is not None and folder.parent == expected[name] / "sraven"
        assert folder.name.startswith("sraven-") and folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("path", ["/dev/null", "relative"])
def test_a_place_that_cannot_be_used_is_said(environment, place, path):
    environment(**{place: path})
    with pytest.warns(CodeCacheWarning, match="set NUMBA_CACHE_DIR to"):
        assert code_folder() is None


def add(a, b):
    return a + b


def subtract(a, b):
    return a - b


add.__module__ = subtract.__module__ = "sraven.added"


@pytest.fixture
def code(monkeypatch, tmp_path):
    """The folder of machine code, empty."""
    monkeypatch.setattr(jit, "_code_folder", lambda package: tmp_path)
    # Code that is loaded asks for the module of its function.
    monkeypatch.setitem(sys.modules, add.__module__, ModuleType(add.__module__))
    return tmp_path


def said_by_kernels():
    """Compile, or load, as another process would; return what is warned of."""
    jit._say.cache_clear()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert (jit.kernel(add)(5, 3), jit.kernel(subtract)(5, 3)) == (8, 2)
    return [str(each.message) for each in said if each.category is CodeCacheWarning]


def test_numba_keeps_code_in_no_other_place(monkeypatch, code):
    assert Path(jit.kernel(add).stats.cache_path).is_relative_to(code)
    name = "UserProvidedCacheLocator"  # older versions of Numba put a line before it
    locator = getattr(caching, name, None) or getattr(caching, f"_{name}")
    monkeypatch.setattr(locator, "from_function", classmethod(lambda *_: None))  # as on a full disk
    compiled = jit.kernel(add)
    assert compiled(2, 3) == 5 and compiled.stats.cache_path is None


def test_cut_files_are_passed_over_said_once_and_mended(code):
    """As a loss of power or a full disk leaves them: each kind of file, cut to each length that differs."""
    assert said_by_kernels() == []
    for kind in ("*.nbi", "*.nbc"):
        files = list(code.rglob(kind))
        assert len(files) == 2
        for length in (0, 9):
            for path in files:
                path.write_bytes(path.read_bytes()[:length])
            [said] = said_by_kernels()
            assert "machine code isn't kept" in said and "a file there is damaged" in said
            assert said_by_kernels() == []


def test_no_room_for_machine_code_stops_nothing(monkeypatch, code):
    def full(*_):
        raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))

    monkeypatch.setattr(caching.IndexDataCacheFile, "save", full)
    [said] = said_by_kernels()
    assert "Disk quota exceeded" in said


ARCHIVED = """
import numpy as np
import sraven
from sraven.core.rng import chain
assert {archive!r} in sraven.__file__
print(chain(np.uint64(2**48 + 5)))
"""


def test_what_is_imported_from_an_archive_runs(tmp_path):
    archive = shutil.make_archive(str(tmp_path / "sraven"), "zip", PACKAGE.parent, "sraven")
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": archive}
    assert python("-c", ARCHIVED.format(archive=archive), cwd=tmp_path, env=environment).stdout == "5\n"


def test_change_of_a_file_with_kernels_and_of_no_other_changes_the_digest(tmp_path):
    copy = shutil.copytree(PACKAGE, tmp_path / "sraven")
    found = [source_digest([PACKAGE])]
    for name in ("describe.py", "core/rng.py", "certificates/explanations.py", "kernels.py"):
        with open(copy / name, "a") as file:
            file.write("# changed\n")
        found.append(source_digest([copy]))
    assert found[0] == found[1] and len(set(found)) == 4
