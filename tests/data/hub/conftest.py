"""A Hub in memory, to which commands go."""

import pytest

from helpers.hub import TOKEN, Hub


@pytest.fixture
def hub(run, tmp_path_factory, monkeypatch):
    """The state of a Hub, to which commands of this process go."""
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    state = Hub(tmp_path_factory.mktemp("downloads"))
    state.install(monkeypatch)

    def done(*arguments):
        code, out, err = run(*arguments)
        assert code == 0, err
        return out

    def refused(*arguments):
        code, out, err = run(*arguments)
        assert (code, out, err.count("\n")) == (2, "", 1), (out, err)
        return err

    state.call, state.done, state.refused = run, done, refused
    return state
