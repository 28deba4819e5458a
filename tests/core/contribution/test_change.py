"""Changes of the leaderboard by a pull request, on real git repositories."""

import json
import shutil
from datetime import date

import numpy as np
import pytest

from helpers.repositories import FILED, OURS, RIVAL, TODAY, accept, commit, git, predictions_from, refuse
from helpers.submissions import (
    FUZZY_BOARD,
    SRAVEN_BOARD,
    edit,
    guesses,
    path_of,
    plant,
    predictions_file,
    small_board,
    truth,
    write,
)
from sraven.core.contribution.change import check_change
from sraven.core.submissions.submit import file_submission

pytestmark = pytest.mark.usefixtures("small_boards")


def test_what_is_not_committed_has_no_say(project, entry):
    commit(project)
    shutil.rmtree(entry)
    (project / RIVAL / "scores.json").write_text("{}")
    (project / ".numba_config.yaml").write_text("{")
    accept(project)


def test_several_commits_and_merges_are_one_change(project, entry):
    scores = (entry / "scores.json").read_bytes()
    (entry / "scores.json").write_text("{}")
    commit(project, "first try")
    git(project, "switch", "--quiet", "main")
    (project / "program.py").write_text("print('later')\n")
    commit(project, "main moves on")
    git(project, "switch", "--quiet", "proposal")
    git(project, "merge", "--quiet", "--no-edit", "main")
    (entry / "scores.json").write_bytes(scores)
    commit(project, "second try")
    accept(project)
    git(project, "switch", "--quiet", "--create", "merged", "main")
    git(project, "merge", "--quiet", "--no-edit", "--no-ff", "proposal")
    assert check_change("HEAD^1", project, today=TODAY)["folder"] == OURS


def test_main_may_have_moved_on(project, entry):
    commit(project)
    git(project, "switch", "--quiet", "main")
    shutil.rmtree(project / RIVAL)
    commit(project, "the rival withdraws")
    git(project, "switch", "--quiet", "proposal")
    accept(project)


@pytest.mark.parametrize("path", ["program.py", "docs/leaderboard.md", "docs/leaderboards/x"])
def test_other_changes_are_not_its_concern(project, path):
    (project / path).parent.mkdir(exist_ok=True)
    (project / path).write_text("other\n")
    commit(project)
    assert check_change("main", project, today=TODAY) is None


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("99991231-a-method", "expected a date from 2026-11-20 to 2026-11-25"),
        ("20261119-a-method", "expected a date from"),
        ("20261399-a-method", "20261399 is no date"),
        ("20261124-another", "the folder is called <date>-a-method"),
        ("20261124-a-method-", "expected <YYYYMMDD>-<name>"),
        ("٢٠٢٦١١٢٤-a-method", "expected <YYYYMMDD>-<name>"),
        ("20261124-a ##[warning]hello", r"20261124-a #\\x23\[warning\]hello isn't the name of an entry"),
        ("20261124-a\x1b[2K\u202e", r"20261124-a\\x1b\[2K\\u202e isn't the name of an entry"),
    ],
)
def test_name_of_the_folder(project, entry, name, message):
    entry.rename(entry.parent / name)
    commit(project)
    refuse(project, message)


def test_newline_before_a_command_of_the_runner_begins_no_line(project, entry):
    entry.rename(project / FILED / "\n::notice::hello")
    commit(project)
    refuse(project, r"\\n::notice::hello")


@pytest.mark.parametrize(
    ("board", "message"),
    [
        (FUZZY_BOARD, "isn't part of|has .* bytes|is for sraven-small-v1; file it below sraven-small-v1"),
        ("sraven-v9", "there is no board"),
        (".", "isn't a file of a submission's folder|there is no board"),
    ],
)
def test_entry_lies_below_its_board(project, entry, board, message):
    goal = project / FILED / board / entry.name
    goal.parent.mkdir(exist_ok=True)
    entry.rename(goal)
    commit(project)
    refuse(project, message)


