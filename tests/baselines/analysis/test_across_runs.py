"""Correlations over runs, against the textbook's, and what may be concluded from how many."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from baselines.analysis.across_runs import across_runs
from helpers.refusals import assert_refused


def runs(n, seeds=2, seed=0):
    """Return structure, ood, test and configurations of runs whose ood follows their structure alone."""
    random = np.random.default_rng(seed)
    structure, test = random.normal(size=n), random.random(n)
    return structure, structure + 0.2 * random.normal(size=n), test, np.arange(n) // seeds


def test_correlations_against_the_textbook():
    structure, ood, test, configurations = runs(40, seed=1)
    ood = ood + 4 * test
    found = across_runs(structure, ood, test, configurations)
    columns = np.array([structure, ood, test])
    r = spearmanr(columns, axis=1).statistic
    partial = (r[0, 1] - r[0, 2] * r[1, 2]) / np.sqrt((1 - r[0, 2] ** 2) * (1 - r[1, 2] ** 2))
    assert found.correlation.value == pytest.approx(r[0, 1])
    assert found.partial.value == pytest.approx(partial)
    assert found.partial.low <= found.partial.value <= found.partial.high


def test_forty_runs_let_one_conclude_but_not_of_what_goes_with_test_alone():
    found = across_runs(*runs(40))
    assert found.conclusive and (found.runs, found.configurations) == (40, 20)
    assert found.statement.startswith(
        "40 runs of 20 configurations stand behind this: among runs alike on test"
    )
    random = np.random.default_rng(2)
    test = random.random(60)
    structure, ood = test + 0.1 * random.normal(size=(2, 60))
    found = across_runs(structure, ood, test, np.arange(60))
    assert found.correlation.low > 0.5
    assert not found.conclusive and "the interval holds 0" in found.statement


@pytest.mark.parametrize(
    ("n", "seeds", "said"), [(29, 1, "fewer than 30 runs"), (36, 4, "fewer than 10 configurations")]
)
def test_few_runs_conclude_nothing(n, seeds, said):
    found = across_runs(*runs(n, seeds))
    assert not found.conclusive and found.statement.endswith(f"no conclusion is drawn from {said}")


def test_scores_that_are_all_alike_have_no_correlation():
    structure, _, test, configurations = runs(32)
    names = np.array([f"hyla-{number}" for number in configurations])
    found = across_runs(structure, np.ones(32), test, names)
    assert found.correlation.value is None and found.partial.value is None and not found.conclusive


@pytest.mark.parametrize("spoil", [lambda each: each[1:], lambda each: each * np.nan])
def test_numbers_that_are_none_are_refused(spoil):
    structure, ood, test, configurations = runs(6)
    assert_refused("across_runs", across_runs, structure, spoil(ood), test, configurations)
