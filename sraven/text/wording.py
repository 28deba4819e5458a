"""A ladder in words: its prompts, the answers in replies, and its rungs one by one."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sraven.core.means import Mean, mean
from sraven.core.roles import Column, ScoredLevel
from sraven.references import SRAVENReferences
from sraven.task import SRAVEN
from sraven.text.forms import FORMS
from sraven.text.metrics import guess
from sraven.text.questions import PADDING, Questions, asked_split
from sraven.text.replies import parse, unspell

if TYPE_CHECKING:
    from sraven.text.task import Ladder

BASELINES = ("copy-last-panel", "majority-symbol")
"""Reference predictors that learn nothing: what they score is no sign of reasoning."""

ANY = "any"
"""The ceiling on instances of all combinations that may have several answers, which a ladder doesn't ask."""

_MEASURED = 20_000


def form_name(form: str, shots: int) -> str:
    """Return what a board calls prompts of a form with some solved examples, such as ``told-0-shot``."""
    return f"{form}-{shots}-shot"


@dataclass(frozen=True)
class LadderWording:
    """The questions of a ladder in words, and answers read.

    Attributes:
        task: the task.
    """

    task: "Ladder"

    @property
    def columns(self) -> tuple[Column, ...]:
        """The arrays that digests cover."""
        W = self.task.width
        return (
            Column("rung", "uint8", (), "number of the rung"),
            Column("context", "uint8", (8, W), "the eight context panels, row-major"),
            Column("target", "uint8", (W,), "the ninth panel"),
        )

    @property
    def _forms(self) -> dict[str, tuple[str, int]]:
        """The forms with their shots, by the names that a board gives them."""
        asked = self.task.presentation.forms
        return {form_name(form, shots): (form, shots) for shots in (0, self.task.shots) for form in asked}

    @property
    def forms(self) -> tuple[str, ...]:
        """Names of the ways to ask: each form without solved examples, and with some."""
        return tuple(self._forms)

    def is_bounded(self, form: str) -> bool:
        """Return whether the ceilings hold for a form: they do for one who is told the rules."""
        return FORMS[self._forms[form][0]].bounded

    def prompts(self, split: str, count: int, form: str) -> Iterator[str]:
        """Yield what is asked about the first questions."""
        questions = self.questions(form)
        return self.task.in_order(questions[rung].all_prompts(many) for rung, many in self.task.counts(count))

    def questions(self, form: str) -> tuple[Questions, ...]:
        """Return the questions of each rung in a form, as `sraven text generate` names them."""
        words, shots = self._forms[form]
        size, asked = self.task.size, zip(self.task.tasks, self.task.forms_of(words), strict=True)
        return tuple(Questions(each, asked_split(each), size, own, shots) for each, own in asked)

    def read(self, split: str, indices: NDArray[np.int64], replies: Sequence[str]) -> NDArray[np.uint8]:
        """Return the panels that replies answer: uint8 ``[n, P]``, see `LadderScoring.prediction`."""
        shape, lenient = self.task.scoring.prediction.shape, self.task.presentation.lenient
        spelt = [FORMS[form].spelt for form in self.task.forms_of("told")]
        found = np.full((len(replies), *shape), PADDING, np.uint8)
        rungs = self.task.rungs_of(indices)[0].tolist()
        for row, (rung, reply) in enumerate(zip(rungs, replies, strict=True)):
            task, readable = self.task.tasks[rung], unspell(reply) if spelt[rung] else reply
            panel = parse(readable, task.M, task.K, "lenient" if lenient else "strict")
            if panel is not None:
                found[row, : task.M] = panel
            if lenient:
                found[row, -1] = parse(reply, task.M, task.K) is not None
        return found

    def levels(self, split: str, count: int, threads: int | None) -> list[ScoredLevel]:
        """Return the rungs, with what can be said of each before any model is asked."""
        return [
            _measure(self.task.tasks[rung], self.task.rungs[rung], many, threads)
            for rung, many in self.task.counts(count)
        ]


def _measure(task: SRAVEN, rung: str, count: int, threads: int | None) -> ScoredLevel:
    split = asked_split(task)
    batch = task.sample(split, 0, count, threads=threads)
    predictors = SRAVENReferences(task).predictors
    anything = replace(task, answers="any").sample("all", 0, _MEASURED, threads=threads)

    def ceiling(asked: Any, prior: str) -> Mean:
        return mean(task.ideal_observer(asked, prior, threads=threads)[1])

    return ScoredLevel(
        metric=f"accuracy.{rung}",
        settings={"M": task.M, "K": task.K},
        instances=count,
        chance=guess(task.M, task.K),
        floors={
            name: float((predictors[name].predict(split, count, 0) == batch.target).all(axis=1).mean())
            for name in BASELINES
        },
        ceilings={"board": ceiling(batch, split), ANY: ceiling(anything, "all")},
    )
