"""Fixtures of the command line's tests."""

import json
import shutil

import pytest

from helpers.submissions import SRAVEN_BOARD


@pytest.fixture
def original(originals):
    """A submission; tests only read it."""
    return originals[SRAVEN_BOARD]


@pytest.fixture
def filed(original, scored, leaderboard):
    """The submission as it lies in the leaderboard."""
    goal = leaderboard / "submissions" / SRAVEN_BOARD / "20261121-a-method"
    shutil.copytree(original, goal)
    (goal / "scores.json").write_text(json.dumps(scored))
    return goal


@pytest.fixture
def done(run):
    """Run a command that has to succeed without a note; return what it prints."""

    def done(*arguments):
        code, out, err = run(*arguments)
        assert (code, err) == (0, ""), err
        return out

    return done


@pytest.fixture
def refused(run):
    """Run a command that has to be refused, in one line; return it."""

    def refused(*arguments):
        code, out, err = run(*arguments)
        assert (code, out, err.count("\n")) == (2, "", 1) and err.startswith("error: "), (out, err)
        return err

    return refused
