"""The ideal observer and the posteriors by position: against exact fractions, and against what comes true."""

from fractions import Fraction
from itertools import product
from math import hypot, sqrt

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st

from helpers import oracle
from helpers.uniformity import STANDARD_ERRORS
from sraven import (
    SRAVEN,
    count_answers,
    differs_everywhere,
    ideal_observer,
    is_answer,
    is_unique,
    list_answers,
    rule_posterior,
    symbol_marginals,
)
from sraven.rules import rules_of

BOTH = (rule_posterior, symbol_marginals)

ALL_OF_THREE = np.array(oracle.all_combinations(3))


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
@pytest.mark.parametrize("split", ["train", "ood"])
@pytest.mark.parametrize(
    ("M", "K", "count", "rule_set"),
    [
        *((M, K, count, "paper") for M, K, count in ((2, 4, 40), (3, 3, 30), (3, 5, 30), (4, 4, 8))),
        *((M, K, 20, "ten") for M, K in ((2, 3), (3, 4), (3, 5))),
    ],
)
def test_observers_that_know_the_split_equal_the_oracle(M, K, count, split, rule_set, permute):
    task = SRAVEN(M, K, holdout=0.7, seed=1, permute=permute, rule_set=rule_set)
    contexts = task.sample("all", 0, count).context  # some of which the split doesn't explain
    assert_observed_as_by_the_oracle(contexts, K, task.combinations(split), permute, rule_set)


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
@pytest.mark.parametrize(("M", "K"), [(4, 4), (4, 8), (6, 8)])
def test_probabilities_are_the_accuracy(M, K, permute):
    task = SRAVEN(M=M, K=K, permute=permute)
    count = 50_000 if M == 4 else 10_007
    batch = task.sample("train", 0, count)
    answer, probability = ideal_observer(batch.context, K, task.combinations("train"), permute=permute)
    surprise = (answer == batch.target).all(axis=1) - probability
    # Each hit has the variance p (1 - p) around its probability.
    error = np.sqrt((probability * (1 - probability)).sum()) / count
    assert abs(surprise.mean()) < STANDARD_ERRORS * error


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


# Certificates: against the exhaustive oracle, by hand, and against figures measured without this code


# Every size that the oracle can exhaust: M, K, number of instances.
SIZES = [
    *((1, K, 40) for K in (3, 4, 5, 8, 256)),
    *((2, K, 40) for K in (3, 4, 5, 8, 101)),
    *((3, K, 40) for K in (3, 4, 5, 8, 256)),
    *((4, K, 8) for K in (3, 4, 5, 8)),
    *((5, K, 2) for K in (5, 8)),
]


def other_panels(answers, target, K):
    """Return panels near an instance's answers: some are answers, some aren't."""
    changed = [
        (*panel[:p], (panel[p] + 1) % K, *panel[p + 1 :]) for panel in answers for p in range(len(panel))
    ]
    return [target, *sorted(answers), *changed][:30]


def assert_certified_as_by_the_oracle(contexts, targets, K, permute, rule_set="paper"):
    """Compare every function with the set of answers that the oracle finds."""
    options = {"permute": permute, "rules": rules_of(rule_set)}
    answers = [
        oracle.answers(context.tolist(), K, permute, oracle.RULE_SETS[rule_set]) for context in contexts
    ]
    sizes = np.array([len(found) for found in answers])
    assert np.array_equal(count_answers(contexts, K, **options), sizes)
    assert np.array_equal(is_unique(contexts, K, **options), sizes == 1)
    for context, target, found in zip(contexts, targets.tolist(), answers, strict=True):
        assert list_answers(context, K, **options).tolist() == [list(panel) for panel in sorted(found)]
        panels = other_panels(found, tuple(target), K)
        repeated = np.repeat(context[None], len(panels), axis=0)
        expected = [panel in found for panel in panels]
        assert is_answer(repeated, np.array(panels), K, **options).tolist() == expected
        everywhere = [
            any(all(a != b for a, b in zip(answer, panel, strict=True)) for answer in found)
            for panel in panels
        ]
        assert differs_everywhere(repeated, np.array(panels), K, **options).tolist() == everywhere


@pytest.mark.parametrize("permute", [True, False])
@pytest.mark.parametrize(
    ("M", "K", "count", "rule_set"),
    [
        *((*size, "paper") for size in SIZES),
        *((M, K, 40, "ten") for M, K in ((1, 3), (2, 3), (2, 7), (3, 4), (3, 5))),
    ],
)
def test_generated_instances_are_certified_and_observed_as_by_the_oracle(M, K, count, rule_set, permute):
    task = SRAVEN(M=M, K=K, holdout=0, seed=11, permute=permute, rule_set=rule_set)
    batch = task.sample("train", 0, count)
    assert_certified_as_by_the_oracle(batch.context, batch.target, K, permute, rule_set)
    assert_observed_as_by_the_oracle(batch.context, K, task.combinations("all"), permute, rule_set)


