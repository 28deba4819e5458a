"""Calibration: planted models have the numbers that they must have, in closed form."""

from math import log

import numpy as np
import pytest

from baselines.analysis.calibration import SHARPEST, calibration, mean_over, sharpening
from helpers.refusals import assert_refused
from sraven import SRAVEN, symbol_marginals

N, M, K = 500, 3, 5
LEAST = float(np.finfo(np.float32).tiny)


@pytest.fixture(scope="module")
def planted():
    """Exact marginals, some certain, some tied, the rest anything; and targets drawn from them."""
    rng = np.random.default_rng(0)
    exact = rng.dirichlet(np.full(K, 0.5), (N, M))
    exact[:, 0] = np.eye(K)[rng.integers(K, size=N)]
    exact[:100, 1] = [0.5, 0.5, 0, 0, 0]
    targets = (rng.random((N, M, 1)) > exact.cumsum(axis=2)).sum(axis=2)
    return exact, np.minimum(targets, K - 1)


def entropy(p):
    """Return the mean over positions by the definition."""
    return np.mean([-sum(x * log(x) for x in each if x) for each in p.reshape(-1, p.shape[-1])])


def test_the_posterior_itself_is_calibrated(planted):
    exact, targets = planted
    found = calibration(exact, exact, targets)
    assert found.kl.value == pytest.approx(0, abs=1e-12) and found.error.value == 0
    assert found.floor.value == pytest.approx(entropy(exact))
    assert abs(found.excess.value) < 4 * found.excess.standard_error
    assert found.by_posterior == found.by_model
    for each in found.by_posterior:
        assert each.model == pytest.approx(each.exact)
        spread = np.sqrt(each.exact * (1 - each.exact) / each.count)
        assert abs(each.frequency - each.exact) < 4 * spread + 1e-9
    assert sum(each.count for each in found.by_posterior) == exact.size
    assert found.open.exponent == pytest.approx(1, abs=1e-5)
    assert found.open.to_posterior.value == 0 and found.open.possible.value == 1
    assert found.open.agreement.value == 1 and found.open.to_maximum.value > 0.2
    assert found.open.entropy == found.open.entropy_of_model


def test_a_model_that_picks_the_maximum(planted):
    exact, targets = planted
    model = np.eye(K)[exact.argmax(axis=2)]
    found = calibration(exact, model, targets)
    missed = 1 - exact.max(axis=2)
    assert found.kl.value == pytest.approx(-entropy(exact) - missed.mean() * log(LEAST))
    wrong = (exact.argmax(axis=2) != targets).mean()
    assert found.cross_entropy.value == pytest.approx(-wrong * log(LEAST))
    assert found.error.value == pytest.approx(missed.mean())
    open_ = found.open
    counted = missed > 0.01
    assert (open_.positions, open_.instances) == (counted.sum(), counted.any(axis=1).sum())
    assert open_.exponent == SHARPEST and open_.to_maximum.value == 0 and open_.entropy_of_model.value == 0
    assert open_.to_posterior.value == pytest.approx(missed[counted].mean())
    best = pytest.approx(1 - missed[counted].mean())
    assert open_.sampled_accuracy.value == open_.best_accuracy.value == best
    assert open_.accuracy.value == pytest.approx((exact.argmax(axis=2) == targets)[counted].mean())
    assert [each.model for each in found.by_model] == [0.0, 1.0]


def test_a_model_that_knows_nothing(planted):
    exact, targets = planted
    found = calibration(exact, np.full(exact.shape, 1 / K), targets)
    assert found.cross_entropy.value == pytest.approx(log(K))
    assert found.cross_entropy.standard_error == pytest.approx(0, abs=1e-12)
    assert found.kl.value == pytest.approx(log(K) - entropy(exact))
    assert [each.model for each in found.by_model] == [pytest.approx(1 / K)]
    assert found.open.exponent == pytest.approx(0, abs=1e-5)
    assert found.open.sampled_accuracy.value == pytest.approx(1 / K)
    assert found.open.to_maximum.value == pytest.approx(1 - 1 / K)


@pytest.mark.parametrize("power", [0.5, 2.0, 7.0])
def test_the_exponent_of_a_power_of_the_posterior_is_found(planted, power):
    exact = planted[0][100:, 1:]
    model = exact**power / (exact**power).sum(axis=2, keepdims=True)
    # What a model gives to impossible symbols says nothing of how it weighs the possible.
    assert sharpening(exact, model) == pytest.approx(power, abs=1e-4)
    shifted = np.concatenate([0.9 * model, np.full((*model.shape[:2], 1), 0.1)], axis=2)
    assert sharpening(np.pad(exact, ((0, 0), (0, 0), (0, 1))), shifted) == pytest.approx(power, abs=1e-4)


def test_ties_have_no_exponent_and_without_open_positions_there_is_nothing_to_say_of_them(planted):
    tied = np.full((2, 3, 2), 0.5)
    assert sharpening(tied, np.array([0.9, 0.1]) * np.ones_like(tied)) is None
    found = calibration(tied, np.eye(2)[[[0, 1, 1]] * 2], np.zeros((2, 3), int))
    assert found.open.to_maximum.value == 0 and found.open.to_posterior.value == 0.5
    certain = np.eye(K)[planted[1]]
    found = calibration(certain, certain, planted[1])
    assert found.open is None and found.floor.value == found.cross_entropy.value == 0


def test_errors_are_those_of_draws_of_groups():
    values = np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 4.0], [3.0, 0.0]])
    alone, paired = (mean_over(values, np.array(groups)) for groups in ([0, 1, 2, 3], [0, 0, 1, 1]))
    assert (alone.value, alone.n, paired.n) == (values.mean(), 4, 2)
    assert alone.standard_error == pytest.approx(values.mean(axis=1).std(ddof=1) / 2)
    assert paired.standard_error == pytest.approx(abs(0.75 - 2.25) / 2)
    some = mean_over(values, np.arange(4), values > 1)
    assert some.value == 3 and some.n == 2


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        *(
            ({"probabilities": np.full((2, 3, 4), p)}, r"\[0, 0\] are no probabilities")
            for p in (0.2, np.nan)
        ),
        ({"marginals": np.zeros((2, 3))}, r"marginals has the shape \(2, 3\)"),
        ({"targets": np.zeros((2, 4), int)}, r"targets \(2, 4\); expected \[n, M, K\] twice, and \[n, M\]"),
        ({"targets": np.full((2, 3), 4)}, "targets must be symbols, 0 to 3"),
    ],
)
def test_what_is_no_probability_is_refused(changes, line):
    flat = np.full((2, 3, 4), 0.25)
    good = {"marginals": flat, "probabilities": flat, "targets": np.zeros((2, 3), int)}
    assert_refused(line, calibration, **{**good, **changes})


@pytest.mark.long
def test_the_exact_marginals_of_the_board_have_the_known_floor():
    """0.0465 ± 0.0005 nats a position, of all 51,200 instances of the split."""
    task = SRAVEN(M=4, K=8, holdout=0.25, seed=0)
    batch = task.sample("test", 0, 1_000)
    marginals = symbol_marginals(batch.context, task.K, task.combinations("all"))
    found = calibration(marginals, marginals, batch.target, batch.combination)
    assert abs(found.floor.value - 0.0465) < 4 * found.floor.standard_error < 0.02
    assert abs(found.excess.value) < 4 * found.excess.standard_error
