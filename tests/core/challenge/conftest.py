"""A round of each small board."""

import shutil
from datetime import date

import numpy as np
import pytest

from helpers.challenges import BOARDS, truth
from helpers.submissions import SRAVEN_BOARD, only_boards
from sraven.core.challenge import new_challenge, read_challenge, write_answer, write_commitment
from sraven.core.challenge.round import reveal


@pytest.fixture(scope="session")
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("program")
    (folder / "code").mkdir()
    (folder / "weights.bin").write_bytes(bytes(1000))
    (folder / "code" / "model.py").write_text("guess\n")
    return folder


@pytest.fixture(scope="session")
def rounds(program, tmp_path_factory):
    """For each board, a round with two entrants of the same program; tests only read it."""
    with only_boards(tmp_path_factory.mktemp("boards")):
        root, found = tmp_path_factory.mktemp("rounds"), {}
        digests = [write_commitment(root / f"{name}.json", program, name) for name in ("one", "two")]
        for board in BOARDS:
            new_challenge(board, root / board, digests, day=date(2026, 11, 21))
            challenge = read_challenge(root / board / "public")
            batches = reveal(challenge, root / board / "private" / "secret.json")
            right = {split: [truth(batch)] * 2 for split, batch in batches.items()}
            wrong = {split: [np.zeros_like(array) for array in arrays] for split, arrays in right.items()}
            write_answer(root / board / "right", challenge, root / "one.json", program, right)
            write_answer(root / board / "wrong", challenge, root / "two.json", program, wrong)
            found[board] = root / board
        return found


@pytest.fixture
def sraven_round(rounds, tmp_path):
    """A copy of a round, to be tampered with."""
    return shutil.copytree(rounds[SRAVEN_BOARD], tmp_path / "round")
