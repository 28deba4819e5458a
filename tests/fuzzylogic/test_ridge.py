"""Linear observers: against regressions that leave out each point in turn, and functions written out."""

import numpy as np
import pytest

from fuzzylogic import FuzzyLogic, ridge
from sraven import CapacityError
from sraven.core.boards.board import read_board

TASK = FuzzyLogic(L=3, K=2, N=9, holdout=0.4, seed=1)


def written_out(term, point):
    """The least of a term's literals, variable by variable."""
    return min(x if term >> variable & 1 else 1 - x for variable, x in enumerate(point))


@pytest.mark.parametrize("terms", [False, True])
def test_features_are_the_functions_and_terms_of_training(terms):
    batch = TASK.sample("ood", 0, 3)
    features = (ridge.known_terms if terms else ridge.known_functions)(TASK, batch.inputs)
    combinations = TASK.combinations("train").tolist()
    known = sorted({term for combination in TASK.combinations("train").tolist() for term in combination})
    assert known == TASK.partition.seen.tolist()
    for n, sequence in enumerate(batch.inputs.astype(np.float64)):
        for at, point in enumerate(sequence):
            wanted = [max(written_out(term, point) for term in terms) for terms in combinations]
            wanted += [written_out(term, point) for term in known] * terms
            np.testing.assert_allclose(features[n, at], wanted, rtol=0, atol=1e-7)


def refitted(features, targets, weight):
    """Fit and predict the query by solving the normal equations."""
    gram = features[:-1].T @ features[:-1] + weight * np.eye(features.shape[1])
    return features[-1] @ np.linalg.solve(gram, features[:-1].T @ targets)


@pytest.mark.parametrize("points", [5, 30])
def test_predictions_are_those_of_the_weight_that_is_best_when_points_are_left_out(points):
    rng = np.random.default_rng(points)
    features = rng.normal(size=(4, points + 1, 7))
    targets = features[:, :-1] @ rng.normal(size=7) + 0.3 * rng.normal(size=(4, points))
    for sequence, shown, found in zip(features, targets, ridge.predict(features, targets), strict=True):
        errors = []
        for weight in ridge.WEIGHTS:
            left_out = [
                refitted(sequence[[*range(at), *range(at + 1, points), at]], np.delete(shown, at), weight)
                for at in range(points)
            ]
            errors.append(np.square(left_out - shown).sum())
        best = ridge.WEIGHTS[int(np.argmin(errors))]
        np.testing.assert_allclose(found, refitted(sequence, shown, best), rtol=1e-6)


def test_a_task_with_many_functions_is_refused():
    task = FuzzyLogic(L=6, K=3)
    with pytest.raises(CapacityError, match="known functions; regression takes up to 512"):
        ridge.observe(task, task.sample("test", 0, 2), terms=False)


def test_lines_of_the_board_are_what_was_computed_independently():
    """0.838 and 0.918 on `ood`, with other code."""
    lines = {
        line.name: line for line in read_board("fuzzylogic-v1").reference_levels("ood", "r2_per_sequence")
    }
    assert lines["known-functions"].value == pytest.approx(0.838, abs=0.002)
    assert lines["known-terms"].value == pytest.approx(0.918, abs=0.002)
    assert all(line.is_baseline for line in lines.values())


def test_references_predict_what_the_lines_are_of():
    predictors = TASK.references.predictors
    batch = TASK.sample("ood", 0, 40)
    for name, terms in (("known-functions", False), ("known-terms", True)):
        found = predictors[name].predict("ood", 40, 0)
        np.testing.assert_allclose(found, ridge.observe(TASK, batch, terms=terms), rtol=1e-6)
