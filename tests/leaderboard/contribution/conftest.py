"""A project with a leaderboard, and a new entry to it."""

import shutil
from datetime import date

import pytest

from helpers.repositories import OURS, commit, git, predictions_from
from helpers.submissions import SRAVEN_BOARD, only_boards, write
from sraven.leaderboard.submissions.submit import file_submission


@pytest.fixture(scope="session")
def prepared(tmp_path_factory):
    """A project with a rival's entry on branch main, and a new entry; tests only read them."""
    with only_boards(tmp_path_factory.mktemp("boards")):
        project, new = tmp_path_factory.mktemp("project"), tmp_path_factory.mktemp("new")
        leaderboard = project / "docs" / "leaderboard"
        leaderboard.mkdir(parents=True)
        rival = write(
            new / "rival", SRAVEN_BOARD, method={"name": "Rival"}, predictions=predictions_from(100)
        )
        file_submission(rival, leaderboard, day=date(2026, 11, 21))
        (project / "program.py").write_text("print('ours')\n")
        (leaderboard / "boards.yaml").write_text("boards: []\n")
        (leaderboard / "confirmed.yaml").write_text("{}\n")
        git(project, "init", "--quiet", "--initial-branch", "main")
        commit(project, "the project")
        (new / "leaderboard").mkdir()
        entry = file_submission(
            write(new / "ours", SRAVEN_BOARD), new / "leaderboard", day=date(2026, 11, 24)
        )
        return project, entry


@pytest.fixture
def project(prepared, tmp_path):
    """A clone of the project, on a branch of its own."""
    clone = shutil.copytree(prepared[0], tmp_path / "project", symlinks=True)
    git(clone, "switch", "--quiet", "--create", "proposal")
    return clone


@pytest.fixture
def entry(prepared, project):
    """The new entry in that clone, not yet committed."""
    return shutil.copytree(prepared[1], project / OURS)
