"""JAX reads compiled programs from a folder of the user's own, or from none."""

import os

import jax
import pytest
from jax.experimental.compilation_cache import compilation_cache

from baselines.train import sharding
from baselines.train.compilation_cache import VARIABLE, check_compilation_cache, keep_programs
from helpers.python import python
from sraven.core.errors import CodeCacheWarning
from sraven.core.system.isolation import ROOT


def test_a_folder_of_the_users_own_is_used_and_what_is_none_stays(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "programs"
    for value in ("gs://bucket/programs", "", str(folder), str(folder)):
        assert list(tmp_path.iterdir()) == [folder] * folder.exists()
        monkeypatch.setenv(VARIABLE, value)
        check_compilation_cache()
        assert os.environ[VARIABLE] == value
    assert folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    ("mode", "reason"), [(0o777, "can be written to by others"), (0o755, "has mode 755; expected 700")]
)
def test_a_folder_that_is_not_is_left_alone_and_that_is_said(tmp_path, monkeypatch, mode, reason):
    tmp_path.chmod(mode)
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    with pytest.warns(CodeCacheWarning, match=f"{VARIABLE}={tmp_path} isn't used, .*: {tmp_path} {reason}; "):
        check_compilation_cache()
    assert VARIABLE not in os.environ


@pytest.fixture
def unnamed(monkeypatch, tmp_path):
    """No place is named; the user's cache is empty."""
    before = jax.config.jax_compilation_cache_dir
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    jax.config.update("jax_compilation_cache_dir", None)
    yield tmp_path
    jax.config.update("jax_compilation_cache_dir", before)
    compilation_cache.reset_cache()


@pytest.mark.parametrize(("is_cpu", "kept"), [(False, True), (True, False)])
def test_programs_of_accelerators_alone_are_kept_in_the_users_cache(unnamed, monkeypatch, is_cpu, kept):
    monkeypatch.setattr(sharding, "on_cpu", lambda mesh: is_cpu)
    keep_programs(None)
    folder = unnamed / "sraven" / "programs"
    assert jax.config.jax_compilation_cache_dir == (str(folder) if kept else None)
    assert folder.is_dir() == kept
    assert not kept or folder.stat().st_mode & 0o777 == 0o700


PROGRAM = """
{first}
import warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import baselines
import jax
print([each.category.__name__ for each in caught], jax.config.jax_compilation_cache_dir)
"""


@pytest.mark.parametrize("first", ["", "import jax"])
def test_whoever_imports_the_baselines_reads_none_of_another_place(tmp_path, first):
    (tmp_path / "programs").mkdir(mode=0o700)  # of whoever made the working directory
    environment = {**os.environ, VARIABLE: "programs", "PYTHONPATH": str(ROOT)}
    result = python("-P", "-c", PROGRAM.format(first=first), cwd=tmp_path, env=environment)
    assert (result.stdout, result.stderr) == ("['CodeCacheWarning'] None\n", "")
