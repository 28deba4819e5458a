"""`sraven errors`: what it prints, for readers and for programs, and its exit codes."""

import json
import shutil

from helpers.submissions import FUZZY_BOARD, SRAVEN_BOARD, guesses, plant, predictions_file, small_board
from sraven.core.base.escape import with_error
from sraven.core.base.jsonable import as_json
from sraven.errors import KINDS


def lines_of(out, name):
    """Return the cells of the rows with a name."""
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in out.splitlines() if "│" in line]
    return [row for row in rows if row[0] == name]


def test_errors_are_printed(done, small_boards, original):
    out, board = done("errors", original), small_board(SRAVEN_BOARD)
    found = json.loads(done("errors", original, "--json"))["splits"]
    for row, split in zip(lines_of(out, "all"), found, strict=True):
        assert f"{SRAVEN_BOARD}, {split}, 3 seeds: shares of the wrong ones" in out
        overall = found[split]["tables"]["overall"]["rows"][0]
        assert row[:2] == ["all", str(board.splits[split])]
        assert row[2].startswith(f"{overall['wrong']['mean']:.4f} ± ")
        for cell, kind in zip(row[3:], KINDS, strict=True):
            share = overall["of_wrong"][kind]
            assert cell == with_error(share["mean"], share["standard_error"])
    assert len(lines_of(out, "addition")) == len(lines_of(out, "distance to training: 0")) + 1 == 2
    assert all(f"{kind}: {meaning}" in out for kind, meaning in KINDS.items())


def test_errors_for_programs_are_the_librarys(done, small_boards, original, scored):
    found, board = json.loads(done("errors", original, "--json", "--threads", "1")), small_board(SRAVEN_BOARD)
    assert list(found) == ["board", "submission_digest", "splits"]
    assert (found["board"], found["submission_digest"]) == (board.id, scored["submission_digest"])
    for split, errors in found["splits"].items():
        assert errors["seeds"] == [0, 1, 2]
        for seed in range(3):
            alone = as_json(board.diagnose(split, guesses(board, split, seed)))
            for name, table in errors["tables"].items():
                for row, own in zip(table["rows"], alone["tables"][name]["rows"], strict=True):
                    shares, one = ({"wrong": each["wrong"], **each["of_wrong"]} for each in (row, own))
                    assert shares.keys() == one.keys()
                    assert all(shares[k]["counts"][seed] == one[k]["counts"][0] for k in shares)
        overall = errors["tables"]["overall"]["rows"][0]["of_wrong"]
        metric = scored["splits"][split]["metrics"]["valid_alternatives"]
        assert overall["valid alternative"]["mean"] == metric["mean"]


def test_missing_predictions_have_a_column_of_their_own(done, small_boards, tmp_path, original):
    folder = shutil.copytree(original, tmp_path / "submission")
    plant(folder, predictions_file(guesses(small_board(SRAVEN_BOARD), "test", 0)[:300]))
    assert "missing" in done("errors", folder)


def test_refusals_are_one_line(refused, small_boards, tmp_path, originals):
    err = refused("errors", originals[FUZZY_BOARD])
    assert "the task fuzzylogic; that can be done for sraven, sraven-twins\n" in err
    assert "isn't the directory of a submission" in refused("errors", tmp_path / "none")
