"""The metrics of SRAVEN."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sraven.certificates.ambiguity import is_answer
from sraven.core.jit import kernel
from sraven.core.roles import Arrays, Column, Labels, Metric, ratio
from sraven.core.versions import latest
from sraven.features import symbols_by_asked_feature
from sraven.rules import Rules
from sraven.scoring.agreement import compare_answers
from sraven.scoring.composing import BALANCED
from sraven.siblings import sibling_answers

if TYPE_CHECKING:
    from sraven.task import SRAVEN, Batch

BY_COMBINATION = {"1": ("accuracy",)}
"""What is also given for each multiset of rules, by the version that brought it. No line changes."""


def _share(part: str, whole: str, title: str = "", *, is_share: bool = False) -> Metric:
    """Return the metric that is one sum as a share of another; see `Metric` for the others."""
    return Metric((part, whole), ratio, title=title, is_share=is_share)


def _mean_ratio(*sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean of shares, given all parts and then all wholes; NaN where one isn't defined."""
    half = len(sums) // 2
    return np.asarray(np.mean([ratio(*each) for each in zip(sums[:half], sums[half:], strict=True)], axis=0))


def _make_metrics(M: int, rules: Rules) -> dict[str, Metric]:
    return {
        "accuracy": _share("correct", "instances", is_share=True),
        "feature_accuracy": _share("features_right", "features"),
        BALANCED: Metric(
            tuple(f"{what}.{rule.name}" for what in ("right", "features") for rule in rules),
            _mean_ratio,
            title="features right at equal rules",
        ),
        "sibling_answers": Metric(
            ("answered_as_sibling", "told_from_sibling"), ratio, False, "features answered as their sibling"
        ),
        "accuracy_unique": _share("correct_unique", "unique", "accuracy, one answer"),
        "accuracy_ambiguous": _share(
            "correct_ambiguous", "ambiguous", "accuracy, several answers", is_share=True
        ),
        "valid_alternatives": _share("wrong_but_valid", "wrong", "wrong, but a valid alternative"),
        **{f"rule.{rule.name}": _share(f"right.{rule.name}", f"features.{rule.name}") for rule in rules},
        **{f"position.{p}": _share(f"right_at.{p}", "instances") for p in range(M)},
    }


@kernel
def _count_by_rule(right: Any, rules: Any, counts: Any) -> None:
    """Add to ``counts[rule, n]`` how many of the features of each instance that are right follow a rule."""
    for n in range(right.shape[0]):
        for p in range(right.shape[1]):
            counts[rules[n, p], n] += right[n, p]


@dataclass(frozen=True)
class SRAVENScoring:
    """Scores predictions of one task.

    =======================  ======================================================================
    metric                   meaning
    =======================  ======================================================================
    ``accuracy``             share of instances with all M features right
    ``feature_accuracy``     share of features that are right
    ``BALANCED``             ``balanced_feature_accuracy``: features right at equal rules, the mean over rules
                             of the share right of the features that follow one
    ``sibling_answers``      share of features answered by their rule's sibling, as an addition by
                             subtraction, of those that `sraven.siblings` tells apart
    ``accuracy_unique``      accuracy on instances with one answer
    ``accuracy_ambiguous``   accuracy on those with several
    ``valid_alternatives``   share of wrong predictions that explain the context as well as the target
    ``rule.<name>``          share right of the features that follow a rule
    ``position.<p>``         share right at a position of the ninth panel
    =======================  ======================================================================

    Attributes:
        task: the task.
    """

    task: "SRAVEN"

    comparison: ClassVar = compare_answers("accuracy")

    @property
    def prediction(self) -> Column:
        """uint8 ``[M]``: the ninth panel."""
        return Column("prediction", "uint8", (self.task.M,), "the ninth panel")

    @property
    def metrics(self) -> Mapping[str, Metric]:
        """The metrics by name."""
        return _make_metrics(self.task.M, self.task.rules)

    @property
    def by_combination(self) -> tuple[str, ...]:
        """What is also given for each multiset of rules."""
        return latest(BY_COMBINATION, self.task.version)

    @property
    def chance(self) -> dict[str, float]:
        """What guessing all features of the panel scores."""
        return {"accuracy": float(self.task.K) ** -self.task.M}

    def find_fault(self, predictions: NDArray[Any]) -> tuple[int, str] | None:
        """Return the first row with a symbol that isn't one, and why; or None."""
        rows = np.flatnonzero((predictions >= self.task.K).any(axis=1))
        if not len(rows):
            return None
        symbol = int(predictions[rows[0]].max())
        return int(rows[0]), f"has the symbol {symbol}; symbols are 0 to {self.task.K - 1}"

    def labels(self, batch: "Batch", threads: int | None) -> Labels:
        """Return target, rules by position and number of answers of the instances of a batch."""
        task, count = self.task, len(batch.target)
        one = task.answers == "unique"
        answers = np.ones(count, np.int64) if one else task.count_answers(batch, threads=threads)
        ambiguous = answers > 1
        shown = batch.permutations[:, 2].astype(np.int64)
        rules = np.take_along_axis(batch.rules, shown, axis=1)
        rows = symbols_by_asked_feature(batch.context, batch.target, batch.permutations)
        symbol, telling = sibling_answers(rows, rules.astype(np.int64), task.K, task.rules)
        found: Arrays = {"rules_by_position": rules, "answers": answers, "ambiguous": ambiguous}
        told: Arrays = {"sibling_symbol": symbol, "telling_rows": telling}
        summands = {
            "instances": np.ones(count),
            "features": np.full(count, task.M),
            "ambiguous": ambiguous,
            "unique": ~ambiguous,
            "told_from_sibling": (symbol >= 0).sum(axis=1),
            **{f"features.{rule.name}": (rules == n).sum(1) for n, rule in enumerate(task.rules)},
        }
        return Labels({**batch._asdict(), **found, **told}, summands)

    def outcomes(
        self, labels: Labels, predictions: NDArray[Any], answered: NDArray[np.bool_], threads: int | None
    ) -> Arrays:
        """Return what predictions (uint8 ``[n, M]``) get right, as columns ``[n]`` to be summed."""
        task, truth = self.task, labels.arrays
        right = (predictions == truth["target"]) & answered[:, None]
        correct, ambiguous = right.all(axis=1), truth["ambiguous"]
        valid = np.zeros(len(right), np.bool_)
        # Where there is one answer, a wrong prediction can't be another.
        asked = np.flatnonzero(~correct & answered & ambiguous)
        context, panels = truth["context"][asked], predictions[asked]
        valid[asked] = is_answer(context, panels, task.K, threads=threads, **task.context_options)
        by_rule = np.zeros((len(task.rules), len(right)), np.int64)
        _count_by_rule(right, truth["rules_by_position"], by_rule)
        return {
            "correct": correct,
            "correct_unique": correct & ~ambiguous,
            "correct_ambiguous": correct & ambiguous,
            "wrong": ~correct,
            "wrong_but_valid": valid,
            "features_right": by_rule.sum(axis=0),
            "answered_as_sibling": ((predictions == truth["sibling_symbol"]) & answered[:, None]).sum(axis=1),
            **{f"right_at.{p}": right[:, p] for p in range(task.M)},
            **{f"right.{rule.name}": counts for rule, counts in zip(task.rules, by_rule, strict=True)},
        }
