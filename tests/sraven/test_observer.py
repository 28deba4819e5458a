"""The ideal observer: against exact fractions from the oracle, and against what it predicts."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

from helpers import oracle
from helpers.sraven_contexts import degenerate_contexts
from helpers.uniformity import STANDARD_ERRORS
from sraven import SRAVEN, CapacityError, ConfigurationError, count_answers, explanations, ideal_observer

SIZES = [
    *((1, K, 30) for K in (3, 4, 5, 8)),
    *((2, K, 30) for K in (3, 4, 5, 8)),
    *((3, K, 30) for K in (3, 4, 5, 8)),
    *((4, K, 15) for K in (3, 4, 5, 8)),
    (5, 5, 2),
]


def assert_observed_as_by_the_oracle(contexts, K, combinations, permute):
    """Compare the most probable panels and their probabilities with exact ones."""
    answers, probabilities = ideal_observer(contexts, K, combinations, permute=permute)
    for context, answer, probability in zip(contexts, answers.tolist(), probabilities, strict=True):
        posterior = oracle.posterior(context.tolist(), K, combinations.tolist(), permute)
        highest = max(posterior.values(), default=Fraction(0))
        ties = [panel for panel, share in posterior.items() if share == highest]
        assert tuple(answer) == min(ties, default=(0,) * len(answer))
        assert probability == pytest.approx(float(highest), abs=1e-9)


@pytest.mark.parametrize("permute", [True, False])
@pytest.mark.parametrize(("M", "K", "count"), SIZES)
def test_observer_equals_the_oracle(M, K, count, permute):
    task = SRAVEN(M=M, K=K, holdout=0, seed=17, permute=permute)
    contexts = task.sample("all", 0, count).context
    assert_observed_as_by_the_oracle(contexts, K, task.combinations("all"), permute)


@pytest.mark.parametrize("permute", [True, False])
@pytest.mark.parametrize(("M", "K", "count"), [(2, 4, 40), (3, 3, 40), (3, 5, 40), (4, 4, 15)])
@pytest.mark.parametrize("split", ["train", "ood"])
def test_observer_that_knows_the_split_equals_the_oracle(M, K, count, permute, split):
    task = SRAVEN(M=M, K=K, holdout=0.7, seed=1, permute=permute)
    contexts = task.sample("all", 0, count).context  # some of which the split doesn't explain
    assert_observed_as_by_the_oracle(contexts, K, task.combinations(split), permute)


@pytest.mark.parametrize("permute", [True, False])
@given(case=degenerate_contexts())
@settings(max_examples=150)
def test_observer_of_arbitrary_contexts_equals_the_oracle(case, permute):
    assert_observed_as_by_the_oracle(*case, permute)


@pytest.mark.parametrize("symbol", [0, 1])
def test_observer_equals_the_oracle_where_all_symbols_are_alike(symbol):
    # At zero, each of three rules fits every triple, so the factors n_r! decide.
    contexts = np.full((1, 8, 3), symbol, np.uint8)
    combinations = np.array(oracle.all_combinations(3))
    assert_observed_as_by_the_oracle(contexts, 4, combinations, True)


def test_posterior_worked_by_hand():
    # M=1, K=5, rows (0, 0, 0), (0, 0, 0), (1, 1, ?): constant says 1 with likelihood 5**-3, addition
    # 2 and subtraction 0, with 5**-6 each. So 1 has 125 / (125 + 1 + 1).
    context = np.array([0, 0, 0, 0, 0, 0, 1, 1])[None, :, None]
    answer, probability = ideal_observer(context, 5, np.arange(8)[:, None])
    assert answer.tolist() == [[1]]
    assert probability == pytest.approx([125 / 127], abs=1e-12)


def test_equally_probable_panels_give_the_first_in_lexicographic_order():
    # Without the constant rule, 0 (subtraction) and 2 (addition) share the probability.
    context = np.array([0, 0, 0, 0, 0, 0, 1, 1])[None, :, None]
    answer, probability = ideal_observer(context, 5, [[5], [6]])
    assert answer.tolist() == [[0]]
    assert probability == pytest.approx([0.5], abs=1e-12)


def test_ties_go_by_position_whatever_the_order_of_search():
    # The search starts with the position that has the fewest explanations, often not the first.
    task = SRAVEN(M=3, K=3, holdout=0, seed=3)
    combinations = task.combinations("all")
    contexts = task.sample("all", 0, 600).context
    answers, _ = ideal_observer(contexts, 3, combinations)
    telling = 0
    for context, answer in zip(contexts.tolist(), answers.tolist(), strict=True):
        posterior = oracle.posterior(context, 3, combinations.tolist(), True)
        ties = [panel for panel, share in posterior.items() if share == max(posterior.values())]
        assert tuple(answer) == min(ties)
        telling += min(ties) != min(ties, key=lambda panel: panel[::-1])
    assert telling >= 10


@pytest.mark.parametrize("permute", [True, False])
def test_combinations_that_explain_nothing_have_probability_zero(permute):
    context = np.array([[0, 0, 0, 1, 1, 1, 2, 2]], np.uint8)[..., None].repeat(3, axis=2)
    answer, probability = ideal_observer(context, 7, [[1, 2, 3], [1, 5, 7]], permute=permute)
    assert answer.tolist() == [[0, 0, 0]]
    assert probability.tolist() == [0]


def test_contexts_without_explanation_have_probability_zero():
    contexts = np.random.default_rng(7).integers(0, 101, (23, 8, 4))
    answer, probability = ideal_observer(contexts, 101, SRAVEN(M=4).combinations("all"))
    assert not answer.any()
    assert not probability.any()


@pytest.mark.parametrize("permute", [True, False])
@pytest.mark.parametrize(("M", "K"), [(2, 3), (3, 5), (4, 4), (4, 8), (6, 8)])
def test_probabilities_are_the_accuracy(M, K, permute):
    task = SRAVEN(M=M, K=K, permute=permute)
    count = 100_000 if M == 4 else 10_007
    batch = task.sample("train", 0, count)
    answer, probability = ideal_observer(batch.context, K, task.combinations("train"), permute=permute)
    surprise = (answer == batch.target).all(axis=1) - probability
    # Each hit has the variance p (1 - p) around its probability.
    error = np.sqrt((probability * (1 - probability)).sum()) / count
    assert abs(surprise.mean()) < STANDARD_ERRORS * error


def test_probabilities_are_the_accuracy_at_each_level_of_confidence():
    task = SRAVEN(M=4, K=4, seed=2)
    batch = task.sample("all", 0, 100_000)
    answer, probability = ideal_observer(batch.context, 4, task.combinations("all"))
    hits = (answer == batch.target).all(axis=1)
    for low in np.arange(0.1, 1, 0.1):
        level = (probability > low) & (probability <= low + 0.1 - 1e-9)
        variance = (probability[level] * (1 - probability[level])).sum()
        assert level.sum() > 500
        assert abs((hits[level] - probability[level]).sum()) < STANDARD_ERRORS * np.sqrt(variance)


def test_a_wrong_prior_can_not_be_more_accurate():
    task = SRAVEN(M=4, K=8)
    batch = task.sample("ood", 0, 100_000)
    hits = [
        (ideal_observer(batch.context, 8, task.combinations(split))[0] == batch.target).all(axis=1).mean()
        for split in ("ood", "all", "train")
    ]
    assert hits[0] > hits[1] > hits[2]


# Measured independently of this code with the oracle's formula on 4,000 instances of Python's own
# random.Random: mean, standard error.
@pytest.mark.parametrize(
    ("K", "expected", "error"), [(4, 0.7744, 0.0042), (8, 0.9273, 0.0028), (16, 0.9827, 0.0014)]
)
def test_expected_accuracy_over_all_combinations(K, expected, error):
    task = SRAVEN(M=4, K=K)
    _, probability = ideal_observer(task.sample("all", 0, 100_000).context, K, task.combinations("all"))
    assert abs(probability.mean() - expected) < STANDARD_ERRORS * error


# The specification's figures: 3,000 to 4,000 instances each, +- 0.005.
@pytest.mark.parametrize(
    ("K", "split", "prior", "expected"),
    [
        (4, "all", "all", 0.786),
        (8, "all", "all", 0.932),
        (16, "all", "all", 0.977),
        (8, "train", "train", 0.933),
        (8, "ood", "ood", 0.941),
        (8, "train", "all", 0.930),
        (8, "ood", "all", 0.926),
    ],
)
def test_expected_accuracy_agrees_with_the_specification(K, split, prior, expected):
    task = SRAVEN(M=4, K=K)
    _, probability = ideal_observer(task.sample(split, 0, 50_000).context, K, task.combinations(prior))
    assert abs(probability.mean() - expected) < STANDARD_ERRORS * 0.005


def test_unique_instances_are_certain():
    task = SRAVEN(M=4, K=8, answers="unique")
    batch = task.sample("train", 0, 5_003)
    answer, probability = ideal_observer(batch.context, 8, task.combinations("all"))
    assert probability == pytest.approx(1)
    assert np.array_equal(answer, batch.target)


def test_certainty_means_one_answer_under_the_full_prior():
    task = SRAVEN(M=4, K=5)
    context = task.sample("all", 0, 5_003).context
    _, probability = ideal_observer(context, 5, task.combinations("all"))
    assert np.array_equal(probability > 1 - 1e-9, count_answers(context, 5) == 1)


def test_order_and_repetition_of_combinations_do_not_matter():
    task = SRAVEN(M=3, K=4)
    context, known = task.sample("all", 0, 211).context, task.combinations("train")
    expected = ideal_observer(context, 4, known)
    rng = np.random.default_rng(3)
    shuffled = rng.permuted(rng.permutation(np.concatenate([known, known[:7]])), axis=1)
    for a, b in zip(expected, ideal_observer(context, 4, shuffled), strict=True):
        assert np.array_equal(a, b)


@pytest.mark.parametrize("threads", [1, 2, 3, None])
def test_any_number_of_threads_observes_the_same(threads):
    task = SRAVEN(M=3, K=5)
    context = task.sample("train", 0, 20_011).context
    expected = ideal_observer(context, 5, task.combinations("train"), threads=1)
    found = ideal_observer(context, 5, task.combinations("train"), threads=threads)
    assert all(np.array_equal(a, b) for a, b in zip(expected, found, strict=True))


@pytest.mark.parametrize(("M", "K"), [(6, 3), (8, 5)])
def test_memory_that_is_outgrown_changes_nothing(monkeypatch, M, K):
    task = SRAVEN(M=M, K=K, holdout=0)
    context = task.sample("all", 0, 23).context
    grown = ideal_observer(context, K, task.combinations("all"))
    for capacity in (1, 1 << 14):
        monkeypatch.setattr(explanations, "FIRST_CAPACITY", capacity)
        found = ideal_observer(context, K, task.combinations("all"))
        assert all(np.array_equal(a, b) for a, b in zip(grown, found, strict=True))


def test_too_many_explanations_are_an_error(monkeypatch):
    monkeypatch.setattr(explanations, "CAPACITY_LIMIT", explanations.FIRST_CAPACITY)
    task = SRAVEN(M=8, K=4, holdout=0)
    with pytest.raises(CapacityError, match="use a larger K or a smaller M"):
        ideal_observer(task.sample("all", 0, 23).context, 4, task.combinations("all"))


def test_answers_have_their_documented_shapes_and_types():
    answer, probability = ideal_observer(np.zeros((5, 8, 3), int), 7, [[0, 0, 0]])
    assert (answer.shape, answer.dtype) == ((5, 3), np.uint8)
    assert (probability.shape, probability.dtype) == ((5,), np.float64)
    answer, probability = ideal_observer(np.zeros((0, 8, 3), int), 7, [[0, 0, 0]])
    assert answer.shape == (0, 3)
    assert probability.shape == (0,)


@pytest.mark.parametrize(
    ("context", "K", "combinations", "parts"),
    [
        (np.zeros((5, 9, 3), int), 7, [[0, 0, 0]], ("context has shape [5, 9, 3]", "[n, 8, M]")),
        (np.zeros((5, 8, 3)), 7, [[0, 0, 0]], ("context has dtype float64", "integers")),
        (np.full((5, 8, 3), 7), 7, [[0, 0, 0]], ("context contains 7", "from 0 to 6")),
        (np.zeros((5, 8, 13), int), 7, [[0] * 13], ("M=13", "from 1 to 12")),
        (np.zeros((5, 8, 3), int), 2, [[0, 0, 0]], ("K=2", "from 3 to 256")),
        (np.zeros((5, 8, 3), int), 7, [[0, 0]], ("combinations has shape [1, 2]", "3]")),
        (np.zeros((5, 8, 3), int), 7, [0, 0, 0], ("combinations has shape [3]", "3]")),
        (np.zeros((5, 8, 3), int), 7, [[0.5, 0, 0]], ("combinations has dtype float64", "integers")),
        (np.zeros((5, 8, 3), int), 7, [[0, 0, 8]], ("combinations contains 8", "from 0 to 7")),
        (np.zeros((5, 8, 3), int), 7, [[0, -1, 0]], ("combinations contains -1", "from 0 to 7")),
        (np.zeros((5, 8, 3), int), 7, np.zeros((0, 3), int), ("combinations is empty", "at least one")),
    ],
)
def test_bad_arguments_are_refused(context, K, combinations, parts):
    with pytest.raises(ConfigurationError) as raised:
        ideal_observer(context, K, combinations)
    for part in parts:
        assert part in str(raised.value)
