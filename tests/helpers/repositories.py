"""Git repositories with a leaderboard, and changes of it that are checked."""

import os
import subprocess
from datetime import date

from helpers.refusals import assert_refused
from helpers.submissions import SRAVEN_BOARD, guesses, small_board, snapshot
from sraven.core.errors import ChangeError
from sraven.leaderboard.contribution.change import check_change

TODAY = date(2026, 11, 25)
FILED = "docs/leaderboard/submissions"
RIVAL = f"{FILED}/{SRAVEN_BOARD}/20261121-rival"
OURS = f"{FILED}/{SRAVEN_BOARD}/20261124-a-method"
IDENTITY = {
    f"GIT_{role}_{part}": value
    for role in ("AUTHOR", "COMMITTER")
    for part, value in (("NAME", "A. Author"), ("EMAIL", "author@example.org"))
}


def git(repository, *arguments, **options):
    """Run git as anyone would; return what it prints."""
    environment = {**os.environ, **IDENTITY, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    command = ["git", "-C", str(repository), *arguments]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, **options)
    return result.stdout.strip()


def commit(repository, message="a change"):
    git(repository, "add", "--all", "--force")
    git(repository, "commit", "--quiet", "--allow-empty", "--message", message)


def predictions_from(first):
    board = small_board(SRAVEN_BOARD)
    return {split: [guesses(board, split, first + seed) for seed in range(3)] for split in board.splits}


def refuse(project, message, base="main", **options):
    """Check a change; it must be refused with one line that says so."""
    text = assert_refused(message, check_change, base, project, today=TODAY, error=ChangeError, **options)
    assert not text.startswith("::") and "##[" not in text and len(text) < 1_100


def accept(project, folder=OURS):
    """Check a change; it must be right, and leave the checkout as it is."""
    before = snapshot(project)
    found = check_change("main", project, today=TODAY)
    assert found is not None and found["folder"] == folder
    assert found["scores"]["splits"]["ood"]["metrics"]["accuracy"]["mean"] > 0.3
    assert snapshot(project) == before
