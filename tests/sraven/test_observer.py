"""The ideal observer and the posteriors by position: against exact fractions, and against what comes true."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings

from helpers import oracle
from helpers.sraven_contexts import degenerate_contexts
from helpers.uniformity import STANDARD_ERRORS
from sraven import SRAVEN, count_answers, ideal_observer, rule_posterior, symbol_marginals
from sraven.rules import rules_of

BOTH = (rule_posterior, symbol_marginals)

ALL_OF_THREE = np.array(oracle.all_combinations(3))

SIZES = [*((M, K, 25) for M in (1, 2, 3) for K in (3, 4, 5, 8)), *((4, K, 8) for K in (3, 4, 8)), (5, 5, 2)]


def assert_observed_as_by_the_oracle(contexts, K, combinations, permute, rule_set="paper"):
    """Compare the most probable panels, and the probabilities of rules and symbols, with exact ones."""
    options = {"permute": permute, "rules": rules_of(rule_set)}
    answers, probabilities = ideal_observer(contexts, K, combinations, **options)
    shares = [each(contexts, K, combinations, **options) for each in BOTH]
    known = np.asarray(combinations).tolist()
    for n, context in enumerate(contexts.tolist()):
        asked = context, K, known, permute, oracle.RULE_SETS[rule_set]
        posterior = oracle.posterior(*asked)
        highest = max(posterior.values(), default=Fraction(0))
        ties = [panel for panel, share in posterior.items() if share == highest]
        assert tuple(answers[n].tolist()) == min(ties, default=(0,) * answers.shape[1])
        assert probabilities[n] == pytest.approx(float(highest), abs=1e-12)
        for found, expected in zip(shares, oracle.marginals(*asked), strict=True):
            dense = [[by_value.get(value, 0) for value in range(found.shape[2])] for by_value in expected]
            assert found[n] == pytest.approx(np.array(dense, float), abs=1e-12)


@pytest.mark.parametrize("permute", [True, False])
@pytest.mark.parametrize(("M", "K", "count"), SIZES)
def test_observers_equal_the_oracle(M, K, count, permute):
    task = SRAVEN(M=M, K=K, holdout=0, seed=17, permute=permute)
    contexts = task.sample("all", 0, count).context
    assert_observed_as_by_the_oracle(contexts, K, task.combinations("all"), permute)


@pytest.mark.parametrize("permute", [True, False])
@pytest.mark.parametrize(("M", "K", "count"), [(2, 4, 40), (3, 3, 30), (3, 5, 30), (4, 4, 8)])
@pytest.mark.parametrize("split", ["train", "ood"])
def test_observers_that_know_the_split_equal_the_oracle(M, K, count, permute, split):
    task = SRAVEN(M=M, K=K, holdout=0.7, seed=1, permute=permute)
    contexts = task.sample("all", 0, count).context  # some of which the split doesn't explain
    assert_observed_as_by_the_oracle(contexts, K, task.combinations(split), permute)


@pytest.mark.parametrize(("M", "K", "permute"), [(1, 3, True), (2, 3, True), (3, 4, True), (3, 5, False)])
@pytest.mark.parametrize("split", ["all", "train"])
def test_observers_of_ten_rules_equal_the_oracle(M, K, permute, split):
    task = SRAVEN(M, K, 0.5 if M > 1 else 0, 3, permute=permute, rule_set="ten")
    contexts = task.sample("all", 0, 20).context
    assert_observed_as_by_the_oracle(contexts, K, task.combinations(split), permute, "ten")


@pytest.mark.parametrize("permute", [True, False])
@given(case=degenerate_contexts())
@example(case=(np.zeros((1, 8, 3), np.uint8), 4, ALL_OF_THREE))  # three rules fit every triple: n_r! decides
@example(case=(np.ones((1, 8, 3), np.uint8), 4, ALL_OF_THREE))
@settings(max_examples=40)
def test_observers_of_arbitrary_contexts_equal_the_oracle(case, permute):
    assert_observed_as_by_the_oracle(*case, permute)


def test_worked_by_hand():
    # M=1, K=5, rows (0, 0, 0), (0, 0, 0), (1, 1, ?): constant says 1 with likelihood 5**-3, addition
    # 2 and subtraction 0, with 5**-6 each. So they have 125, 1 and 1 of 127.
    context = np.array([0, 0, 0, 0, 0, 0, 1, 1])[None, :, None]
    combinations = np.arange(8)[:, None]
    answer, probability = ideal_observer(context, 5, combinations)
    assert answer.tolist() == [[1]] and probability == pytest.approx([125 / 127], abs=1e-12)
    rules, symbols = (each(context, 5, combinations)[0, 0] * 127 for each in BOTH)
    assert rules == pytest.approx([125, 0, 0, 0, 0, 1, 1, 0], abs=1e-10)
    assert symbols == pytest.approx([1, 125, 1, 0, 0], abs=1e-10)
    # Without constant, 0 and 2 share the probability, and the first in lexicographic order is given.
    answer, probability = ideal_observer(context, 5, [[5], [6]])
    assert answer.tolist() == [[0]] and probability == pytest.approx([0.5], abs=1e-12)


@pytest.mark.parametrize("permute", [True, False])
@pytest.mark.parametrize(("M", "K"), [(2, 3), (3, 5), (4, 4), (4, 8), (6, 8)])
def test_probabilities_are_the_accuracy(M, K, permute):
    task = SRAVEN(M=M, K=K, permute=permute)
    count = 50_000 if M == 4 else 10_007
    batch = task.sample("train", 0, count)
    answer, probability = ideal_observer(batch.context, K, task.combinations("train"), permute=permute)
    surprise = (answer == batch.target).all(axis=1) - probability
    # Each hit has the variance p (1 - p) around its probability.
    error = np.sqrt((probability * (1 - probability)).sum()) / count
    assert abs(surprise.mean()) < STANDARD_ERRORS * error


@pytest.mark.parametrize(("each", "label"), [(rule_posterior, "rules"), (symbol_marginals, "symbols")])
def test_probabilities_are_frequencies(each, label):
    # Of the pairs of a position and a value with probability p, a share of p is what is shown.
    task = SRAVEN(M=4, K=4, seed=2)
    batch = task.sample("train", 0, 30_000)
    shown = np.take_along_axis(batch.rules, batch.permutations[:, 2].astype(int), axis=1)
    truth = {"rules": shown, "symbols": batch.target}[label]
    shares = each(batch.context, 4, task.combinations("train"))
    hits = truth[..., None] == np.arange(shares.shape[2])
    for low in np.arange(0, 1, 0.1):
        level = (shares > low) & (shares <= low + 0.1) & (shares < 1)
        # Positions of one instance aren't independent, so errors are counted by instance.
        surprise = np.where(level, hits - shares, 0).sum(axis=(1, 2))
        assert level.sum() > 500
        assert abs(surprise.sum()) < STANDARD_ERRORS * np.sqrt((surprise**2).sum())


# Independently measured: on 4,000 instances of Python's own random.Random with the oracle's formula; and the
# specification's figures, of 3,000 to 4,000 instances each.
@pytest.mark.parametrize(
    ("K", "split", "prior", "expected", "error"),
    [
        (4, "all", "all", 0.7744, 0.0042),
        (8, "all", "all", 0.9273, 0.0028),
        (16, "all", "all", 0.9827, 0.0014),
        (8, "train", "train", 0.933, 0.005),
        (8, "ood", "ood", 0.941, 0.005),
        (8, "train", "all", 0.930, 0.005),
        (8, "ood", "all", 0.926, 0.005),
    ],
)
def test_expected_accuracy_is_what_was_measured_otherwise(K, split, prior, expected, error):
    task = SRAVEN(M=4, K=K)
    _, probability = ideal_observer(task.sample(split, 0, 20_000).context, K, task.combinations(prior))
    assert abs(probability.mean() - expected) < STANDARD_ERRORS * error


def test_certainty_means_one_answer_under_the_full_prior():
    task = SRAVEN(M=4, K=5)
    context = task.sample("all", 0, 5_003).context
    _, probability = ideal_observer(context, 5, task.combinations("all"))
    assert np.array_equal(probability > 1 - 1e-9, count_answers(context, 5) == 1)


def test_what_is_certain_is_certain_to_the_bit():
    task = SRAVEN(M=3, K=8, answers="unique")
    batch = task.sample("train", 0, 2_003)
    symbols, rules = task.symbol_marginals(batch), task.rule_posterior(batch)
    assert np.array_equal(symbols, batch.target[..., None] == np.arange(8))
    some = 200
    alone = [len(list(oracle.explanations(c, 8, True))) == 1 for c in batch.context[:some].tolist()]
    shown = np.take_along_axis(batch.rules, batch.permutations[:, 2].astype(int), axis=1)
    expected = (shown[..., None] == np.arange(8))[:some][alone]
    assert 50 < len(expected) < some
    assert np.array_equal(rules[:some][alone], expected)


@pytest.mark.parametrize("permute", [True, False])
@pytest.mark.parametrize(("M", "K"), [(1, 3), (2, 5), (3, 4), (4, 8), (5, 5), (8, 8)])
def test_posteriors_agree_with_the_ideal_observer(M, K, permute):
    task = SRAVEN(M=M, K=K, holdout=0, seed=6, permute=permute)
    contexts = task.sample("all", 0, 503).context
    options = {"combinations": task.combinations("all"), "permute": permute}
    panel, probability = ideal_observer(contexts, K, **options)
    rules, symbols = (each(contexts, K, **options) for each in BOTH)
    for shares in (rules, symbols):
        assert shares.min() >= 0
        assert shares.sum(axis=2) == pytest.approx(1)
    of_panel = np.take_along_axis(symbols, panel[..., None].astype(int), axis=2)[..., 0]
    assert (probability <= of_panel.min(axis=1) + 1e-12).all()  # all right needs each one right
    assert (probability >= 1 - (1 - of_panel).sum(axis=1) - 1e-9).all()  # and is wrong if one is wrong


def test_order_and_repetition_of_combinations_do_not_matter():
    task = SRAVEN(M=3, K=4)
    context, known = task.sample("all", 0, 211).context, task.combinations("train")
    rng = np.random.default_rng(3)
    shuffled = rng.permuted(rng.permutation(np.concatenate([known, known[:7]])), axis=1)
    for a, b in zip(ideal_observer(context, 4, known), ideal_observer(context, 4, shuffled), strict=True):
        assert np.array_equal(a, b)
