"""A small board of a corpus, and submissions to it."""

import json
from functools import cache

import numpy as np

from helpers.submissions import METHOD, MODEL, SRAVEN_BOARD, define, small_contents
from sraven import write_submission
from sraven.board.board import Board
from sraven.board.freeze import make_board

CORPUS_BOARD = "c4-small-v1"

SIZE = 13

DEFINITION = define(
    *(CORPUS_BOARD, "A few documents", "ranked", {"task": "c4", "documents": SIZE}, {"validation": SIZE}),
    *("loss", [5_000]),
    budget_unit="tokens",
)

TRAINING = {"instances": 4_000, "selection_split": "validation"}

LINES = [{"step": 0, "loss": 5.5}, {"step": 10, "loss": 4.25, "learning_rate": 0.001}]


@cache
def corpus_contents():
    """Return the files of the small boards of both kinds, by name."""
    return {SRAVEN_BOARD: small_contents()[SRAVEN_BOARD], CORPUS_BOARD: make_board(DEFINITION)}


@cache
def corpus_board():
    """Return the small board, to be used without looking for its file."""
    return Board.from_content(corpus_contents()[CORPUS_BOARD])


def losses(seed=0, scale=1.0):
    """Return loss, targets and bytes of all documents: those of a seed differ in the losses alone."""
    random = np.random.default_rng(1)
    targets = random.integers(1, 400, SIZE)
    text_bytes = targets * 4 + random.integers(0, 9, SIZE)
    found = np.random.default_rng([2, seed]).uniform(2, 4, SIZE) * targets * scale
    return np.stack([found, targets, text_bytes], axis=1)


def log_text(lines=LINES):
    """Return a training log."""
    return "".join(json.dumps(line) + "\n" for line in lines)


def write_corpus(folder, *, predictions=None, logs=None, method=(), training=(), **rest):
    """Write a submission of three seeds, or of other predictions."""
    predictions = [losses(seed) for seed in range(3)] if predictions is None else predictions
    if logs is None:
        log = folder.parent / f"{folder.name}.jsonl"
        log.write_text(log_text())
        logs = dict.fromkeys(range(len(predictions)), log)
    write_submission(
        folder,
        CORPUS_BOARD,
        {"validation": predictions},
        method={**METHOD, **dict(method)},
        model=MODEL,
        training={**TRAINING, **dict(training)},
        logs=logs,
        **rest,
    )
    return folder
