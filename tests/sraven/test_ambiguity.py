"""Certificates: against the exhaustive oracle, by hand, and against figures measured without this code."""

from itertools import product
from math import hypot

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import oracle
from helpers.uniformity import STANDARD_ERRORS, standard_error
from sraven import SRAVEN, count_answers, differs_everywhere, is_answer, is_unique, list_answers
from sraven.rules import rules_of

# Every size that the oracle can exhaust: M, K, number of instances.
SIZES = [
    *((1, K, 40) for K in (3, 4, 5, 8, 256)),
    *((2, K, 40) for K in (3, 4, 5, 8, 101)),
    *((3, K, 40) for K in (3, 4, 5, 8, 256)),
    *((4, K, 8) for K in (3, 4, 5, 8)),
    *((5, K, 1) for K in (5, 8)),
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
        *((M, K, 40, "ten") for M, K in ((1, 3), (2, 7), (3, 5))),
    ],
)
def test_generated_instances_are_certified_as_by_the_oracle(M, K, count, rule_set, permute):
    task = SRAVEN(M=M, K=K, holdout=0, seed=11, permute=permute, rule_set=rule_set)
    batch = task.sample("train", 0, count)
    assert_certified_as_by_the_oracle(batch.context, batch.target, K, permute, rule_set)


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
    return np.array(chosen, np.uint8).T[None], np.array(target)[None], K * apart


@pytest.mark.parametrize("permute", [True, False])
@given(case=arbitrary_contexts())
@settings(max_examples=50)
def test_arbitrary_contexts_are_certified_as_by_the_oracle(case, permute):
    contexts, targets, K = case
    assert_certified_as_by_the_oracle(contexts, targets, K, permute)


@pytest.mark.parametrize("K", [3, 4])
def test_every_context_of_one_feature_is_certified_as_by_the_oracle(K):
    contexts = np.array(list(product(range(K), repeat=8)), np.uint8)[:, :, None]
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
        ([0, 3, 1, 4, 2, 0, 1, 4], 5, [[2]]),  # progression -2
        ([1, 2, 3, 3, 4, 2, 2, 2], 5, [[4]]),  # addition
        ([1, 2, 4, 3, 4, 4, 2, 2], 5, [[0]]),  # subtraction
        ([0, 1, 4, 4, 0, 1, 1, 4], 5, [[0]]),  # distribute three
        ([0, 1, 4, 4, 0, 1, 4, 0], 5, [[1]]),  # distribute three, a row twice
        ([0, 1, 4, 0, 1, 4, 4, 0], 5, [[1], [4]]),  # distribute three or subtraction
        ([0, 0, 0, 0, 0, 0, 1, 1], 5, [[0], [1], [2]]),  # subtraction, constant, addition
        ([0, 0, 1, 0, 0, 0, 0, 0], 5, []),  # nothing
        ([0, 1, 4, 4, 0, 1, 1, 3], 5, []),  # 3 isn't among 0, 1, 4
        ([0, 1, 4, 0, 1, 4, 2, 3], 5, [[4]]),  # only subtraction: 2 and 3 aren't among 0, 1, 4
        ([0, 1, 4, 4, 0, 1, 1, 64], 101, []),  # 64 isn't among 0, 1, 4
        ([0, 1, 4, 4, 0, 1, 65, 0], 101, []),
        ([0, 64, 1, 64, 0, 1, 1, 64], 101, [[0]]),  # distribute three
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
    allowed = STANDARD_ERRORS * hypot(error, standard_error(expected, count))
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
