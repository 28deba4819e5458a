"""Sets of questions whose name says all about them, and so does the id of each question.

A completion that comes back from anywhere, with the id of its question, can be graded without the file of
prompts. A name is made of letters, digits, hyphens and underscores, as batches of requests ask for:
``v1_M4-K8-unique_h25_s0_ood-2000_told-0`` are the first 2,000 instances of `ood` of the task M=4, K=8,
25 % held out, seed 0, with one answer each, of version 1, asked in the form `told` after 0 examples. Its
question 17 has the id ``v1_M4-K8-unique_h25_s0_ood-2000_told-0_17``.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from hashlib import sha256
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sraven.core.arguments import check_choice, check_integer
from sraven.core.errors import ConfigurationError
from sraven.core.escape import quoted
from sraven.core.means import Mean, share
from sraven.divisions import DIVISIONS
from sraven.rules import PAPER
from sraven.task import SRAVEN, Batch
from sraven.text.apis import CANARY
from sraven.text.forms import FORMS, Setting
from sraven.text.grading import Grades, grade
from sraven.text.prompts import compose, render_answers, solve, write_puzzles
from sraven.text.replies import Reading, read_panel, unspell
from sraven.twins.task import Variant

MOST_QUESTIONS, MOST_SHOTS = 1 << 24, 64

SHOTS_START = 1 << 40
"""Index in `train` of the first example: what a model trains on lies before, and so do the questions."""

PART = 4096
"""Questions that are made at once."""

Indices = Sequence[int] | NDArray[np.int64]

PADDING = 255
"""What stands in arrays where a rung has fewer features than another: no symbol."""


@dataclass(frozen=True)
class Questions:
    """The first instances of a split, asked in one way.

    Attributes:
        task: the task.
        split: its split, `train`, `test` or `ood`.
        count: number of questions, from 1.
        form: one of `sraven.text.FORMS`.
        shots: solved examples before each question, its own ones, of `train`.

    Raises:
        ConfigurationError: for a value out of range.
    """

    task: SRAVEN
    split: str
    count: int
    form: str = "told"
    shots: int = 0

    def __post_init__(self) -> None:
        check_choice("split", self.split, self.task.splits)
        count = check_integer("the number of questions", self.count, 1, MOST_QUESTIONS)
        object.__setattr__(self, "count", count)
        check_choice("form", self.form, tuple(FORMS))
        object.__setattr__(self, "shots", check_integer("shots", self.shots, 0, MOST_SHOTS))

    @property
    def name(self) -> str:
        """The name; it has at most 64 characters but for very long numbers."""
        task = self.task
        held = task.holdout
        holdout = held if isinstance(held, str) else f"{Decimal(repr(held)):f}".removeprefix("0.")
        asked = f"{self.split}-{self.count}_{self.form}-{self.shots}"
        return f"v{task.version}_{task.config_name}_h{holdout}_s{task.seed}_{asked}"

    @property
    def chance(self) -> float:
        """What guessing each number of the panel scores."""
        return float(self.task.K) ** -self.task.M

    def certainties(self, indices: Indices, threads: int | None = None) -> NDArray[np.float64] | None:
        """Return how probable the most probable answers are, float64 ``[n]``: 1 where only one fits.

        None where the prompts don't explain the rules: then it isn't known what anyone can know.
        """
        if not FORMS[self.form].bounded:
            return None
        if self.task.answers == "unique":
            return np.ones(len(indices))
        return self.task.ideal_observer(self.take(indices), threads=threads)[1]

    def ceiling(self, threads: int | None = None) -> Mean | None:
        """Return the best share of targets that can be expected, where it is known: of the form `told`.

        It is the mean of the ideal observer's exact probabilities, all combinations being possible.
        """
        parts = [self.certainties(part, threads) for part in self.parts()]
        known = [part for part in parts if part is not None]
        return share(np.concatenate(known)) if known else None

    def id_of(self, index: int) -> str:
        """Return the id of a question."""
        return f"{self.name}_{index}"

    def take(self, indices: Indices) -> Batch:
        """Return instances by their indices."""
        return self.task.take(self.split, np.asarray(indices, np.int64))

    def shown(self, indices: Indices) -> NDArray[np.int64]:
        """Return the indices in `train` of the questions' examples, question by question: ``[n * shots]``."""
        first = SHOTS_START + self.shots * np.asarray(indices, np.int64)
        return (first[:, None] + np.arange(self.shots)).ravel()

    def prompts(self, indices: Indices) -> list[str]:
        """Return the prompts of questions by their indices: each is the same for any company."""
        return self.prompts_and_answers(indices)[0]

    def all_prompts(self, count: int | None = None) -> Iterator[str]:
        """Yield the prompts of all questions, or of the first ones, made some at a time."""
        return chain.from_iterable(map(self.prompts, self.parts(count)))

    def answers(self, indices: Indices) -> list[str]:
        """Return the right last lines of questions by their indices."""
        return self._pose(self.split, indices)[1]

    def prompts_and_answers(self, indices: Indices) -> tuple[list[str], list[str]]:
        """Return `prompts` and `answers` of instances that are made once for both."""
        task = self.task
        setting = Setting(task.M, task.K, task.permute, task.rules)
        solved = solve(*self._pose("train", self.shown(indices))) if self.shots else []
        puzzles, answers = self._pose(self.split, indices)
        return compose(self.form, setting, solved, puzzles), answers

    def _pose(self, split: str, indices: Indices) -> tuple[list[str], list[str]]:
        """Return puzzles by their indices, and the right last lines of replies."""
        batch = self.task.take(split, np.asarray(indices, np.int64))
        return write_puzzles(self.form, batch.context), render_answers(batch.target)

    def copied(self, indices: Indices) -> NDArray[np.bool_]:
        """Return of which questions the last panel is the answer, bool ``[n]``: what copying it scores."""
        batch = self.take(indices)
        return np.asarray((batch.context[:, 7] == batch.target).all(axis=1))

    def grade(
        self, indices: Indices, replies: Sequence[object], threads: int | None = None, reading: str = "strict"
    ) -> Grades:
        """Grade replies to questions by their indices."""
        readable = list(map(unspell, replies)) if self._is_spelt and reading == "lenient" else replies
        batch, options = self.take(indices), self.task.context_options
        return grade(readable, batch, self.task.K, reading=reading, threads=threads, **options)

    def grade_both(
        self, indices: Indices, replies: Sequence[object], threads: int | None = None
    ) -> tuple[Grades, Grades]:
        """Return the verdicts of the strict and of the lenient reading, which reads what that one doesn't."""
        strict = self.grade(indices, replies, threads)
        rows = np.flatnonzero(~strict.parsed).tolist()
        if not rows:
            return strict, strict
        found = self.grade([indices[row] for row in rows], [replies[row] for row in rows], threads, "lenient")
        lenient = {name: values.copy() for name, values in vars(strict).items()}
        for name, values in lenient.items():
            values[rows] = getattr(found, name)
        return strict, Grades(**lenient)

    def read(self, reply: object) -> Reading:
        """Return what a reply answers, read leniently; where that is nothing, with a reason."""
        return read_panel(unspell(reply) if self._is_spelt else reply, self.task.M, self.task.K)

    @property
    def _is_spelt(self) -> bool:
        return FORMS[self.form].spelt

    def parts(self, count: int | None = None) -> Iterator[range]:
        """Yield the indices of all questions, or of the first ones, part by part."""
        end = self.count if count is None else count
        return (range(start, min(start + PART, end)) for start in range(0, end, PART))

    def records(self, solved: bool = False) -> Iterator[dict[str, Any]]:
        """Yield what is said of each question, a line of what `sraven text generate` writes.

        Args:
            solved: whether to add the answers, and texts to train on.
        """
        for part in self.parts():
            for index, prompt, answer in zip(part, *self.prompts_and_answers(part), strict=True):
                yield {
                    "id": self.id_of(index),
                    "split": self.split,
                    "index": index,
                    "sha256": sha256(prompt.encode()).hexdigest(),
                    "prompt": prompt,
                    **({} if self.split == "train" else {"canary": CANARY}),
                    **({"answer": answer, "text": f"{prompt}\n{answer}"} if solved else {}),
                }


