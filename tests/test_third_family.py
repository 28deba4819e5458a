"""A third family of tasks, a toy, gets all features from one entry in `FAMILIES`.

What each task has to keep stands in `test_conformance`, which knows the toy as well. Here it goes
through what is built on tasks: commands, boards, submissions, the leaderboard and its page.
"""

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

from helpers.checkout import REPOSITORY
from helpers.submissions import METHOD, MODEL
from helpers.sums.task import Sums
from helpers.third_family import BOARD, ENTRY, registered
from sraven import load_board, write_submission
from sraven.board.board import read_board
from sraven.core.families import FAMILIES, generating_families
from sraven.leaderboard.ranking import read_leaderboard

SUMS = Path("tests/helpers/sums")
TRAINING = {"instances": 640, "selection_split": "test"}


@pytest.fixture(autouse=True)
def _toy(monkeypatch):
    monkeypatch.chdir(REPOSITORY)
    with registered():
        yield


@pytest.fixture
def board():
    return read_board(BOARD)


def submit(folder, board, name, wrong):
    """Write a submission of three seeds: the truth of each split, a share of it wrong."""

    def of(split, seed):
        truth = board.labels(split).arrays["target"]
        random = np.random.default_rng([seed, *name.encode()])
        off = random.integers(1, board.config["P"], len(truth))
        return ((truth + off * (random.random(len(truth)) < wrong)) % board.config["P"]).astype(np.uint8)

    predictions = {split: [of(split, seed) for seed in range(3)] for split in board.splits}
    method = {**METHOD, "name": name}
    write_submission(folder, board.id, predictions, method=method, model=MODEL, training=TRAINING)
    return folder


def test_one_entry_registers_it_and_nothing_else_names_it():
    """No file of the project but its own, and the tests that are about it, knows the toy."""
    assert generating_families()[-1] == "sums" and FAMILIES["sums"] == ENTRY
    command = ["git", "grep", "-lE", r"helpers[./]sums|sums-v1"]
    found = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout.split()
    tests = {"tests/helpers/third_family.py", "tests/test_third_family.py", "docs/extending.md"}
    assert {name for name in found if not name.startswith(f"{SUMS}/")} <= tests


# Tasks and datasets


def test_dataset_from_the_command_is_verified(done, tmp_path):
    line = ["--P", 5, "--N", 3, "--train", 300, "--test", 50, "--ood", 40, "--out", tmp_path / "sums"]
    out = done("sums", "generate", *line)
    assert "300 instances, " in out and " of sum 0" in out
    done("verify", tmp_path / "sums")


def test_its_command_has_plain_words(done):
    assert "Tasks of the family sums." in done("sums", "--help")
    assert "Another task: generate." in done("--help")


# Boards


def test_board_is_frozen_from_its_definition_alone(board, done, tmp_path):
    (tmp_path / SUMS.relative_to("tests") / "boards").mkdir(parents=True)
    assert done("freeze", SUMS / "boards.yaml", "--out", tmp_path).startswith("written: ")
    [written] = tmp_path.rglob("*.json")
    assert written.read_bytes() == (SUMS / "boards" / "sums-v1.json").read_bytes()
    assert board.chance == 1 / 12 and board.task == Sums(P=12)
    load_board(BOARD).check("test")
    out = done("boards", BOARD)
    assert "ranked:  by hits on ood" in out and "hits is read against" in out
    assert BOARD in [each["id"] for each in json.loads(done("boards", "--json"))]


# Submissions and the leaderboard


def test_references_are_written_filed_and_ranked_apart(done, leaderboard, tmp_path):
    for name in ("guess", "ideal-observer"):
        done("reference", BOARD, name, "--out", tmp_path / name)
        done("submit", tmp_path / name, "--leaderboard", leaderboard)
    [standing] = read_leaderboard(leaderboard, only=BOARD).standings
    found = [(entry.method, entry.rank) for entry in standing.entries]
    assert found == [("ideal-observer", None), ("guess", None)]
    assert done("reference", BOARD).startswith("guess              Any sum, uniformly at random.\n")


def test_submission_is_scored_filed_ranked_and_on_the_page(run, done, board, leaderboard, tmp_path):
    for name, wrong in (("good", 0.2), ("poor", 0.5)):
        out = done("score", submit(tmp_path / name, board, name, wrong))
        assert "gap of hits to the ceiling" in out and "distance" in out
        done("submit", tmp_path / name, "--leaderboard", leaderboard)
    filed = sorted((leaderboard / "submissions" / BOARD).iterdir())
    done("score", filed[0], "--check")
    assert "good" in done("leaderboard", BOARD, "--leaderboard", leaderboard)
    done("leaderboard", "--leaderboard", leaderboard, "--html", tmp_path / "page")
    page = (tmp_path / "page" / "index.html").read_text()
    assert (
        "hare of hits on held-out combinations" in page
        and "Sums of two terms, modulo twelve" in page
        and ">poor<" in page
    )
    [standing] = read_leaderboard(leaderboard, only=BOARD).standings
    assert [(entry.method, entry.rank) for entry in standing.entries] == [("good", 1), ("poor", 2)]
    assert [entry.errors for entry in standing.entries] == [{}, {}]  # a family need not sort them
    assert run("errors", filed[0])[0] == 2
