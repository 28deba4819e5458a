"""The draw of a challenge: the specified instances, which secret and commitments decide."""

import hashlib
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import oracle
from helpers.challenges import BOARDS, ENTRANTS, SECRET, truth
from helpers.submissions import SRAVEN_BOARD, small_board
from sraven.core.boards.board import read_board
from sraven.core.challenge.round import draw_round
from sraven.core.tasks.digests import array_bytes
from sraven.core.tasks.families import make_board_task

pytestmark = pytest.mark.usefixtures("small_boards")


PACKAGED = {name: read_board(name) for name in ("sraven-features2-v1", "fuzzylogic-points16-holdout30-v1")}


def same(one, other):
    return all(np.array_equal(a, b) for split in one for a, b in zip(one[split], other[split], strict=True))


def test_draw_is_the_specified_one(monkeypatch):
    """By hashes of the standard library, and the oracle that shares no code with the kernels."""
    board = small_board(SRAVEN_BOARD)
    name = {"board": board.digest, "commitments": ENTRANTS, "secret": SECRET, "stream": "challenge"}
    stream = oracle.sha256_of_json(name)
    batch = draw_round(board, SECRET, ENTRANTS)["ood"]
    pool = {"stream": "challenge indices", "secret": stream, "split": "ood"}
    text = json.dumps(pool, sort_keys=True, separators=(",", ":")).encode()
    words = hashlib.shake_256(text).digest(8 * len(batch.target))
    key = oracle.derive_key(stream="challenge", secret=stream, split="ood")
    monkeypatch.setattr(oracle, "instance_key", lambda config, split: key)
    for n in range(20):
        index = int.from_bytes(words[8 * n : 8 * n + 8], "little") % 2**62
        expected = oracle.instance(board.task.config, "ood", index)
        assert batch.context[n].tolist() == [list(panel) for panel in expected.context]
        assert tuple(batch.target[n].tolist()) == tuple(expected.target)


@pytest.mark.parametrize(
    ("board", "expected"),
    [
        ("sraven-features2-v1", "9c81f2248127faaf535711814ef3c8e17e6f74a10624cd7e4e9ca8a4d8e3bd4a"),
        (
            "fuzzylogic-points16-holdout30-v1",
            "6130306e96158dea394c45f6140153d5c49fb3b56dce75bd94eb2acc09ce001c",
        ),
    ],
)
def test_draw_never_changes(board, expected):
    """A round that was held stays one that can be checked."""
    found = hashlib.sha256()
    for batch in draw_round(PACKAGED[board], SECRET, ENTRANTS).values():
        for array in batch:
            found.update(array_bytes(array))
    assert found.hexdigest() == expected


@settings(max_examples=5)
@given(st.sampled_from(BOARDS), st.binary(min_size=32, max_size=32), st.binary(min_size=32, max_size=32))
def test_secret_and_commitments_decide(name, one, other):
    board, secret = small_board(name), one.hex()
    found = draw_round(board, secret, ENTRANTS)
    assert same(found, draw_round(board, secret, ENTRANTS[::-1], threads=1))
    if other != one:
        assert not same(found, draw_round(board, other.hex(), ENTRANTS))
        assert not same(found, draw_round(board, secret, [*ENTRANTS, other.hex()]))


@pytest.mark.parametrize("name", BOARDS)
def test_combinations_are_the_boards_own(name):
    """Else the combinations that a model was trained on would be held out from it."""
    board = small_board(name)
    for split, batch in draw_round(board, SECRET, ENTRANTS).items():
        known = set(board.task.combination_indices(split).tolist())
        assert len(truth(batch)) == board.splits[split]
        assert set(batch.combination.tolist()) <= known
        public = board.sample(split, 0, board.splits[split])
        assert not same({split: batch}, {split: public})
    assert next(iter(board.task.sample("test", 0, 5))).tolist() == public_test(name).tolist()


def public_test(name):
    """The instances of the board's own, from a task that never drew anything else."""
    return next(iter(make_board_task(small_board(name).config).sample("test", 0, 5)))
