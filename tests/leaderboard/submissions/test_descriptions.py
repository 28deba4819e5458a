"""Faults of a submission: in its description, its files and its claims, each is refused in one line."""

import shutil

import numpy as np
import pytest

from helpers.submissions import (
    SIZE,
    SRAVEN_BOARD,
    description,
    edit,
    path_of,
    plant,
    predictions_file,
    small_board,
    truth,
    write,
)
from sraven import score_submission
from sraven.leaderboard.submissions.submission import board_problem

pytestmark = pytest.mark.usefixtures("small_boards")


DESCRIPTION = "submission.yaml: "
"""What a message about the description begins with."""

FIRST = path_of("test", 0)
"""Where the predictions of the first run lie."""


# A fault is a function that damages the folder of a submission.


def rewrite(name, change):
    """Return a fault: a file has other bytes."""
    return lambda folder: (folder / name).write_bytes(change((folder / name).read_bytes()))


def say(*place, value):
    """Return a fault: ``submission.yaml`` has another value at a place."""

    def change(content):
        for name in place[:-1]:
            content = content.setdefault(name, {}) if isinstance(content, dict) else content[name]
        content[place[-1]] = value

    return lambda folder: edit(folder, change)


FAULTS = {
    # The description
    "no description": (lambda folder: (folder / "submission.yaml").unlink(), "can't be read: No such"),
    "empty description": (rewrite("submission.yaml", lambda text: b""), "is None; expected names and values"),
    "huge": (rewrite("submission.yaml", lambda text: text + b"#" * 300_000), "expected 262,144 or fewer"),
    "a tag": (rewrite("submission.yaml", lambda text: b"x: !!python/name:os.system\n" + text), "has the tag"),
    # Its content
    "other schema": (say("schema", value=2), DESCRIPTION + "schema is 2; expected 1"),
    "no board": (lambda folder: edit(folder, lambda content: content.pop("board")), "lacks 'board'"),
    "no runs": (say("runs", value=[]), DESCRIPTION + "runs has 0 entries; expected 1 or more"),
    "a strange name": (say("evil", value=1), DESCRIPTION + "has 'evil'; expected only schema, board"),
    "used ood": (say("training", "used_ood", value=True), "training.used_ood is True; expected False"),
    "infinite time": (say("training", "seconds", value=float("inf")), "training.seconds is"),
    "code that is a script": (say("method", "code", value="javascript:alert(1)"), "expected an address"),
    "no name": (say("method", "name", value=""), "method.name is empty"),
    "long name": (say("method", "name", value="x" * 201), "has 201 characters; expected 200 or fewer"),
    "family of its own": (say("method", "family", value="reference\u200b"), "expected one of None, 'transf"),
    "replacement of another board": (say("replaces", value="x-v1/20261121-a"), "expected an entry of sraven"),
    "replacement elsewhere": (say("replaces", value="../20261121-a"), "expected the folder of a filed entry"),
    "points without scores": (
        say("points", value=[{"name": "a", "scores": {"ood": 0.5}}]),
        "points[0].scores has other splits; expected test, ood, test at least",
    ),
    "a long name of a claim": (say("claimed", "x" * 10_000, value=1), "a name that has 10,000 characters"),
    # The board
    "unknown board": (say("board", value="sraven-smal-v1"), "there is no board 'sraven-smal-v1'; did you"),
    "another version": (say("board_digest", value="0" * 64), "are for another version of the board"),
}


def test_hyperparameters_are_chosen_by_a_split_of_the_board(originals):
    content, board = description(originals[SRAVEN_BOARD]), small_board(SRAVEN_BOARD)
    for split in ("train", "test", "ood", None):
        content["training"]["selection_split"] = split
        assert board_problem(content, board) is None
    for split in ("validation", "test and OOD", "OOD", "o o d", "ood ", "none", "\u043eod"):
        content["training"]["selection_split"] = split
        assert "; expected a split of sraven-small-v1 (train, test, ood), or" in board_problem(content, board)


# Runs and their files


def put(data):
    """Return a fault: the first run has another file, with its right checksum."""
    return lambda folder: plant(folder, data)


def rows(index):
    """Return a fault: the first run has these rows."""
    return put(predictions_file(np.zeros((len(index), 3), np.uint8), index))


def move_run(file):
    """Return a fault: the first run's file lies, and is named, elsewhere."""

    def fault(folder):
        goal = folder / file
        goal.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(folder / FIRST, goal)
        edit(folder, lambda content: content["runs"][0].update(file=file))

    return fault


