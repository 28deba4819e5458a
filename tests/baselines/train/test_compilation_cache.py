"""JAX keeps compiled programs in a folder of the user's own."""

import jax
import pytest
from jax.experimental.compilation_cache import compilation_cache

from baselines.train import compilation_cache as ours


@pytest.fixture
def unnamed(monkeypatch, tmp_path):
    """No place is named; the user's cache is empty."""
    before = jax.config.jax_compilation_cache_dir
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    jax.config.update("jax_compilation_cache_dir", None)
    yield tmp_path
    jax.config.update("jax_compilation_cache_dir", before)
    compilation_cache.reset_cache()


@pytest.mark.parametrize(("is_cpu", "kept"), [(False, True), (True, False)])
def test_programs_of_accelerators_alone_are_kept_in_the_users_cache(unnamed, monkeypatch, is_cpu, kept):
    monkeypatch.setattr(ours, "on_cpu", lambda mesh: is_cpu)
    ours.keep_programs(None)
    folder = unnamed / "sraven" / "programs"
    assert jax.config.jax_compilation_cache_dir == (str(folder) if kept else None)
    assert folder.is_dir() == kept
    assert not kept or folder.stat().st_mode & 0o777 == 0o700
