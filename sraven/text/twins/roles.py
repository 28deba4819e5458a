"""The roles of twins in words: metrics by sets, each of which counts as a whole; references; wording."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sraven.core.means import Mean
from sraven.core.roles import Arrays, Labels, Metric, ScoredLevel, ratio
from sraven.text.metrics import LadderScoring, guess
from sraven.text.references import LadderReferences
from sraven.text.wording import LadderWording
from sraven.twins.metrics import count_sets, count_solved, make_metrics, rows_of_sets
from sraven.twins.references import CEILINGS, certain
from sraven.twins.variants import FIRST

if TYPE_CHECKING:
    from sraven.text.twins.task import TwinLadder

Parts = dict[str, NDArray[np.bool_]]


@dataclass(frozen=True)
class TwinLadderScoring(LadderScoring):
    """Scores answers by sets; see `sraven.twins.metrics.TwinsScoring`, whose metrics these are.

    ======================  =========================================================================
    metric                  meaning
    ======================  =========================================================================
    ``pass_all`` ...        those of twins over all sets. ``pass_mean`` and ``independent`` are means
                            over sets of what is one number for each level, so that levels of unlike
                            difficulty are no sign of systematicity
    ``pass_all.<kind>``     each of them with the twins of one kind alone
    ``pass_all.<level>``    each of them on the sets of a level, such as ``pass_all.M4-K8``
    ``unparsed``            share of replies in which no answer was found, and of those that there aren't
    ``pass_mean_strict``    share of questions whose answer is right as the strict reading finds it
    ``unparsed_strict``     share of replies in which that finds none
    ======================  =========================================================================

    Attributes:
        task: the task.
    """

    task: "TwinLadder"

    hits: ClassVar[str] = "pass_mean"

    @cached_property
    def _kinds(self) -> tuple[str, ...]:
        return tuple(kind for kind in dict.fromkeys(self.task.kinds[-self.task.variants :]) if kind != FIRST)

    @cached_property
    def _parts(self) -> Parts:
        """Which rungs the metrics of each suffix are about: bool ``[rungs]``; by kind and level, too."""
        kinds, V = np.array(self.task.kinds), self.task.variants
        levels = np.arange(len(kinds)) // V
        parts: Parts = {"": np.ones(len(kinds), np.bool_)}
        for kind in self._kinds:
            there = (kinds == kind).reshape(-1, V).any(axis=1)
            parts[f".{kind}"] = np.isin(kinds, (FIRST, kind)) & there[levels]
        of_levels = {
            f"{suffix}.{rung}": part & (levels == level)
            for suffix, part in parts.items()
            for level, rung in enumerate(self.task.rungs)
        }
        return parts | {suffix: part for suffix, part in of_levels.items() if part.any()}

    @property
    def metrics(self) -> Mapping[str, Metric]:
        """The metrics by name."""
        levels = [f".{rung}" for rung in self.task.rungs]
        found = {
            suffix: tuple(f"{suffix}{level}" for level in levels if f"{suffix}{level}" in self._parts)
            for suffix in ("", *(f".{kind}" for kind in self._kinds))
        }
        made = make_metrics((*found.items(), *((level, (level,)) for level in levels)))
        unparsed = {
            name: Metric((name, "instances"), ratio, higher_is_better=False)
            for name in ("unparsed", "unparsed_strict")
        }
        return {**made, **unparsed, "pass_mean_strict": Metric(("correct_strict", "instances"), ratio)}

    @property
    def chance(self) -> dict[str, float]:
        """What guessing all features of each panel scores."""
        hits = np.array([guess(level.M, level.K) for level in self.task.tasks[:: self.task.variants]])
        found = {
            "pass_all": hits**self.task.variants,
            "pass_mean": hits,
            "pass_any": 1 - (1 - hits) ** self.task.variants,
        }
        return {name: float(values.mean()) for name, values in found.items()}

    def labels(self, batch: Any, threads: int | None) -> Labels:
        """Return target and rung of questions, and which of them is the first of a whole set."""
        rows = rows_of_sets(batch.set, batch.rung % self.task.variants, self.task.variants)
        combination = batch.combination
        arrays: dict[str, NDArray[Any]] = {"target": batch.target, "rung": batch.rung, "rows_of_sets": rows}
        summands: dict[str, NDArray[Any]] = {
            "instances": np.ones(len(batch)),
            "combination": combination,
            **count_sets(len(batch), rows, self._parts_of(batch.rung[rows])),
        }
        return Labels({**arrays, "combination": combination}, summands)

    def _parts_of(self, rungs: NDArray[np.uint8]) -> Parts:
        return {suffix: part[rungs] for suffix, part in self._parts.items()}

    def outcomes(
        self, labels: Labels, predictions: NDArray[Any], answered: NDArray[np.bool_], threads: int | None
    ) -> Arrays:
        """Return what answers (see `prediction`) get right, as columns ``[n]`` to be summed."""
        arrays = labels.arrays
        parsed, correct, strict = self.verdicts(arrays["target"], predictions, answered)
        rows = arrays["rows_of_sets"]
        return {
            "unparsed": ~parsed,
            "unparsed_strict": ~strict,
            "correct_strict": correct & strict,
            **count_solved(correct, rows, self._parts_of(arrays["rung"][rows])),
        }


class TwinLadderReferences(LadderReferences):
    """What scores of a task are read against."""

    answers: ClassVar = CEILINGS

    def ceilings(self, split: str, count: int, threads: int | None) -> dict[str, dict[str, Mean]]:
        """Return 1 throughout: every variant is certified to have one answer."""
        return certain(count)


class TwinLadderWording(LadderWording):
    """The questions of sets of twins in words, and answers read."""

    def levels(self, split: str, count: int, threads: int | None) -> list[ScoredLevel]:
        """Return the levels, with what can be said of each before any model is asked."""
        batch, variants = self.task.sample(split, 0, count, threads=threads), self.task.variants
        found = []
        for level, rung in enumerate(self.task.rungs):
            own, here = self.task.tasks[level * variants], batch.rung // variants == level
            copied = batch.context[here, -1] == batch.target[here]
            found.append(
                ScoredLevel(
                    metric=f"pass_mean.{rung}",
                    settings={"M": own.M, "K": own.K},
                    instances=int(here.sum()),
                    chance=guess(own.M, own.K),
                    floors={"copy-last-panel": float(np.mean(copied.all(axis=1)))},
                    ceilings={"board": Mean(1.0, 0.0, int(here.sum()))},
                )
            )
        return found
