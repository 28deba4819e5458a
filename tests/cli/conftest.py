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
