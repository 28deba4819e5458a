"""Challenge rounds: what is published, what is kept, and that the organiser is bound by it."""

import errno
import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from helpers.challenges import ANOTHER, BOARDS, ENTRANTS, SECRET, edit_json, refuse, secret_text, truth
from helpers.submissions import FUZZY_BOARD, SRAVEN_BOARD, small_board, snapshot
from sraven import OutputError
from sraven.core.challenge import new_challenge, read_challenge, score_challenge
from sraven.core.challenge.files import exact_json
from sraven.core.challenge.round import reveal, write_round

pytestmark = pytest.mark.usefixtures("small_boards")


GIVEN = {SRAVEN_BOARD: {"context"}, FUZZY_BOARD: {"inputs", "targets"}}


@pytest.mark.parametrize("board", BOARDS)
def test_contexts_are_published_and_nothing_else(rounds, board):
    folder = rounds[board]
    challenge = read_challenge(folder / "public")
    batches = reveal(challenge, folder / "private" / "secret.json")
    files = {str(path.relative_to(folder / "public")) for path in (folder / "public").rglob("*.*")}
    assert files == {
        "challenge.json",
        *(f"contexts/{split}/{name}.npy" for split in batches for name in GIVEN[board]),
    }
    secret = json.loads((folder / "private" / "secret.json").read_text())
    everything = b"".join((folder / "public" / file).read_bytes() for file in files)
    for split, batch in batches.items():
        given_arrays, whole = challenge.contexts[split], batch._asdict()
        assert set(given_arrays) == GIVEN[board]
        for name, array in given_arrays.items():
            points = whole[name][:, :-1] if name == "targets" else whole[name]
            assert np.array_equal(array, points)
        for hidden in (truth(batch), batch.combination, *(whole[n] for n in whole if n not in GIVEN[board])):
            assert np.ascontiguousarray(hidden).tobytes()[:64] not in everything
    for hidden in (secret["secret"], secret["salt"]):
        assert hidden.encode() not in everything and bytes.fromhex(hidden) not in everything


@pytest.mark.parametrize("umask", [0o000, 0o077, 0o277])
def test_secret_is_for_its_owner_alone(tmp_path, umask):
    before = os.umask(umask)
    try:
        new_challenge(SRAVEN_BOARD, tmp_path / "round", ENTRANTS)
    finally:
        os.umask(before)
    modes = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "round").rglob("*")}
    assert (modes["private"], modes["secret.json"]) == (0o700, 0o600)
    assert (tmp_path / "round").stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize("make", [Path.mkdir, Path.touch, lambda path: path.symlink_to("nowhere")])
def test_round_is_never_written_over(tmp_path, make):
    out = tmp_path / "round"
    make(out)
    before = snapshot(tmp_path)
    refuse("round exists", new_challenge, SRAVEN_BOARD, out, ENTRANTS, error=OutputError)
    assert snapshot(tmp_path) == before


def test_nothing_is_left_half_written(tmp_path, monkeypatch):
    def fail(array):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("sraven.core.challenge.round.npy_bytes", fail)
    asked = SRAVEN_BOARD, tmp_path / "round", ENTRANTS
    refuse("No space left on device: .*round", new_challenge, *asked, error=OSError)
    assert snapshot(tmp_path) == {}


@pytest.mark.parametrize(
    ("commitments", "message"),
    [
        ([], "0 commitments are given"),
        (["1" * 63], "is no SHA-256"),
        (["1" * 64, "1" * 64], "is given twice"),
    ],
)
def test_round_needs_commitments(tmp_path, commitments, message):
    refuse(message, new_challenge, SRAVEN_BOARD, tmp_path / "round", commitments)
    assert snapshot(tmp_path) == {}


@pytest.mark.parametrize("text", [b"", b"{}", b"[1]", b"\xff", secret_text()[:-1], b"[" * 100_000])
def test_secret_that_is_none_is_refused_and_not_shown(sraven_round, text):
    path = sraven_round / "private" / "secret.json"
    path.write_bytes(text)
    refuse("secret.json: isn't the secret.json of a round$", score_challenge, sraven_round / "public", path)


@pytest.mark.parametrize("what", ["contexts", "labels", "commitments"])
def test_organiser_can_not_publish_something_else(tmp_path, what):
    """Contexts drawn otherwise, other labels published, entrants added after the draw."""
    (tmp_path / "round").mkdir()
    (tmp_path / "other").mkdir()
    board = small_board(SRAVEN_BOARD)
    write_round(tmp_path / "round", board, secret_text(), ENTRANTS, "2026-11-21")
    write_round(tmp_path / "other", board, secret_text(ANOTHER), ENTRANTS, "2026-11-21")
    public, path = tmp_path / "round" / "public", tmp_path / "round" / "public" / "challenge.json"
    score_challenge(public, tmp_path / "round" / "private" / "secret.json")
    other = json.loads((tmp_path / "other" / "public" / "challenge.json").read_text())
    if what == "commitments":
        edit_json(path, lambda content: content["commitments"].append("3" * 64))
    else:
        edit_json(path, lambda content: content["splits"]["ood"].update({what: other["splits"]["ood"][what]}))
    if what == "contexts":
        shutil.copytree(tmp_path / "other/public/contexts/ood", public / "contexts/ood", dirs_exist_ok=True)
    message = "(contexts|labels) of (test|ood) isn't what the secret gives"
    refuse(message, score_challenge, public, tmp_path / "round" / "private" / "secret.json")


def test_round_is_byte_identical_whenever_it_is_written_and_its_labels_are_salted(tmp_path):
    board, salted = small_board(SRAVEN_BOARD), exact_json({"schema": 1, "secret": SECRET, "salt": ANOTHER})
    for name, secret in (("one", secret_text()), ("again", secret_text()), ("other", salted)):
        (tmp_path / name).mkdir()
        write_round(tmp_path / name, board, secret, ENTRANTS, "2026-11-21", threads=1)
    assert snapshot(tmp_path / "one") == snapshot(tmp_path / "again")
    one, other = (read_challenge(tmp_path / name / "public").content["splits"] for name in ("one", "other"))
    for split in board.splits:
        assert one[split]["contexts"] == other[split]["contexts"]
        assert one[split]["labels"] != other[split]["labels"]
