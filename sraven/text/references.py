"""References for scores of language models: predictors that read no word, put as replies."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sraven.core.means import Mean, mean
from sraven.core.roles import Reference
from sraven.references import CEILINGS, SRAVENReferences
from sraven.text.prompts import render_answers
from sraven.text.questions import asked_split

if TYPE_CHECKING:
    from sraven.text.task import Ladder

BABBLE = "Let me think about the rows and columns. The answer is [0 1 2 3], or Answer: none of them."
"""A reply in which the strict reading finds no answer."""

NO_ANSWER = "Let me think about the rows and columns."
"""A reply in which no reading finds one."""

_ANSWERING = ("uniform-random", "copy-last-panel", "majority-symbol", "ideal-observer")


@dataclass(frozen=True)
class LadderReferences:
    """What scores of a ladder are read against.

    Attributes:
        task: the task.
    """

    task: "Ladder"

    answers: ClassVar[Mapping[int, Mapping[str, str]]] = CEILINGS

    @property
    def predictors(self) -> Mapping[str, Reference]:
        """The reference predictors by name: those of SRAVEN, and one that answers nothing."""
        known = SRAVENReferences(self.task.tasks[0]).predictors
        found = {name: known[name]._replace(predict=partial(self._reply, name)) for name in _ANSWERING}
        said = NO_ANSWER if self.task.presentation.lenient else BABBLE
        babbler = Reference(
            "Says something, but never answers: every reply is unparsed.",
            lambda split, count, seed: [said] * count,
        )
        return {**found, "babbler": babbler}

    def _reply(self, name: str, split: str, count: int, seed: int) -> list[str]:
        """Return what a predictor of SRAVEN, by its name, replies to the questions of all rungs."""
        task, replies = self.task, list[list[str]]()
        for rung, many in task.counts(count):
            own = task.tasks[rung]
            predictor = SRAVENReferences(own).predictors[name]
            apart = task.variants if predictor.random else 1  # each variant of a set is guessed by itself
            panels = np.asarray(predictor.predict(asked_split(own), many * apart, seed))
            replies.append(render_answers(panels[rung % apart :: apart]))
        return list(task.in_order(replies))

    def ceilings(self, split: str, count: int, threads: int | None) -> dict[str, dict[str, Mean]]:
        """Return the accuracy to expect of the ideal observer, who is told the rules: on all rungs."""
        parts = []
        for rung, many in self.task.counts(count):
            own, asked = self.task.tasks[rung], asked_split(self.task.tasks[rung])
            batch = own.sample(asked, 0, many, threads=threads)
            parts.append([own.ideal_observer(batch, prior, threads=threads)[1] for prior in (asked, "all")])
        known = zip(("knowing_split", "not_knowing"), zip(*parts, strict=True), strict=True)
        return {name: {"accuracy": mean(np.concatenate(found))} for name, found in known}

    def levels(self, split: str, count: int, threads: int | None) -> Mapping[str, Mapping[str, Mean]]:
        """Return nothing: there are no further reference levels."""
        return {}
