"""Machine code is never stale, nor read from where others could have put it."""

import os
import pickle
import shutil
from pathlib import Path

import pytest
from numba.core import caching

import sraven
from helpers.python import python
from sraven.core import jit
from sraven.core.errors import CodeCacheWarning
from sraven.core.jit import source_digest

PACKAGE = Path(sraven.__file__).parent

PLACES = ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "HOME")

PROGRAM = """
import numpy as np
from sraven.core.rng import fill_draws
draws = np.empty((2, 1), np.uint64)
fill_draws(draws, np.zeros(2, np.uint64), np.zeros(1, np.uint64), np.uint64(0))
print(hex(draws[0, 0]))
"""

DRAW = "0xe169c58d6627e8d5\n"
"""The first two words of Philox of zeros: the published ones."""


def run_program(folder, environment, before=""):
    variables = {**os.environ, "PYTHONPATH": str(PACKAGE.parent), **environment}
    return python("-c", before + PROGRAM, cwd=folder, env=variables, timeout=300)


class Payload:
    """What is pickled runs when it is read."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return os.mkdir, (str(self.mark),)


@pytest.fixture(scope="module")
def forged(tmp_path_factory):
    """A folder of machine code whose index runs a payload, and the mark that this leaves."""
    base = tmp_path_factory.mktemp("forged")
    code, mark = base / "code", base / "ran"
    assert run_program(base, {"NUMBA_CACHE_DIR": str(code)}).stdout == DRAW
    indices = list(code.rglob("*.nbi"))
    assert indices
    for path in indices:
        path.write_bytes(pickle.dumps(Payload(mark)))
    return code, mark


def test_a_forged_index_would_run(tmp_path, forged):
    """Tests of a forged folder prove something only if the payload works, as in one's own folder."""
    code, mark = forged
    run_program(tmp_path, {"NUMBA_CACHE_DIR": str(code)})
    assert mark.exists()
    mark.rmdir()


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


def test_numba_keeps_code_in_no_other_place(monkeypatch):
    def add(a, b):
        return a + b

    add.__module__ = "sraven.added"
    assert Path(jit.kernel(add).stats.cache_path).is_relative_to(jit._code_folder("sraven"))
    name = "UserProvidedCacheLocator"  # older versions of Numba put a line before it
    locator = getattr(caching, name, None) or getattr(caching, f"_{name}")
    monkeypatch.setattr(locator, "from_function", classmethod(lambda *_: None))  # as on a full disk
    compiled = jit.kernel(add)
    assert compiled(2, 3) == 5 and compiled.stats.cache_path is None


def test_cut_files_are_passed_over_said_once_and_mended(tmp_path):
    """As a loss of power or a full disk leaves them: each kind of file, cut to each length that differs."""
    places = {"NUMBA_CACHE_DIR": str(tmp_path)}
    assert run_program(tmp_path, places).stderr == ""
    for kind in ("*.nbi", "*.nbc"):
        files = list(tmp_path.rglob(kind))
        for length in (0, 9):
            for path in files:
                path.write_bytes(path.read_bytes()[:length])
            result = run_program(tmp_path, places)
            assert (
                result.stdout == DRAW
                and result.stderr.count("CodeCacheWarning: machine code isn't kept") == 1
            )
            assert "a file there is damaged" in result.stderr
            assert run_program(tmp_path, places).stderr == ""


FULL = """
import errno, os
from numba.core import caching
def full(*_): raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))
caching.IndexDataCacheFile.save = full
"""


def test_no_room_for_machine_code_stops_nothing(tmp_path):
    result = run_program(tmp_path, {"NUMBA_CACHE_DIR": str(tmp_path)}, FULL)
    assert result.stdout == DRAW and result.stderr.count("Disk quota exceeded") == 1


def test_what_is_imported_from_an_archive_runs(tmp_path):
    archive = shutil.make_archive(str(tmp_path / "sraven"), "zip", PACKAGE.parent, "sraven")
    places = {"NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": archive}
    within = f"import sraven; assert {archive!r} in sraven.__file__\n"
    assert run_program(tmp_path, places, within).stdout == DRAW


def test_change_of_a_file_with_kernels_and_of_no_other_changes_the_digest(tmp_path):
    copy = shutil.copytree(PACKAGE, tmp_path / "sraven")
    found = [source_digest([PACKAGE])]
    for name in ("describe.py", "core/rng.py", "certificates/explanations.py", "kernels.py"):
        with open(copy / name, "a") as file:
            file.write("# changed\n")
        found.append(source_digest([copy]))
    assert found[0] == found[1] and len(set(found)) == 4
