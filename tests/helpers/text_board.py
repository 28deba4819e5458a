"""Small boards of texts, one of each edition, and submissions to the first."""

import json
from functools import cache

from helpers.submissions import METHOD, define
from sraven import write_submission
from sraven.board.board import Board
from sraven.board.freeze import make_board

BOARD = "sraven-text-small-v1"
FORM = "told-0-shot"

_RUNGS = ["M1-K7", "M2-K7", "M3-K7", "M2-K9"]
DEFINITION = define(
    *(BOARD, "A small ladder", "ranked"),
    {"task": "sraven-text", "rungs": _RUNGS, "size": 11, "shots": 2, "holdout": 0.25, "seed": 5},
    *({"ladder": 44}, "accuracy", [0, 1_000]),
)


SECOND = "sraven-text-small-v2"

_LEVELS = {"rungs": ["M2-K7", "M3-K7", "M2-K9", "M4-K7"], "edition": 2}


@cache
def text_contents(name=BOARD):
    """Return the file of a small board, by its name."""
    second = {**DEFINITION, "id": SECOND, "version": 2, "config": {**DEFINITION["config"], **_LEVELS}}
    return {name: make_board(DEFINITION if name == BOARD else second)}


@cache
def text_board(name=BOARD):
    """Return a small board."""
    return Board.from_content(text_contents(name)[name])


def right_replies(name=BOARD):
    """Return a right reply to each question."""
    board = text_board(name)
    batch = board.sample("ladder", 0, 44)
    features = [board.task.tasks[rung].M for rung in batch.rung]
    panels = [row[:M] for row, M in zip(batch.target.tolist(), features, strict=True)]
    return [f"Let me see.\nAnswer: [{' '.join(map(str, panel))}]" for panel in panels]


def write_lines(path, lines):
    """Write JSON Lines, such as completions; return the path."""
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def read_lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def described(**changes):
    """Return what a submission says of the model that replied."""
    usual = {
        "model": "example/model",
        "revision": "1f0c2d3",
        "form": FORM,
        "prompt_digest": text_board().prompts[FORM],
        "harness": "a script",
        "harness_version": "1.2",
    }
    return {**usual, **changes}


def write_replies(folder, replies=None, *, method=(), said=(), **rest):
    """Write a submission of one run, or of several if ``replies`` is a list of lists."""
    replies = right_replies() if replies is None else replies
    write_submission(
        folder,
        BOARD,
        {"ladder": replies if isinstance(replies[0], list) else [replies]},
        method={**METHOD, **dict(method)},
        model={"parameters": None},
        training={"instances": 0, "selection_split": None, **rest.pop("training", {})},
        replies=described(**dict(said)),
        **rest,
    )
    return folder
