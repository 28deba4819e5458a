"""Challenge rounds: what is given, what was to be predicted, and how a round is tampered with and refused."""

import json
import re

import numpy as np

from helpers.submissions import FUZZY_BOARD, SRAVEN_BOARD
from sraven.core.challenge import score_challenge
from sraven.core.challenge.files import exact_json

BOARDS = (SRAVEN_BOARD, FUZZY_BOARD)
SECRET, ANOTHER, SALT = "5a" * 32, "c3" * 32, "0f" * 32
ENTRANTS = ["1" * 64, "2" * 64]


def secret_text(secret=SECRET):
    return exact_json({"schema": 1, "secret": secret, "salt": SALT})


def truth(batch):
    """Return what is to be predicted."""
    return batch.target if hasattr(batch, "target") else batch.targets[:, -1]


def flip(path):
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)


def edit_json(path, change):
    """Change a file of JSON, and write it as this project does."""
    content = json.loads(path.read_text())
    change(content)
    path.write_bytes(exact_json(content))


def scored(folder, *answers):
    return score_challenge(
        folder / "public", folder / "private" / "secret.json", [folder / answer for answer in answers]
    )


def refused_answer(folder, message, *others):
    """Score an answer that was tampered with; it alone must be refused."""
    found = scored(folder, "right", *others)
    reasons = [entry["why"] for entry in found["refused"] if entry["answer"] == str(folder / "right")]
    assert len(reasons) == 1 and re.search(message, reasons[0]), found["refused"]
    assert reasons[0].isprintable()
    assert [answer["name"] for answer in found["answers"]] == ["two"] * len(others)


def write_copies(folder, seeds=1):
    """Write predictions for the round in a folder: a panel of each context."""
    for split in ("test", "ood"):
        (folder / "predictions" / split).mkdir(parents=True)
        contexts = np.load(folder / "round" / "public" / "contexts" / split / "context.npy")
        for seed in range(seeds):
            np.save(folder / "predictions" / split / f"seed-{seed}.npy", contexts[:, seed])
