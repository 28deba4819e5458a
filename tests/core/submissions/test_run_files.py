"""Runs of a submission and their files: every fault in them is refused in one line."""

import shutil

import numpy as np
import pytest

from helpers.faults import FIRST, put, say, touch
from helpers.submissions import SIZE, edit, lists, parquet, path_of, predictions_file

pytestmark = pytest.mark.usefixtures("small_boards")


def rows(index, predictions=None):
    """Return a fault: the first run has these rows."""
    predictions = np.zeros((len(index), 3), np.uint8) if predictions is None else predictions
    return put(predictions_file(predictions, index))


def symbols(changed):
    """Return a fault: the first run has other symbols at some rows."""
    values = np.zeros((SIZE, 3), np.uint8)
    for row, panel in changed.items():
        values[row] = panel
    return put(predictions_file(values))


def move_run(file):
    """Return a fault: the first run's file lies, and is named, elsewhere."""

    def fault(folder):
        goal = folder / file
        goal.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(folder / FIRST, goal)
        edit(folder, lambda content: content["runs"][0].update(file=file))

    return fault


def corrupted(folder):
    data = bytearray((folder / FIRST).read_bytes())
    middle = len(data) // 2 - 200
    data[100:160] = bytes(60)
    data[middle : middle + 20] = b"\xff" * 20
    return bytes(data)


def as_link(path, data):
    elsewhere = path.parents[3] / "elsewhere.parquet"
    elsewhere.write_bytes(data)
    path.symlink_to(elsewhere)


def many_files(folder):
    for number in range(501):
        (folder / "predictions" / str(number)).touch()


def same_run_twice(folder):
    edit(folder, lambda content: content["runs"].append(dict(content["runs"][0])))


def other_split(folder):
    move_run(path_of("train", 0))(folder)
    edit(folder, lambda content: content["runs"][0].update(split="train"))


FAULTS = {
    # The runs
    "unknown split": (other_split, "runs[0].split is 'train'; sraven-small-v1 has test, ood"),
    "seed of another file": (say("runs", 0, "seed", value=7), "runs[0].file is"),
    "many runs": (
        lambda folder: edit(
            folder, lambda content: content.update(runs=[dict(content["runs"][0]) for _ in range(201)])
        ),
        "runs has 201 entries; expected",
    ),
    "same run twice": (same_run_twice, f"runs has {FIRST} twice"),
    # The files
    "file above, on a detour": (move_run("predictions/test/../seed-0.parquet"), "runs[0].file is"),
    "file is a link": (touch(as_link), f"{FIRST}: is a link or no plain file; a submission has plain files"),
    "file is a directory": (touch(lambda path, data: path.mkdir()), f"{FIRST}: the file is missing"),
    "submission isn't there": (lambda folder: folder / "nowhere", "nowhere isn't the directory of a"),
    "README is a link": (
        lambda folder: (folder / "README.md").unlink() or (folder / "README.md").symlink_to("/etc/passwd"),
        "README.md: is a link or no plain file",
    ),
    "missing file": (lambda folder: (folder / FIRST).unlink(), f"{FIRST}: the file is missing"),
    "stray pickle": (lambda folder: (folder / "x.pkl").touch(), "x.pkl: isn't part of a submission; remove"),
    "stray name with line end": (lambda folder: (folder / "a\nb").touch(), "a\\nb: isn't part of a"),
    "many files": (many_files, "has more than 500 files; a submission has fewer"),
    "large file": (put(bytes((1 << 20) + 2 * SIZE * 11 + 1)), "has 1,055,199 bytes; expected 1,055,198"),
    "cut": (touch(lambda path, data: path.write_bytes(data[:-9])), f"{FIRST}: its SHA-256 is "),
    "changed": (
        touch(lambda path, data: path.write_bytes(data[:99] + bytes([data[99] ^ 1]) + data[100:])),
        "but submission.yaml says",
    ),
    "another checksum": (say("runs", 0, "sha256", value="0" * 64), "000000000000…: the file was changed or"),
    # Their content
    "corrupted, checksum corrected": (put(corrupted), f"{FIRST}: "),
    "wrong type": (put(predictions_file(np.zeros((SIZE, 3), np.uint16))), "has prediction of type"),
    "other columns": (
        put(parquet({"id": np.arange(SIZE), "pred": lists(np.zeros((SIZE, 3), np.uint8))})),
        "has the columns 'id', 'pred'; expected index, prediction",
    ),
    "more rows": (rows([*range(SIZE), 0]), "declares 302 rows; the split has 301"),
    "an index twice": (rows([5, 6, 5, 6]), f"{FIRST}: row 2 has index 5, which row 0 has"),
    "an index beyond": (rows([0, 301, 302]), f"{FIRST}: row 1 has index 301; test has the indices 0 to 300"),
    "a negative index": (rows([0, 1, -1]), f"{FIRST}: row 2 has index -1; test has the indices 0 to 300"),
    "a symbol beyond": (symbols({7: [0, 5, 1], 9: [255, 0, 0]}), "has the symbol 5; symbols are 0 to 4"),
}


@pytest.mark.parametrize(("fault", "message"), FAULTS.values(), ids=FAULTS)
def test_fault_is_refused_in_one_line(fault, message, refuse_fault):
    refuse_fault(fault, message)
