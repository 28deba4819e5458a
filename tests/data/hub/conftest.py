"""A Hub on loopback, to which commands go."""

import pytest
from huggingface_hub import close_session, constants

from helpers.hub import TOKEN, serve
from sraven.data.hub import service


@pytest.fixture
def hub(run, tmp_path, monkeypatch):
    """The state of a Hub, to which commands of this process and others go."""
    with serve() as (state, address):
        settings = {"HF_TOKEN": TOKEN, "NO_PROXY": "127.0.0.1", "HF_HUB_DISABLE_XET": "1"}
        for name, value in settings.items():
            monkeypatch.setenv(name, value)
        resolve = address + "/{repo_id}/resolve/{revision}/{filename}"
        changes = {"ENDPOINT": address, "HUGGINGFACE_CO_URL_TEMPLATE": resolve}
        changes |= {"HF_HUB_OFFLINE": False, "HF_HUB_DISABLE_XET": True}
        for name, value in changes.items():
            monkeypatch.setattr(constants, name, value)
        monkeypatch.setattr(service, "FIRST_WAIT", 0.01)
        monkeypatch.setattr("huggingface_hub.utils._http.time.sleep", lambda seconds: None)
        close_session()

        def call(*arguments, **changed):
            with monkeypatch.context() as patch:
                for name, value in changed.items():
                    patch.setenv(name, value)
                return run(*arguments)

        def done(*arguments):
            code, out, err = call(*arguments)
            assert code == 0, err
            return out

        def refused(*arguments, **changed):
            code, out, err = call(*arguments, **changed)
            assert (code, out, err.count("\n")) == (2, "", 1), (out, err)
            return err

        state.call, state.done, state.refused, state.address = call, done, refused, address
        yield state
        close_session()
