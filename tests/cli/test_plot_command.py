"""`sraven plot`: entries of several boards as a picture for a paper."""

import json

from helpers.submissions import FUZZY_BOARD, SRAVEN_BOARD, guesses, small_board, write


def test_entries_are_drawn_beside_the_levels(done, refused, small_boards, original, scored, tmp_path):
    other, svg, pdf = write(tmp_path / "other", FUZZY_BOARD), tmp_path / "scores.svg", tmp_path / "scores.pdf"
    found = json.loads(done("plot", original, other, "--out", svg, "--json"))
    by_board = {each["board"]: each for each in found}
    assert by_board.keys() == {SRAVEN_BOARD, FUZZY_BOARD}
    for split, name in (("ood", "held_out"), ("test", "known")):
        assert by_board[SRAVEN_BOARD][name] == scored["splits"][split]["metrics"]["accuracy"]["mean"]
    drawn = svg.read_text()
    for words in ("held-out combinations", "ceiling", f"{SRAVEN_BOARD}: accuracy"):
        assert words in drawn
    done("plot", original, "--out", pdf)
    before = pdf.read_bytes()
    done("plot", original, "--out", pdf)
    assert before.startswith(b"%PDF") and pdf.read_bytes() == before
    assert ".pdf" in refused("plot", original, "--out", tmp_path / "scores.txt")


def test_what_has_no_score_is_not_drawn(refused, small_boards, tmp_path):
    runs = {"test": [guesses(small_board(SRAVEN_BOARD), "test", seed) for seed in range(3)]}
    half, svg = write(tmp_path / "half", SRAVEN_BOARD, predictions=runs), tmp_path / "scores.svg"
    assert f"half has no score on ood of {SRAVEN_BOARD}" in refused("plot", half, "--out", svg)
    assert not svg.exists()
