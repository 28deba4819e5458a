"""Names of datasets on the Hub, and calls that are tried again."""

import pytest
from huggingface_hub import errors

from sraven import OutputError
from sraven.data.hub.service import FIRST_WAIT, KIND, MODEL, TRIES, Place, insist, read_place


def test_places_are_read_as_they_are_written():
    assert read_place("user/name") == Place("user/name")
    assert read_place("hf://datasets/user/na.me-1@v1.0") == Place("user/na.me-1", "v1.0")
    assert str(Place("user/name", "v1")) == "hf://datasets/user/name@v1"
    assert read_place("user/name", MODEL) == Place("user/name", None, MODEL)
    assert read_place("hf://user/name@v1", MODEL) == Place("user/name", "v1", MODEL)
    assert str(Place("user/name", "v1", MODEL)) == "hf://user/name@v1"


@pytest.mark.parametrize(
    ("kind", "texts"),
    [
        (KIND, "name a/b/c hf://datasets/a a/b@ ../b a/b@../c a/b@c% hf://models/a/b"),
        (MODEL, "hf://datasets/user/name hf://name hf://user/name@"),
    ],
)
def test_what_is_no_place_is_refused(kind, texts):
    for text in (*texts.split(), "a/b\n", "a/b@c d"):
        with pytest.raises(OutputError, match=rf"names no {kind} on the Hub; expected user/name, or hf://"):
            read_place(text, kind)


class _Response:
    def __init__(self, status):
        self.status_code, self.headers, self.request = status, {}, None


def failing(status, times):
    """Return a call that fails so often, and the number of times that it was made."""
    made = []

    def call():
        made.append(status)
        if len(made) <= times:
            raise errors.HfHubHTTPError("as the test wants it", response=_Response(status))
        return "done"

    return call, made


def test_what_may_pass_is_tried_again_with_longer_waits(monkeypatch):
    waits = []
    monkeypatch.setattr("time.sleep", waits.append)
    call, made = failing(503, TRIES - 1)
    assert insist(call) == "done"
    assert waits == [FIRST_WAIT * 2**attempt for attempt in range(TRIES - 1)]
    call, made = failing(503, TRIES)
    with pytest.raises(errors.HfHubHTTPError):
        insist(call)
    assert len(made) == TRIES


@pytest.mark.parametrize("status", [401, 403, 404, 409, 412, 422])
def test_what_the_caller_has_to_change_isnt(status):
    call, made = failing(status, 1)
    with pytest.raises(errors.HfHubHTTPError):
        insist(call)
    assert len(made) == 1
