"""Sets of questions as a page on which a person answers them: one file of HTML that asks no server.

In the page are the contexts of the questions and what the ids are made of. Targets are in it for practice
alone, which asks what anyone may train on.
"""

import json
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from itertools import chain, repeat
from typing import Any

from sraven.core.base.errors import ConfigurationError
from sraven.core.page.marks import draw_project
from sraven.core.page.render import Asset, render
from sraven.task import SRAVEN
from sraven.text.forms import FORMS, Setting
from sraven.text.questions import Questions
from sraven.views.show import make_puzzle

MOST_PUZZLES = 1 << 15
"""Questions of a page: it stays below a few megabytes."""

PRACTICE_SPLIT = "train"

PRACTICE_FEATURES, PRACTICE_COUNT = (1, 2, 3, 4), 5
"""Features of the levels of practice, and puzzles of each."""


def practise(
    task: SRAVEN, features: Sequence[int] = PRACTICE_FEATURES, count: int = PRACTICE_COUNT, form: str = "told"
) -> tuple[Questions, ...]:
    """Return sets of questions to practise with: instances of train, a set for each number of features."""
    tasks = (replace(task, M=M, holdout=task.holdout if M > 1 else 0) for M in features)
    return tuple(Questions(each, PRACTICE_SPLIT, count, form) for each in tasks)


def make_play(
    asked: Sequence[Questions],
    title: str,
    practice: bool = False,
    in_order: Callable[[Iterable[Iterable[int]]], Iterator[int]] = chain.from_iterable,
) -> str:
    """Return the page of some sets of questions as HTML.

    A person's progress stays in the browser, by the digest of what is asked. What they hand out are lines
    that `sraven.text.completions` reads, with the ``seconds`` that each question took.

    Args:
        asked: the sets, without solved examples.
        title: what to call them all, such as the name of a board.
        practice: whether to show the answers, and the rules behind them, after each reply.
        in_order: yields what several sets have for each question, in the order in which they are asked; one
            set after the other unless it is given.

    Raises:
        ConfigurationError: for sets that can't be asked like this, too many questions, or practice on
            another split than ``train``.
    """
    _check(asked, practice)
    sets = [_pack(questions, practice) for questions in asked]
    order = bytes(in_order([repeat(number, questions.count) for number, questions in enumerate(asked)]))
    digest = sha256(json.dumps([sets, list(order)]).encode()).hexdigest()
    places = b64encode(order).decode()
    play = {"title": title, "digest": digest, "practice": practice, "order": places, "sets": sets}
    return render(
        "play.html.jinja",
        style=Asset("palette.css", "frame.css", "play.css"),
        script=Asset("play.js"),
        mark=draw_project(),
        play=json.dumps(play, separators=(",", ":")),
        title=title,
        practice=practice,
        total=sum(questions.count for questions in asked),
    )


def _check(asked: Sequence[Questions], practice: bool) -> None:
    for questions in asked:
        if questions.shots:
            raise ConfigurationError(
                f"{questions.name} has solved examples, which a page doesn't show; leave them out"
            )
        if not FORMS[questions.form].is_usual:
            raise ConfigurationError(
                f"{questions.name} is about how puzzles are written, and a page shows them as pictures"
            )
        if practice and questions.split != PRACTICE_SPLIT:
            raise ConfigurationError(
                f"{questions.name} is of {questions.split}; practice shows answers, so it takes "
                f"{PRACTICE_SPLIT} alone"
            )
    total = sum(questions.count for questions in asked)
    if not 0 < total <= MOST_PUZZLES:
        raise ConfigurationError(f"there are {total:,} questions; expected 1 to {MOST_PUZZLES:,} for a page")


def _pack(questions: Questions, practice: bool) -> dict[str, Any]:
    """Return what the page knows of a set, as JSON values."""
    task, form = questions.task, FORMS[questions.form]
    contexts = questions.take(range(questions.count)).context
    solved = [_solve(task, questions.split, n) for n in range(questions.count)] if practice else []
    return {
        "name": questions.name,
        "M": task.M,
        "K": task.K,
        "explained": form.explain(Setting(task.M, task.K, task.permute, task.rules)),
        "round": form.bounded,
        "contexts": b64encode(contexts.tobytes()).decode(),
        **({"solutions": solved} if practice else {}),
    }


def _solve(task: SRAVEN, split: str, index: int) -> dict[str, Any]:
    """Return the answer to a question, and the rules behind it."""
    puzzle = make_puzzle(task, split, index)
    places = puzzle.permutations.argsort(axis=1).T.tolist()  # of each feature, by column
    rules = [task.rules[rule] for rule in puzzle.rules]
    features = [
        {"rule": rule.name, "row": rule.row, "rows": rows, "places": place}
        for rule, rows, place in zip(rules, puzzle.rows.tolist(), places, strict=True)
    ]
    return {"target": puzzle.panels[8].tolist(), "answers": puzzle.answers.tolist(), "features": features}
