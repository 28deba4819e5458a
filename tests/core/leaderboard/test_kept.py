"""Where the user's cache is."""

from pathlib import Path

import pytest

from sraven.core.leaderboard import cache as kept

CACHE_HOME = kept.cache_home  # before each test gets one of its own


@pytest.mark.parametrize(
    ("given", "home"),
    [("/somewhere", "/somewhere"), (".", "~/.cache"), ("cache", "~/.cache"), ("", "~/.cache")],
)
def test_relative_paths_do_not_count(given, home, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", given)
    monkeypatch.setenv("HOME", "/home/someone")
    assert CACHE_HOME() == Path(home).expanduser()