def test_folder_that_main_has_meanwhile_is_taken(project, entry):
    commit(project)
    git(project, "switch", "--quiet", "main")
    (project / OURS).mkdir(parents=True)
    (project / OURS / "README.md").write_text("the first")
    commit(project)
    git(project, "switch", "--quiet", "proposal")
    refuse(project, rf"^{OURS} is taken by {OURS}/README.md")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("junk.bin", "isn't part of a submission"),
        ("predictions/ood/seed-9.npy", "isn't part of a submission"),
        ("training/seed-0.jsonl", "isn't part of a submission"),
        ("README.md", "has 10,485,760 bytes; expected 1,048,576 or fewer"),
        ("submission.yaml", "has 10,485,760 bytes; expected 262,144 or fewer"),
        ("predictions/ood/seed-0.parquet", r"has 10,485,760 bytes; expected 1,0\d\d,\d{3} or fewer"),
    ],
)
def test_large_files_are_refused_before_they_are_read(project, entry, monkeypatch, name, message):
    (entry / name).parent.mkdir(exist_ok=True)
    (entry / name).write_bytes(bytes(10 << 20))
    commit(project)
    monkeypatch.setattr("sraven.core.contribution.git.Repository.blobs", None)
    refuse(project, message)


def test_what_an_earlier_commit_holds_counts(project, entry):
    (entry / "junk.bin").write_bytes(bytes(2 << 20))
    commit(project)
    (entry / "junk.bin").unlink()
    commit(project)
    refuse(
        project,
        r"the commits hold 2,\d{3},\d{3} bytes that are new; expected 1,048,576 or fewer",
        most_bytes=1 << 20,
    )


def test_scores_must_be_those_of_the_predictions(project, entry):
    scores = json.loads((entry / "scores.json").read_text())
    scores["splits"]["ood"]["metrics"]["accuracy"]["mean"] = 0.99
    (entry / "scores.json").write_text(json.dumps(scores))
    commit(project)
    refuse(project, r"scores.json: splits.ood.metrics.accuracy.mean isn't what the predictions score")


def _file(project, name, predictions, board=SRAVEN_BOARD, change=lambda folder: None):
    """File an entry with these predictions in place of the new one."""
    shutil.rmtree(project / OURS, ignore_errors=True)
    change(write(project / "new", board, method={"name": name}, predictions=predictions))
    goal = file_submission(project / "new", project / "docs" / "leaderboard", day=date(2026, 11, 24))
    shutil.rmtree(project / "new")
    return goal


def test_entry_of_another_board_is_accepted(project):
    board = small_board(FUZZY_BOARD)
    predictions = {split: [guesses(board, split, seed) for seed in range(3)] for split in board.splits}
    _file(project, "A method", predictions, FUZZY_BOARD)
    commit(project)
    found = check_change("main", project, today=TODAY)
    assert found["folder"] == f"{FILED}/{FUZZY_BOARD}/20261124-a-method"


def test_one_copied_seed_is_refused_however_it_is_written(project):
    predictions = predictions_from(0)
    copied = predictions["ood"][2] = predictions_from(100)["ood"][1]
    order = np.random.default_rng(0).permutation(len(copied))
    reordered = predictions_file(copied[order], order)
    goal = _file(project, "A method", predictions, change=lambda folder: plant(folder, reordered, "ood", 2))
    assert (goal / path_of("ood", 2)).read_bytes() != (project / RIVAL / path_of("ood", 1)).read_bytes()
    commit(project)
    refuse(project, rf"predicts the same as {SRAVEN_BOARD}/20261121-rival, or nearly so")


def test_seeds_that_equal_each_other_are_refused(project):
    predictions = predictions_from(0)
    predictions["test"][2] = predictions["test"][0]
    _file(project, "A method", predictions)
    commit(project)
    refuse(project, "seeds 0 and 2 predict the same on test; each seed is a run of its own")


def test_being_all_right_is_no_copy(project):
    board = small_board(SRAVEN_BOARD)
    right = {split: [truth(board, split)] * 3 for split in board.splits}
    first = _file(project, "First", right)
    git(project, "switch", "--quiet", "main")
    commit(project)
    git(project, "switch", "--quiet", "--create", "second")
    second = _file(project, "Second", right)
    commit(project)
    assert first.exists()
    accept(project, str(second.relative_to(project)))


def test_what_breaks_the_leaderboard_is_refused(project, entry):
    def change(content):
        content["method"]["paper"] = "javascript:alert(1)"

    edit(entry, change)
    commit(project)
    refuse(project, "submission.yaml")
