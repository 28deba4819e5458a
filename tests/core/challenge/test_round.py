"""Challenge rounds: what is published, what is kept, and that the organiser is bound by it."""

import errno
import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from helpers.challenges import ANOTHER, BOARDS, ENTRANTS, SECRET, edit_json, flip, secret_text, truth
from helpers.refusals import assert_refused
from helpers.submissions import FUZZY_BOARD, SRAVEN_BOARD, small_board, snapshot
from sraven import OutputError
from sraven.core.challenge import new_challenge, read_challenge, score_challenge
from sraven.core.challenge.files import exact_json, npy_bytes
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
    assert_refused("round exists", new_challenge, SRAVEN_BOARD, out, ENTRANTS, error=OutputError)
    assert snapshot(tmp_path) == before


def test_nothing_is_left_half_written(tmp_path, monkeypatch):
    def fail(array):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("sraven.core.challenge.round.npy_bytes", fail)
    asked = SRAVEN_BOARD, tmp_path / "round", ENTRANTS
    assert_refused("No space left on device: .*round", new_challenge, *asked, error=OSError)
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
    assert_refused(message, new_challenge, SRAVEN_BOARD, tmp_path / "round", commitments)
    assert snapshot(tmp_path) == {}


@pytest.mark.parametrize("text", [b"", b"{}", b"[1]", b"\xff", secret_text()[:-1], b"[" * 100_000])
def test_secret_that_is_none_is_refused_and_not_shown(sraven_round, text):
    path = sraven_round / "private" / "secret.json"
    path.write_bytes(text)
    message = "secret.json: isn't the secret.json of a round$"
    assert_refused(message, score_challenge, sraven_round / "public", path)


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
    assert_refused(message, score_challenge, public, tmp_path / "round" / "private" / "secret.json")


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


# A round that was tampered with


def _replace(array):
    return lambda path: path.write_bytes(npy_bytes(array))


def _pickle(path):
    with open(path, "wb") as file:
        np.save(file, np.array([{"a": 1}], object), allow_pickle=True)


def _link(path):
    path.rename(path.parent.parent.parent.parent / "elsewhere")
    path.symlink_to(path.parent.parent.parent.parent / "elsewhere")


def _append(path):
    path.write_bytes(path.read_bytes() + b"!")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (flip, r"contexts/ood/context.npy: isn't what challenge.json says"),
        (_append, "context.npy: holds uint8 .*, or something besides"),
        (lambda path: path.write_bytes(b"\x93NUMPY\x01\x00\xff\xff"), "isn't an .npy file"),
        (lambda path: path.write_bytes(bytes(1 << 20)), "has 1,048,576 bytes"),
        (_replace(np.zeros((199, 8, 3), np.int64)), "has .* bytes; expected|holds int64"),
        (_pickle, "holds object|isn't an .npy file"),
        (lambda path: path.unlink(), "can't be read"),
        (_link, "can't be read"),
        (lambda path: (path.parent / "target.npy").write_bytes(b""), "target.npy: isn't part of a round"),
        (lambda path: (path.parent.parent.parent / "x").symlink_to("/etc"), "is a link"),
    ],
)
def test_changed_contexts_are_refused(sraven_round, change, message):
    change(sraven_round / "public" / "contexts" / "ood" / "context.npy")
    assert_refused(message, read_challenge, sraven_round / "public")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda content: content.update(board="sraven-v9"), "there is no board"),
        (lambda content: content.update(board=FUZZY_BOARD), "use the version of sraven"),
        (lambda content: content["splits"].pop("test"), "its splits or their sizes"),
        (lambda content: content["splits"]["ood"].update(instances=10**9), "its splits or their sizes"),
        (lambda content: content["splits"]["ood"]["contexts"].update(target="0" * 64), "expected context"),
        (lambda content: content.update(opened="2026-11-21\n::notice::"), "opened is"),
    ],
)
def test_changed_description_is_refused(sraven_round, change, message):
    edit_json(sraven_round / "public" / "challenge.json", change)
    assert_refused(message, read_challenge, sraven_round / "public")


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text + " ",
        lambda text: text.replace('"schema": 1', '"schema": 1, "schema": 1'),
        lambda text: text[:-2],
        lambda text: "[" * 100_000,
    ],
)
def test_description_has_one_way_to_be_written(sraven_round, change):
    path = sraven_round / "public" / "challenge.json"
    path.write_text(change(path.read_text()))
    assert_refused("isn't JSON|was edited|schema is", read_challenge, sraven_round / "public")
