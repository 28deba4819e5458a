"""Posteriors of rules and symbols by position: against exact fractions from the oracle, and one another."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import oracle
from helpers.sraven_contexts import degenerate_contexts
from helpers.uniformity import STANDARD_ERRORS
from sraven import (
    SRAVEN,
    CapacityError,
    ConfigurationError,
    explanations,
    ideal_observer,
    rule_posterior,
    symbol_marginals,
)

BOTH = (rule_posterior, symbol_marginals)

SIZES = [*((M, K, 25) for M in (1, 2, 3) for K in (3, 4, 5, 8)), (4, 4, 6), (4, 8, 10)]


def assert_divided_as_by_the_oracle(contexts, K, combinations, permute):
    """Compare both posteriors at every position with exact ones."""
    known = np.asarray(combinations).tolist()
    found = [each(contexts, K, combinations, permute=permute) for each in BOTH]
    for n, context in enumerate(contexts.tolist()):
        for shares, expected in zip(found, oracle.marginals(context, K, known, permute), strict=True):
            dense = np.zeros_like(shares[n])
            for position, by_value in enumerate(expected):
                for value, share in by_value.items():
                    dense[position, value] = share
            assert shares[n] == pytest.approx(dense, abs=1e-12)


@pytest.mark.parametrize("permute", [True, False])
@pytest.mark.parametrize(("M", "K", "count"), SIZES)
def test_posteriors_equal_the_oracle(M, K, count, permute):
    task = SRAVEN(M=M, K=K, holdout=0, seed=19, permute=permute)
    contexts = task.sample("all", 0, count).context
    assert_divided_as_by_the_oracle(contexts, K, task.combinations("all"), permute)


@pytest.mark.parametrize("permute", [True, False])
@pytest.mark.parametrize(("M", "K", "count"), [(2, 4, 40), (3, 3, 30), (3, 5, 30)])
@pytest.mark.parametrize("split", ["train", "ood"])
def test_posteriors_that_know_the_split_equal_the_oracle(M, K, count, permute, split):
    task = SRAVEN(M=M, K=K, holdout=0.7, seed=1, permute=permute)
    contexts = task.sample("all", 0, count).context  # some of which the split doesn't explain
    assert_divided_as_by_the_oracle(contexts, K, task.combinations(split), permute)


@pytest.mark.parametrize("permute", [True, False])
@given(case=degenerate_contexts())
@settings(max_examples=100)
def test_posteriors_of_arbitrary_contexts_equal_the_oracle(case, permute):
    assert_divided_as_by_the_oracle(*case, permute)


def test_posteriors_worked_by_hand():
    # M=1, K=5, rows (0, 0, 0), (0, 0, 0), (1, 1, ?): constant says 1 with likelihood 5**-3, addition
    # 2 and subtraction 0, with 5**-6 each. So they have 125, 1 and 1 of 127.
    context = np.array([0, 0, 0, 0, 0, 0, 1, 1])[None, :, None]
    combinations = np.arange(8)[:, None]
    rules, symbols = (each(context, 5, combinations)[0, 0] * 127 for each in BOTH)
    assert rules == pytest.approx([125, 0, 0, 0, 0, 1, 1, 0], abs=1e-10)
    assert symbols == pytest.approx([1, 125, 1, 0, 0], abs=1e-10)


def test_rules_that_predict_the_same_symbol_share_its_probability():
    # M=1, K=4: two steps up are two steps down. (0, 2, 0), (1, 3, 1), (2, 0, ?): progressions of +2 and -2
    # say 2 with 4**-3 each; addition would give 2 and 0 at first, subtraction too.
    context = np.array([0, 2, 0, 1, 3, 1, 2, 0])[None, :, None]
    rules, symbols = (each(context, 4, np.arange(8)[:, None])[0, 0] for each in BOTH)
    assert rules.tolist() == [0, 0, 0.5, 0, 0.5, 0, 0, 0]
    assert symbols.tolist() == [0, 0, 1, 0]


def test_each_position_has_the_rule_that_its_feature_follows():
    # Column 3 shows feature permutations[2, p] at position p: on instances whose rules are certain.
    task = SRAVEN(M=4, K=64, seed=4)
    batch = task.sample("train", 0, 2_003)
    shown = np.take_along_axis(batch.rules, batch.permutations[:, 2].astype(int), axis=1)
    found = task.rule_posterior(batch)
    assert (found.argmax(axis=2) == shown).mean() > 0.99
    certain = found.max(axis=2) == 1
    assert np.array_equal(found.argmax(axis=2)[certain], shown[certain])


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


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=30)
def test_positions_that_are_moved_take_their_posteriors_along(seed):
    task = SRAVEN(M=4, K=5, holdout=0.25)
    context = task.sample("train", seed, 7).context
    rng = np.random.default_rng(seed)
    orders = [rng.permutation(4) for _ in range(3)]
    moved = np.stack([context[:, panel][:, orders[panel % 3]] for panel in range(8)], axis=1)
    for each in BOTH:
        expected = each(context, 5, task.combinations("train"))[:, orders[2]]
        assert each(moved, 5, task.combinations("train")) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("permute", [True, False])
def test_contexts_that_nothing_explains_have_no_probabilities(permute):
    context = np.array([[0, 0, 0, 1, 1, 1, 2, 2]], np.uint8)[..., None].repeat(3, axis=2)
    noise = np.random.default_rng(7).integers(0, 101, (23, 8, 3))
    for each in BOTH:
        assert not each(context, 7, [[1, 2, 3], [1, 5, 7]], permute=permute).any()
        assert not each(noise, 101, SRAVEN(M=3).combinations("all"), permute=permute).any()


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


@pytest.mark.parametrize("each", BOTH)
@pytest.mark.parametrize("threads", [1, 3, None])
def test_any_number_of_threads_divides_the_same(each, threads):
    task = SRAVEN(M=3, K=5)
    context, known = task.sample("train", 0, 5_011).context, task.combinations("train")
    expected = each(context, 5, known, threads=1)
    assert np.array_equal(each(context, 5, known, threads=threads), expected)


@pytest.mark.parametrize("each", BOTH)
@pytest.mark.parametrize(("M", "K"), [(6, 3), (8, 5)])
def test_memory_that_is_outgrown_changes_nothing(monkeypatch, each, M, K):
    task = SRAVEN(M=M, K=K, holdout=0)
    context = task.sample("all", 0, 23).context
    grown = each(context, K, task.combinations("all"))
    for capacity in (1, 1 << 14):
        monkeypatch.setattr(explanations, "FIRST_CAPACITY", capacity)
        assert np.array_equal(each(context, K, task.combinations("all")), grown)


@pytest.mark.parametrize("each", BOTH)
def test_too_many_explanations_are_an_error(monkeypatch, each):
    monkeypatch.setattr(explanations, "CAPACITY_LIMIT", explanations.FIRST_CAPACITY)
    task = SRAVEN(M=8, K=4, holdout=0)
    with pytest.raises(CapacityError, match="use a larger K or a smaller M"):
        each(task.sample("all", 0, 23).context, 4, task.combinations("all"))


def test_posteriors_have_their_documented_shapes_and_types():
    for each, values in zip(BOTH, (8, 7), strict=True):
        for n in (5, 0):
            found = each(np.zeros((n, 8, 3), int), 7, [[0, 0, 0]])
            assert (found.shape, found.dtype) == ((n, 3, values), np.float64)


@pytest.mark.parametrize("permute", [True, False])
@pytest.mark.parametrize("knowing", ["all", "train", "ood"])
def test_a_task_asks_with_its_own_symbols_and_combinations(permute, knowing):
    task = SRAVEN(M=3, K=5, holdout=0.25, seed=3, permute=permute)
    batch = task.sample("ood", 0, 31)
    for own, each in ((task.rule_posterior, rule_posterior), (task.symbol_marginals, symbol_marginals)):
        expected = each(batch.context, 5, task.combinations(knowing), permute=permute)
        assert np.array_equal(own(batch, knowing), expected)


@pytest.mark.parametrize(
    ("context", "K", "combinations", "parts"),
    [
        (np.zeros((5, 9, 3), int), 7, [[0, 0, 0]], ("context has shape [5, 9, 3]", "[n, 8, M]")),
        (np.full((5, 8, 3), 7), 7, [[0, 0, 0]], ("context contains 7", "from 0 to 6")),
        (np.zeros((5, 8, 3), int), 7, [[0, 0, 8]], ("combinations contains 8", "from 0 to 7")),
        (np.zeros((5, 8, 3), int), 7, np.zeros((0, 3), int), ("combinations is empty", "at least one")),
    ],
)
def test_bad_arguments_are_refused(context, K, combinations, parts):
    for each, part in product(BOTH, parts):
        with pytest.raises(ConfigurationError) as raised:
            each(context, K, combinations)
        assert part in str(raised.value)
