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


def test_errors_are_printed(run, done, small_boards, original):
    out = done("errors", original)
    for split in ("test", "ood"):
        assert f"{SRAVEN_BOARD}, {split}, 3 seeds: shares of the wrong ones" in out
    board = small_board(SRAVEN_BOARD)
    _, for_programs, _ = run("errors", original, "--json")
    found = json.loads(for_programs)["splits"]
    for row, split in zip(lines_of(out, "all"), found, strict=True):
        overall = found[split]["tables"]["overall"]["rows"][0]
        assert row[:2] == ["all", str(board.splits[split])]
        assert row[2].startswith(f"{overall['wrong']['mean']:.4f} ± ")
        for cell, kind in zip(row[3:], KINDS, strict=True):
            share = overall["of_wrong"][kind]
            assert cell == with_error(share["mean"], share["standard_error"])
    assert len(lines_of(out, "addition")) == len(lines_of(out, "distance to training: 0")) + 1 == 2
    for kind, meaning in KINDS.items():
        assert f"{kind}: {meaning}" in out


def test_errors_for_programs_are_the_librarys(run, small_boards, original, scored):
    _, out, _ = run("errors", original, "--json", "--threads", "1")
    found, board = json.loads(out), small_board(SRAVEN_BOARD)
    assert list(found) == ["board", "submission_digest", "splits"]
    assert (found["board"], found["submission_digest"]) == (board.id, scored["submission_digest"])
    for split, errors in found["splits"].items():
        assert errors["seeds"] == [0, 1, 2]
        for seed in range(3):
            alone = as_json(board.diagnose(split, guesses(board, split, seed)))
            for name, table in errors["tables"].items():
                for row, own in zip(table["rows"], alone["tables"][name]["rows"], strict=True):
                    assert row["wrong"]["counts"][seed] == own["wrong"]["counts"][0]
                    assert {k: share["counts"][seed] for k, share in row["of_wrong"].items()} == {
                        k: share["counts"][0] for k, share in own["of_wrong"].items()
                    }
        overall = errors["tables"]["overall"]["rows"][0]["of_wrong"]
        metric = scored["splits"][split]["metrics"]["valid_alternatives"]
        assert overall["valid alternative"]["mean"] == metric["mean"]


def test_missing_predictions_have_a_column_of_their_own(run, done, small_boards, tmp_path, original):
    assert "missing" not in run("errors", original)[1]
    folder = shutil.copytree(original, tmp_path / "submission")
    plant(folder, predictions_file(guesses(small_board(SRAVEN_BOARD), "test", 0)[:300]))
    assert "missing" in done("errors", folder)


def test_refusals_are_one_line(run, refused, small_boards, tmp_path, originals):
    err = refused("errors", originals[FUZZY_BOARD])
    assert err == (
        "error: nothing sorts the wrong answers of the task fuzzylogic; that can be done for sraven, "
        "sraven-twins\n"
    )
    assert "isn't the directory of a submission" in refused("errors", tmp_path / "none")
    folder = shutil.copytree(originals[SRAVEN_BOARD], tmp_path / "submission")
    (folder / "x.pkl").write_bytes(b"")
    assert run("errors", folder) == (2, "", "error: x.pkl: isn't part of a submission; remove it\n")