_DIVISION = "|".join(sorted(DIVISIONS, key=len, reverse=True))  # the longest that fits
_NAME = re.compile(
    rf"v([0-9]{{1,3}})_M([0-9]{{1,2}})-K([0-9]{{1,3}})(?:-(?:{_DIVISION}))?"
    r"(-unique)?(-unpermuted)?(?:-([a-z0-9]{1,20}))?"
    r"(?:-twins([0-9]{1,2})-([0-9])-([0-9]{1,2})-([01])-([0-9]{1,3}))?"
    rf"_h([0-9]{{1,30}}|{_DIVISION})_s([0-9]{{1,19}})"
    r"_([a-z]{1,9})-([0-9]{1,8})_([a-z0-9]{1,20})-([0-9]{1,2})"
)
_TWINS = "by_columns", "by_rows", "by_values", "by_negation", "variant"
_INDEX = re.compile("0|[1-9][0-9]{0,7}")


@lru_cache(256)
def _named(name: str) -> Questions | None:
    """Return the questions of a name, or None if it is none that they give themselves."""
    found = _NAME.fullmatch(name)
    if not found:
        return None
    version, M, K, unique, unpermuted, rule_set, *rest = found.groups()
    *twins, holdout, seed, split, count, form, shots = rest
    drawn: dict[str, Any] = {
        "M": int(M),
        "K": int(K),
        "holdout": holdout if holdout in DIVISIONS else float(f"0.{holdout}"),
        "seed": int(seed),
        "version": version,
    }
    if twins[0]:
        drawn |= zip(_TWINS, map(int, twins), strict=True)
        task: SRAVEN = Variant(**drawn)
    else:
        answers = "unique" if unique else "any"
        task = SRAVEN(**drawn, answers=answers, permute=not unpermuted, rule_set=rule_set or PAPER)
    questions = Questions(task, split, int(count), form, int(shots))
    return questions if questions.name == name else None


