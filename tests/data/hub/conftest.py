"""A Hub in memory, to which commands go."""

import pytest

from helpers.hub import TOKEN, Hub


@pytest.fixture
def hub(run, done, refused, monkeypatch):
    """The state of a Hub, to which commands of this process go."""
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    state = Hub()
    state.install(monkeypatch)
    state.call, state.done, state.refused = run, done, refused
    return state
