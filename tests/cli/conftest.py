"""Fixtures of the command line's tests."""

from functools import partial

import pytest

from helpers.submissions import SRAVEN_BOARD, use_boards
from helpers.text_board import SECOND, text_contents


@pytest.fixture
def original(originals):
    """A submission; tests only read it."""
    return originals[SRAVEN_BOARD]


# `sraven text ask`, at an endpoint that is a script


@pytest.fixture
def asked_board(monkeypatch, tmp_path_factory):
    """A small board, of which nobody waits long, and a key."""
    use_boards(monkeypatch, tmp_path_factory.mktemp("boards"), text_contents(SECOND))
    monkeypatch.setattr("sraven.text.waits.FIRST_WAIT", 0.001)
    monkeypatch.setenv("KEY", "secret")
    return SECOND


@pytest.fixture
def server(monkeypatch, asked_board):
    """The endpoint: it answers the questions of the board right, unless it has a script for them."""
    import httpx

    from helpers.scripted_endpoint import Endpoint

    found = Endpoint()
    monkeypatch.setattr(
        httpx, "AsyncClient", partial(httpx.AsyncClient, transport=httpx.MockTransport(found.answer))
    )
    return found


@pytest.fixture
def questions(server):
    """The ids and prompts of the board, in the order in which they are asked."""
    from sraven.text.mixtures import mixture_of

    asked = mixture_of(SECOND, "told-0-shot").in_turn()
    return [(each.id_of(index), each.prompts([index])[0]) for each, index in asked]


@pytest.fixture
def line(asked_board, tmp_path):
    """The command line that asks the board there."""
    where = "--url http://here/v1 --model m --key-env KEY --out"
    return ("text", "ask", asked_board, *where.split(), tmp_path / "c.jsonl")
