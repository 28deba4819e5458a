"""Reference predictors of both tasks; the composition-blind observer and exact marginals by the oracle."""

from fractions import Fraction

import numpy as np
import pytest

from fuzzylogic import FuzzyLogic
from helpers import oracle
from sraven import SRAVEN
from sraven.references import measure_reference_levels

TASK = SRAVEN(M=2, K=4, holdout=0.5, seed=1)

TASKS = (
    SRAVEN(M=3, K=5, seed=5),
    SRAVEN(M=7, K=5, holdout=0.1),
    FuzzyLogic(L=3, K=2, N=7, holdout=0.5, seed=5),
    FuzzyLogic(L=2, K=1, N=2, holdout=0.0, seed=5),
    FuzzyLogic(L=4, K=2, N=9, holdout=0.5, seed=5, query="fixed_query"),
)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.config_name)
def test_references_give_predictions_that_can_be_scored_and_are_reproducible(task):
    scored, split = task.scoring.prediction, task.splits[-1]
    for name, reference in task.references.predictors.items():
        first, again, other = (reference.predict(split, 40, seed) for seed in (0, 0, 1))
        assert (first.dtype, first.shape) == (scored.dtype, (40, *scored.shape)), name
        assert task.scoring.find_fault(first) is None
        assert np.array_equal(first, again) and reference.random == (not np.array_equal(first, other)), name
        assert np.array_equal(reference.predict(split, 50, 0)[:40], first)
        assert reference.description.endswith(".")


def believed(split, count):
    """Return what the oracle thinks of each context, if only combinations of training are possible."""
    known = TASK.combinations("train").tolist()
    contexts = TASK.sample(split, 0, count).context.tolist()
    return [oracle.posterior(context, TASK.K, known, True) for context in contexts]


@pytest.mark.parametrize("split", ["test", "ood"])
def test_composition_blind_observer_believes_in_training_and_else_guesses(split):
    predictor = TASK.references.predictors["composition-blind"]
    found = predictor.predict(split, 300, 0)
    assert found.dtype == np.uint8 and found.max() < TASK.K
    impossible = 0
    for panel, posterior in zip(found.tolist(), believed(split, 300), strict=True):
        ties = [each for each, share in posterior.items() if share == max(posterior.values())]
        assert not ties or tuple(panel) == min(ties)
        impossible += not ties
    assert impossible == 0 if split == "test" else 50 < impossible < 250


def test_guesses_of_the_composition_blind_observer_are_uniform_and_the_same_for_all_seeds():
    task = SRAVEN(M=4, K=5, holdout=0.25)
    predictor, count = task.references.predictors["composition-blind"], 20_000
    assert not predictor.random
    found = predictor.predict("ood", count, 0)
    assert np.array_equal(found, predictor.predict("ood", count, 3))
    assert np.array_equal(found[:100], predictor.predict("ood", 100, 0))
    probability = task.ideal_observer(task.sample("ood", 0, count), "train")[1]
    guesses = found[probability == 0]
    assert len(guesses) > 5_000
    shares = np.stack([(guesses == symbol).mean(axis=0) for symbol in range(5)])
    assert np.abs(shares - 1 / 5).max() < 5 * np.sqrt(0.16 / len(guesses))


def test_lines_are_what_the_oracle_expects():
    count = 200
    target = [tuple(panel) for panel in TASK.sample("ood", 0, count).target.tolist()]
    blind = Fraction()
    for panel, posterior in zip(target, believed("ood", count), strict=True):
        best = min((each for each in posterior if posterior[each] == max(posterior.values())), default=None)
        blind += Fraction(1, TASK.K**TASK.M) if best is None else best == panel
    independent = Fraction()
    combinations = TASK.combinations("ood").tolist()
    for panel, context in zip(target, TASK.sample("ood", 0, count).context.tolist(), strict=True):
        right = Fraction(1)
        for symbol, shares in zip(
            panel, oracle.marginals(context, TASK.K, combinations, True)[1], strict=True
        ):
            best = [each for each in shares if shares[each] == max(shares.values())]
            right *= Fraction(symbol in best, len(best))
        independent += right
    found = measure_reference_levels(TASK, "ood", count, None)
    assert found["composition-blind"]["accuracy"].value == pytest.approx(float(blind / count))
    assert found["independent"]["accuracy"].value == pytest.approx(float(independent / count))