def as_link(folder):
    shutil.move(folder / FIRST, folder.parent / "elsewhere")
    (folder / FIRST).symlink_to(folder.parent / "elsewhere")


def many_files(folder):
    for number in range(501):
        (folder / "predictions" / str(number)).touch()


def same_run_twice(folder):
    edit(folder, lambda content: content["runs"].append(dict(content["runs"][0])))


def other_split(folder):
    move_run(path_of("train", 0))(folder)
    edit(folder, lambda content: content["runs"][0].update(split="train"))


SYMBOLS = np.repeat(np.uint8([[0, 1, 4], [0, 5, 1], [255, 0, 0]]), [7, 2, SIZE - 9], axis=0)

FAULTS |= {
    # The runs
    "unknown split": (other_split, "runs[0].split is 'train'; sraven-small-v1 has test, ood"),
    "seed of another file": (say("runs", 0, "seed", value=7), "runs[0].file is"),
    "same run twice": (same_run_twice, f"runs has {FIRST} twice"),
    # The files
    "file above, on a detour": (move_run("predictions/test/../seed-0.parquet"), "runs[0].file is"),
    "file is a link": (as_link, f"{FIRST}: is a link or no plain file; a submission has plain files"),
    "missing file": (lambda folder: (folder / FIRST).unlink(), f"{FIRST}: the file is missing"),
    "stray pickle": (lambda folder: (folder / "x.pkl").touch(), "x.pkl: isn't part of a submission; remove"),
    "stray name with line end": (lambda folder: (folder / "a\nb").touch(), "a\\nb: isn't part of a"),
    "many files": (many_files, "has more than 500 files; a submission has fewer"),
    "large file": (put(bytes((1 << 20) + 2 * SIZE * 11 + 1)), "has 1,055,199 bytes; expected 1,055,198"),
    "changed": (rewrite(FIRST, lambda data: data + b"x"), "but submission.yaml says"),
    # Their content
    "wrong type": (put(predictions_file(np.zeros((SIZE, 3), np.uint16))), "has prediction of type"),
    "an index twice": (rows([5, 6, 5, 6]), f"{FIRST}: row 2 has index 5, which row 0 has"),
    "an index beyond": (rows([0, 301, 302]), f"{FIRST}: row 1 has index 301; test has the indices 0 to 300"),
    # Claims
    "a giant claim": (say("claimed", "test", "accuracy", value=10**400), "claimed.test.accuracy is"),
    "a claim in words": (say("claimed", "test", "accuracy", value="0.5"), "is '0.5'; expected a number"),
    "a claim of no score": (say("claimed", "test", "f1", value=0), "claimed.test.f1 is no score of this"),
    "a symbol beyond": (put(predictions_file(SYMBOLS)), "row 7 has the symbol 5; symbols are 0 to 4"),
}


@pytest.mark.parametrize(("fault", "message"), FAULTS.values(), ids=FAULTS)
def test_fault_is_refused_in_one_line(fault, message, folder, refuse):
    fault(folder)
    found = refuse(folder)
    assert message in found
    beginnings = (DESCRIPTION, "predictions/", str(folder), "there is no board")
    assert found.startswith(beginnings) or ": is" in found


# Claims


@pytest.mark.parametrize(
    ("split", "metric", "off"),
    [("test", "accuracy", 2e-6), ("ood", "position.0", -2e-6), ("ood", "accuracy", 1)],
)
def test_wrong_claim_is_refused(split, metric, off, folder, refuse, scored):
    mean = scored["splits"][split]["metrics"][metric]["mean"]
    say("claimed", split, metric, value=mean + off)(folder)
    assert refuse(folder) == (
        f"submission.yaml: claimed.{split}.{metric} is {mean + off}, but the predictions score {mean}; "
        "correct the claim, or leave it out"
    )


def test_claim_on_what_is_not_defined_is_refused(tmp_path, refuse):
    """Of perfect predictions, none is wrong: the share of valid alternatives has no denominator."""
    board = small_board(SRAVEN_BOARD)
    folder = write(tmp_path / "s", SRAVEN_BOARD, predictions={"test": [truth(board, "test")]})
    assert score_submission(folder)["splits"]["test"]["metrics"]["valid_alternatives"]["mean"] is None
    say("claimed", "test", "valid_alternatives", value=0)(folder)
    assert "claimed.test.valid_alternatives is 0, but the predictions score None" in refuse(folder)