@st.composite
def arbitrary_contexts(draw):
    """Draw contexts of few symbols, whose columns repeat, so that degenerate cases abound.

    Symbols that lie 64 apart look alike to the kernel's sets of bits.
    """
    M, K, apart = draw(st.integers(1, 4)), *draw(st.sampled_from([(3, 1), (4, 1), (5, 1), (3, 64), (4, 64)]))
    symbols = st.integers(0, draw(st.integers(0, K - 1))).map(lambda symbol: symbol * apart)
    features = draw(st.lists(st.lists(symbols, min_size=8, max_size=8), min_size=1, max_size=M))
    chosen = draw(st.lists(st.sampled_from(features), min_size=M, max_size=M))
    target = draw(st.lists(symbols, min_size=M, max_size=M))
    allowed = oracle.all_combinations(M)
    in_any_order = st.sampled_from(allowed).flatmap(st.permutations)
    known = draw(st.just(allowed) | st.lists(in_any_order, min_size=1, max_size=9))
    return np.array(chosen, np.uint8).T[None], np.array(target)[None], K * apart, np.array(known, np.uint8)


@pytest.mark.parametrize("permute", [True, False])
@given(case=arbitrary_contexts())
@example(case=(np.zeros((1, 8, 3), np.uint8), np.zeros((1, 3), int), 4, ALL_OF_THREE))  # n_r! decides
@example(case=(np.ones((1, 8, 3), np.uint8), np.zeros((1, 3), int), 4, ALL_OF_THREE))
@settings(max_examples=50)
def test_arbitrary_contexts_are_certified_and_observed_as_by_the_oracle(case, permute):
    contexts, targets, K, known = case
    assert_certified_as_by_the_oracle(contexts, targets, K, permute)
    if contexts.shape[2] < 4 and K < 6:
        assert_observed_as_by_the_oracle(contexts, K, known, permute)


@pytest.mark.parametrize("K", [3, 4])
def test_every_context_of_one_feature_is_certified_as_by_the_oracle(K):
    every = 1 if K == 3 else 7  # of four symbols, one context in seven
    contexts = np.array(list(product(range(K), repeat=8)), np.uint8)[::every, :, None]
    certified = [is_answer(contexts, np.full((len(contexts), 1), symbol), K) for symbol in range(K)]
    answers = [
        {predicted for _, predicted in oracle.predictions(context, 0, 0, 0, K)}
        for context in contexts.tolist()
    ]
    expected = [[symbol in found for symbol in range(K)] for found in answers]
    assert np.array_equal(np.transpose(certified), expected)
    assert np.array_equal(count_answers(contexts, K), np.sum(expected, axis=1))


# Worked by hand: M=1, K=5 but for the last.
@pytest.mark.parametrize(
    ("context", "K", "answers"),
    [
        ([1, 1, 1, 2, 2, 2, 3, 3], 5, [[3]]),  # constant
        ([1, 2, 3, 4, 0, 1, 2, 3], 5, [[4]]),  # progression +1
        ([1, 2, 4, 3, 4, 4, 2, 2], 5, [[0]]),  # subtraction
        ([0, 1, 4, 4, 0, 1, 1, 4], 5, [[0]]),  # distribute three
        ([0, 1, 4, 0, 1, 4, 4, 0], 5, [[1], [4]]),  # distribute three or subtraction
        ([0, 0, 0, 0, 0, 0, 1, 1], 5, [[0], [1], [2]]),  # subtraction, constant, addition
        ([0, 0, 1, 0, 0, 0, 0, 0], 5, []),  # nothing
        ([0, 1, 4, 0, 1, 4, 2, 3], 5, [[4]]),  # only subtraction: 2 and 3 aren't among 0, 1, 4
        ([0, 1, 4, 4, 0, 1, 1, 64], 101, []),  # 64 isn't among 0, 1, 4
        ([200, 100, 44, 255, 255, 254, 128, 128], 256, [[0]]),  # addition modulo 256
    ],
)
def test_answers_worked_by_hand(context, K, answers):
    contexts = np.array(context)[None, :, None]
    assert list_answers(contexts[0], K).tolist() == answers
    assert count_answers(contexts, K).tolist() == [len(answers)]
    assert is_unique(contexts, K).tolist() == [len(answers) == 1]


# Figures measured without this code -----------------------------------------------------------------
#
# By another program: 1,000,000 instances at M=4, 100,000 above, drawn over all combinations.


def assert_share(found, expected, error, count):
    """Compare a share with a figure that has a standard error of its own."""
    allowed = STANDARD_ERRORS * hypot(error, sqrt(expected * (1 - expected) / count))
    assert abs(found - expected) < allowed, f"{found:.4f}, expected {expected} within {allowed:.4f}"


@pytest.mark.parametrize(
    ("M", "K", "count", "ambiguous", "error", "narrow", "narrow_error"),
    [
        (4, 4, 200_000, 0.6230, 0.0005, 0.0457, 0.0002),
        (4, 8, 200_000, 0.2434, 0.0004, 0.0022, 0.00005),
        (4, 16, 200_000, 0.0806, 0.0003, 0.0001, 0.00005),  # rounded to 0.0001
        *((6, 8, 20_000, 0.428, 0.002, None, 0), (8, 8, 20_000, 0.615, 0.002, None, 0)),
        (8, 16, 20_000, 0.225, 0.001, None, 0),
    ],
)
def test_shares_of_ambiguous_instances(M, K, count, ambiguous, error, narrow, narrow_error):
    batch = SRAVEN(M=M, K=K).sample("all", 0, count)
    assert_share((count_answers(batch.context, K) > 1).mean(), ambiguous, error, count)
    if narrow:
        differs = differs_everywhere(batch.context, batch.target, K)
        assert (count_answers(batch.context[differs], K) > 1).all()
        assert_share(differs.mean(), narrow, narrow_error, count)