def find_question(question: object) -> tuple[Questions, int]:
    """Return the questions to which an id belongs, and the index of its own.

    Raises:
        ConfigurationError: if it is none that `Questions.id_of` gives.
    """
    name, _, index = question.rpartition("_") if isinstance(question, str) else ("", "", "")
    try:
        questions = _named(name)
    except ConfigurationError:  # such as a version of the future
        questions = None
    if questions is None or not _INDEX.fullmatch(index) or int(index) >= questions.count:
        raise ConfigurationError(f"{quoted(question)} is no id that `sraven text generate` gives")
    return questions, int(index)


COUNT, SEED, HOLDOUT = 2_000, 0, 0.25
"""Questions of a level; seed and held-out share of its task."""


class Level(NamedTuple):
    """A level of difficulty: features of a panel and symbols, instances with one answer each.

    Attributes:
        M: features of a panel.
        K: number of symbols.
    """

    M: int
    K: int

    @property
    def task(self) -> SRAVEN:
        """The task. At M=1 no rule can be spared, so nothing is held out."""
        return SRAVEN(self.M, self.K, HOLDOUT if self.M > 1 else 0.0, SEED, "unique", version="1")

    @property
    def split(self) -> str:
        """The split of its questions, `ood`; `test` for M=1, where nothing is held out."""
        return "ood" if self.M > 1 else "test"

    def questions(self, form: str = "told", shots: int = 0, count: int = COUNT) -> Questions:
        """Return its questions, asked in one way."""
        return Questions(self.task, self.split, count, form, shots)


LADDER: tuple[Level, ...] = (*(Level(M, 8) for M in (1, 2, 3, 4, 6, 8)), Level(4, 10), Level(4, 16))
"""The levels, from easy to hard in M, then in K. None changes."""

LEVELS: tuple[Level, ...] = (*(Level(M, 8) for M in (2, 3, 4, 5, 6, 8)), Level(4, 10), Level(4, 16))
"""Those of version 2: without M=1, where no rule can be held out and puzzles are few. None changes."""


def asked_split(task: SRAVEN) -> str:
    """Return the split whose instances are asked: ``ood``, or ``test`` where nothing can be held out."""
    return "ood" if task.holdout else "test"
