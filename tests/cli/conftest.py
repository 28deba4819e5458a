"""Fixtures of the command line's tests."""

import json
import shutil

import pytest

from cli.main import main
from helpers.submissions import SRAVEN_BOARD


@pytest.fixture
def run(capsys):
    """Run a command line in this process; return exit code, standard output and error."""

    def run(*arguments):
        with pytest.raises(SystemExit) as stop:
            main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return stop.value.code, out, err

    return run


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
