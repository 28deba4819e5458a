"""Fixtures of tests that read completions: some questions, what is right, and where to write it."""

import pytest

from sraven import SRAVEN
from sraven.text import Questions


@pytest.fixture(scope="session")
def questions():
    return Questions(SRAVEN(M=2, K=7, answers="unique"), "ood", 10)


@pytest.fixture(scope="session")
def right(questions):
    """The right replies by the ids of their questions."""
    return dict(zip(map(questions.id_of, range(10)), questions.answers(range(10)), strict=True))


@pytest.fixture
def file(tmp_path):
    return tmp_path / "c.jsonl"
