"""The metrics of text boards: of all questions, of each level, and of replies without an answer."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sraven.core.roles import Arrays, Column, Comparison, Labels, Metric, ratio
from sraven.scoring.agreement import compare_answers
from sraven.text.questions import PADDING

if TYPE_CHECKING:
    from sraven.text.task import Batch, Ladder


@cache
def _make_metrics(rungs: tuple[str, ...], lenient: bool) -> Mapping[str, Metric]:
    """Return the metrics of a ladder by name, by how its replies are read."""

    def right(part: str, whole: str = "instances", **options: Any) -> Metric:
        return Metric((part, whole), ratio, **options)

    unparsed = partial(right, higher_is_better=False)
    strictly = {
        "accuracy_strict": right("correct_strict", title="accuracy, read strictly"),
        "unparsed_strict": unparsed("unparsed_strict", title="unparsed, read strictly"),
    }
    return {
        "accuracy": right("correct", is_share=True),
        "unparsed": unparsed("unparsed"),
        **(strictly if lenient else {}),
        "accuracy_parsed": right("correct", "parsed"),
        "feature_accuracy": right("features_right", "features"),
        **{f"accuracy.{rung}": right(f"correct.{rung}", f"instances.{rung}") for rung in rungs},
        **{f"unparsed.{rung}": unparsed(f"unparsed.{rung}", f"instances.{rung}") for rung in rungs},
    }


@dataclass(frozen=True)
class LadderScoring:
    """Scores answers. The denominator is the number of questions, whatever was parsed.

    ======================  =========================================================================
    metric                  meaning
    ======================  =========================================================================
    ``accuracy``            share of questions whose answer is right: all features of the panel
    ``unparsed``            share of replies in which no answer was found, and of those that there aren't
    ``accuracy_parsed``     share right of those in which one was found
    ``feature_accuracy``    share of features that are right
    ``accuracy.<rung>``     the first on the questions of a rung, such as ``accuracy.M4-K8``
    ``unparsed.<rung>``     the second on them
    ``accuracy_strict``     where replies are read leniently, the first as the strict reading finds it
    ``unparsed_strict``     and the second
    ======================  =========================================================================

    Attributes:
        task: the task.
    """

    task: "Ladder"

    hits: ClassVar[str] = "accuracy"
    """The metric that is the share right."""

    by_combination: ClassVar[tuple[str, ...]] = ()
    """Nothing: levels have metrics of their own."""

    @property
    def prediction(self) -> Column:
        """uint8 ``[P]``: the panel that a reply answers, 255 beyond its features; 255 alone for no answer.

        P is the most features W of a rung. Where replies are read leniently, there is one number more: 1 if
        the strict reading finds the panel, too.
        """
        length = self.task.width + self.task.presentation.lenient
        return Column("prediction", "uint8", (length,), "the ninth panel, as it was parsed")

    @property
    def metrics(self) -> Mapping[str, Metric]:
        """The metrics by name."""
        return _make_metrics(self.task.rungs, self.task.presentation.lenient)

    @property
    def chance(self) -> dict[str, float]:
        """What guessing all features of each panel scores."""
        shares = {
            f"accuracy.{rung}": guess(task.M, task.K)
            for rung, task in zip(self.task.rungs, self.task.tasks, strict=True)
        }
        return {"accuracy": float(np.mean(list(shares.values()))), **shares}

    @property
    def comparison(self) -> Comparison:
        """By the questions that are answered otherwise, however the answers are written.

        Who answers nothing agrees with nobody: questions that neither answers aren't compared.
        """
        found, W = compare_answers(self.hits), self.task.width

        def distance(one: NDArray[Any], other: NDArray[Any]) -> float:
            answered = (one[:, 0] != PADDING) | (other[:, 0] != PADDING)
            return found.distance(one[answered, :W], other[answered, :W]) if answered.any() else 1.0

        return found._replace(
            distance=distance, share=0.01, errors=None
        )  # of one model, asked more than once

    def find_fault(self, predictions: NDArray[Any]) -> None:
        """Return nothing: whatever was read of a reply can be scored."""

    def labels(self, batch: "Batch", threads: int | None) -> Labels:
        """Return target and rung of questions."""
        features = np.array([task.M for task in self.task.tasks])[batch.rung]
        summands = {
            "instances": np.ones(len(batch)),
            "features": features,
            **{f"instances.{rung}": batch.rung == r for r, rung in enumerate(self.task.rungs)},
        }
        return Labels({"target": batch.target, "combination": batch.rung.astype(np.int64)}, summands)

    def verdicts(
        self, target: NDArray[Any], predictions: NDArray[Any], answered: NDArray[np.bool_]
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
        """Return which answers were parsed, are right, and were parsed by the strict reading, too."""
        panels = predictions[:, : self.task.width]
        parsed = answered & (panels[:, 0] != PADDING)
        return parsed, parsed & (panels == target).all(axis=1), parsed & (predictions[:, -1] == 1)

    def outcomes(
        self, labels: Labels, predictions: NDArray[Any], answered: NDArray[np.bool_], threads: int | None
    ) -> Arrays:
        """Return what answers (see `prediction`) get right, as columns ``[n]`` to be summed."""
        target, rungs = labels.arrays["target"], labels.arrays["combination"]
        parsed, correct, strict = self.verdicts(target, predictions, answered)
        panels = predictions[:, : self.task.width]
        right = (panels == target) & (target != PADDING) & parsed[:, None]
        own = {rung: rungs == r for r, rung in enumerate(self.task.rungs)}
        strictly = {"correct_strict": correct & strict, "unparsed_strict": ~strict}
        return {
            "correct": correct,
            "parsed": parsed,
            "unparsed": ~parsed,
            **(strictly if self.task.presentation.lenient else {}),
            "features_right": right.sum(axis=1),
            **{f"correct.{rung}": correct & here for rung, here in own.items()},
            **{f"unparsed.{rung}": ~parsed & here for rung, here in own.items()},
        }


def guess(M: int, K: int) -> float:
    """Return how probable it is to guess a panel."""
    return float(K) ** -M
