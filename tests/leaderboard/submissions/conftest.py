"""A submission to damage, and how it is refused."""

import shutil

import pytest

from helpers.submissions import SRAVEN_BOARD, snapshot
from sraven import ConfigurationError
from sraven.leaderboard.submissions.submit import file_submission


@pytest.fixture
def folder(originals, tmp_path):
    """A submission, to be damaged."""
    return shutil.copytree(originals[SRAVEN_BOARD], tmp_path / "submission")


@pytest.fixture
def refuse(tmp_path, leaderboard, capsys):
    """Submit a folder that has a fault; return the message, and check that it is all that comes of it."""

    def refuse(folder):
        before = snapshot(tmp_path)
        with pytest.raises(ConfigurationError) as error:
            file_submission(folder, leaderboard)
        message = str(error.value)
        assert capsys.readouterr() == ("", "")
        assert message.replace("…", "").isprintable() and len(message) < 500
        assert snapshot(tmp_path) == before
        return message

    return refuse
