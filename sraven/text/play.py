"""Sets of questions as a page on which a person answers them: one file of HTML that asks no server.

In the page are the contexts of the questions and what the ids are made of. Targets are in it for practice
alone, which asks what anyone may train on; where the result may be shown at the end, a digest of each.
"""

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from itertools import repeat
from typing import Any

import numpy as np

from sraven.core.errors import ConfigurationError
from sraven.leaderboard.page.render import Asset, render
from sraven.rules import Rule
from sraven.show import make_puzzle
from sraven.task import SRAVEN
from sraven.text.forms import FORMS
from sraven.text.mixtures import Mixture, of_no_board
from sraven.text.questions import Questions

MOST_PUZZLES = 1 << 15
"""Questions of a page: it stays below a few megabytes."""

PRACTICE_SPLIT = "train"

PRACTICE_FEATURES, PRACTICE_COUNT = (1, 2, 3, 4), 5
"""Features of the levels of practice, and puzzles of each."""

WORDS = {
    "constant": "the same number three times",
    "progression +1": "one more each time",
    "progression +2": "two more each time",
    "progression -1": "one less each time",
    "progression -2": "two less each time",
    "addition": "the first two added give the third",
    "subtraction": "the second taken from the first gives the third",
    "distribute three": "three numbers, the same ones in each row, in any order",
    "minimum": "the third is the smaller of the first two",
    "maximum": "the third is the larger of the first two",
}
"""The rules for people, by name; others are shown as formulas."""

EXAMPLE = ((2, 6), (6, 3), (4, 6)), ((5, 1), (1, 6), (7, 1)), ((0, 3), (3, 1), (2, 3))
"""The worked example, solved: one number stays the same, one goes up by one. No other panel fits."""

_STARTS = (5, 2), (6, 4)
"""What the examples of rules begin with, a row each."""


def practise(
    task: SRAVEN, features: Sequence[int] = PRACTICE_FEATURES, count: int = PRACTICE_COUNT, form: str = "told"
) -> Mixture:
    """Return questions to practise with: instances of train, a set for each number of features."""
    tasks = (replace(task, M=M, holdout=task.holdout if M > 1 else 0) for M in features)
    return of_no_board("practice", *(Questions(each, PRACTICE_SPLIT, count, form) for each in tasks))


def make_play(
    asked: Mixture, practice: bool = False, result: bool = False, models: Mapping[str, float] | None = None
) -> str:
    """Return the page of some sets of questions as HTML.

    A person's progress stays in the browser, by the digest of what is asked. What they hand out are lines
    that `sraven.text.completions` reads, with the ``seconds`` that each question took.

    Args:
        asked: the sets, without solved examples. The page has the name of their board.
        practice: whether to show the answers, and the rules behind them, after each reply.
        result: whether to say at the end how many replies are right.
        models: language models by name, with the share that they have right, to be said there too.

    Raises:
        ConfigurationError: for sets that can't be asked like this, too many questions, practice on another
            split than ``train``, or a result where puzzles may have several answers.
    """
    _check(asked, practice, result)
    sets = [_pack(questions, practice, result) for questions in asked.sets]
    numbers = (repeat(number, questions.count) for number, questions in enumerate(asked.sets))
    order = bytes(asked.in_order(numbers))
    digest = sha256(json.dumps([sets, list(order)]).encode()).hexdigest()
    places = b64encode(order).decode()
    solved = [[name, round(share * asked.count)] for name, share in (models or {}).items()]
    play = {"title": asked.board, "digest": digest, "practice": practice, "order": places, "sets": sets}
    play |= {"models": solved}
    return render(
        "play.html.jinja",
        style=Asset("palette.css", "frame.css", "play.css"),
        script=Asset("play.js"),
        play=json.dumps(play, separators=(",", ":")),
        title=asked.board,
        practice=practice,
        told=any(FORMS[questions.form].bounded for questions in asked.sets),
        example=EXAMPLE,
        total=asked.count,
    )


def _check(asked: Mixture, practice: bool, result: bool) -> None:
    for questions in asked.sets:
        is_usual = FORMS[questions.form].is_usual
        reveals = practice and questions.split != PRACTICE_SPLIT
        has_several = result and questions.task.answers != "unique"
        faults = {
            "has solved examples, which a page doesn't show; leave them out": questions.shots,
            "is about how puzzles are written, and a page shows them as pictures": not is_usual,
            f"is of {questions.split}; practice shows answers, so it takes {PRACTICE_SPLIT} alone": reveals,
            "may have several answers; --result takes puzzles with one, --answers unique": has_several,
        }
        if fault := next((fault for fault, holds in faults.items() if holds), None):
            raise ConfigurationError(f"{questions.name} {fault}")
    if not 0 < asked.count <= MOST_PUZZLES:
        raise ConfigurationError(
            f"there are {asked.count:,} questions; expected 1 to {MOST_PUZZLES:,} for a page"
        )


def _pack(questions: Questions, practice: bool, result: bool) -> dict[str, Any]:
    """Return what the page knows of a set, as JSON values."""
    task, every = questions.task, range(questions.count)
    packed = {
        "name": questions.name,
        "M": task.M,
        "K": task.K,
        "mixed": task.permute,
        "rules": _rules(task) if FORMS[questions.form].bounded else [],
        "contexts": b64encode(questions.take(every).context.tobytes()).decode(),
    }
    if practice:
        packed["solutions"] = [_solve(task, questions.split, n) for n in every]
    if result:
        lines = zip(map(questions.id_of, every), questions.answers(every), strict=True)
        packed["digests"] = [sha256(f"{name} {answer}".encode()).hexdigest() for name, answer in lines]
    return packed


def _rules(task: SRAVEN) -> list[dict[str, str]]:
    """Return the rules in words, with rows that follow them."""
    return [
        {"words": WORDS.get(rule.name, f"{rule.name}: {rule.row}"), "rows": _example_rows(rule, task.K)}
        for rule in task.rules
    ]


def _example_rows(rule: Rule, K: int) -> str:
    """Return two rows that follow a rule, such as ``3 4 5 · 6 7 0``."""
    if rule.draw:
        first, second = np.array(_STARTS).T % K
        rows = np.stack(np.broadcast_arrays(*rule.draw(first, second, K)), axis=1).tolist()
    else:  # distribute three
        rows = [[1, 4, 2], [2, 1, 4]] if K > 4 else [[0, 1, 2], [2, 0, 1]]
    return " · ".join(" ".join(map(str, row)) for row in rows)


def _solve(task: SRAVEN, split: str, index: int) -> dict[str, Any]:
    """Return the answer to a question, and the rules behind it."""
    puzzle = make_puzzle(task, split, index)
    places = puzzle.permutations.argsort(axis=1).T.tolist()  # of each feature, by column
    rules = [task.rules[rule] for rule in puzzle.rules]
    features = [
        {"rule": WORDS.get(rule.name, rule.name), "rows": rows, "places": place}
        for rule, rows, place in zip(rules, puzzle.rows.tolist(), places, strict=True)
    ]
    return {"target": puzzle.panels[8].tolist(), "answers": puzzle.answers.tolist(), "features": features}
