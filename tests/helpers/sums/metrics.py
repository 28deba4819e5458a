"""The metrics of sums, and the references for their scores."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from helpers.sums.task import Sums, draw_below, evaluate
from sraven.core.means import mean
from sraven.core.rng import derive_key
from sraven.core.roles import Column, Labels, Metric, Reference, ratio
from sraven.scoring.agreement import compare_answers
from sraven.scoring.references import Observed

METRICS = {
    "hits": Metric(("right", "instances"), ratio, is_share=True, title="share of hits"),
    "distance": Metric(("distance", "instances"), ratio, higher_is_better=False),
}


@dataclass(frozen=True)
class SumsScoring:
    """Scores predictions: how many are right, and how far off they are around the circle."""

    task: Sums

    prediction = Column("prediction", "uint8", (), "the sum of the last pair")
    metrics = METRICS
    by_combination = ("hits",)

    comparison = compare_answers("hits")

    @property
    def chance(self):
        return {"hits": 1 / self.task.P}

    def find_fault(self, predictions):
        rows = np.flatnonzero(predictions >= self.task.P)
        if not len(rows):
            return None
        return int(rows[0]), f"is {predictions[rows[0]]}; expected 0 to {self.task.P - 1}"

    def labels(self, batch, threads):
        arrays = {"target": batch.sums[:, -1], "combination": batch.combination}
        return Labels(arrays, {"instances": np.ones(len(batch))})

    def outcomes(self, labels, predictions, answered, threads):
        P, off = self.task.P, np.abs(predictions.astype(int) - labels.arrays["target"])
        distance = np.where(answered, np.minimum(off, P - off), P // 2)
        return {"right": (off == 0) & answered, "distance": distance}


def posterior(task, batch, combinations):
    """Return how probable each sum is: float64 ``[n, P]``, given which weights are possible."""
    sums = evaluate(batch.pairs[:, None], combinations[None], task.P)  # [n, C, N]
    agree = (sums[..., :-1] == batch.sums[:, None, :-1]).all(axis=-1)
    counts = np.stack([(agree & (sums[..., -1] == answer)).sum(axis=1) for answer in range(task.P)], axis=1)
    return counts / counts.sum(axis=1, keepdims=True)


class SumsReferences(Observed[Sums]):
    """A guess, and the ideal observer."""

    answers: ClassVar = {1: {"hits": "joint"}}

    @property
    def predictors(self):
        def guess(split, count, seed):
            key = derive_key(stream="guess", split=split, seed=seed)
            return draw_below([self.task.P], key, np.arange(count, dtype=np.uint64))[0].astype(np.uint8)

        def answer(split, count, seed):
            batch = self.task.sample(split, 0, count)
            return posterior(self.task, batch, self.task.combinations("all")).argmax(axis=1).astype(np.uint8)

        return {
            "guess": Reference("Any sum, uniformly at random.", guess, random=True),
            "ideal-observer": Reference("The most probable sum, all weights possible.", answer),
        }

    def observe(self, batch, prior, threads):
        return {"hits": mean(posterior(self.task, batch, self.task.combinations(prior)).max(axis=1))}
