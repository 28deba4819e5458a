"""Scores of sets by hand: how many are solved in every variant, and in any, and the two lines beside them."""

import numpy as np
import pytest

from sraven.twins import Twins

TASK = Twins(M=2, K=11, by_columns=0, by_rows=1, by_values=2, by_negation=0)
"""Sets of four: the first puzzle, a row, two values."""

BATCH = TASK.sample("ood", 0, 5 * 4)

SOLVED = [[1, 1, 1, 1], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0], [1, 0, 1, 1]]
"""Which variants of five sets are solved."""

BY_HAND = {
    "pass_all": 1 / 5,
    "pass_mean": 10 / 20,
    "pass_any": 4 / 5,
    "independent": 0.5**4,
    "systematicity": (1 / 5 - 1 / 16) / (1 / 2 - 1 / 16),
    "pass_all.rows": 2 / 5,
    "pass_mean.rows": 5 / 10,
    "pass_any.rows": 3 / 5,
    "independent.rows": 0.5**2,
    "systematicity.rows": (2 / 5 - 1 / 4) / (1 / 2 - 1 / 4),
    "pass_all.values": 2 / 5,
    "pass_mean.values": 8 / 15,
    "pass_any.values": 4 / 5,
    "independent.values": (8 / 15) ** 3,
    "systematicity.values": (2 / 5 - (8 / 15) ** 3) / (8 / 15 - (8 / 15) ** 3),
}


def predict(task, batch, solved):
    """Return predictions that are right where ``solved`` says so."""
    wrong = ((batch.target.astype(int) + 1) % task.K).astype(np.uint8)
    return np.where(np.asarray(solved, bool).reshape(-1, 1), batch.target, wrong)


def means(found):
    return {name: score.mean for name, score in found.metrics.items() if "by_combination" not in name}


def test_scores_are_those_by_hand():
    found = TASK.score(BATCH, predict(TASK, BATCH, SOLVED))
    assert means(found) == pytest.approx(BY_HAND, abs=1e-8)


def test_line_by_combination_is_the_mean_of_products():
    task = Twins(M=2, K=11, by_columns=0, by_rows=1, by_values=0, by_negation=0)
    batch = task.sample("ood", 0, 600)
    first = batch.combination[::2]
    solved = np.random.default_rng(0).random((300, 2)) < (first[:, None] % 3) / 2
    share = {c: solved[first == c].mean() for c in first}
    found = task.score(batch, predict(task, batch, solved)).metrics
    assert len(share) > 5
    line = found["independent_by_combination"]
    assert line.mean == pytest.approx(np.mean([share[c] ** 2 for c in first]), abs=1e-8)
    assert line.interval is None and line.mean > found["independent"].mean + 0.05


def test_scores_do_not_depend_on_the_order_of_instances():
    order = np.random.default_rng(0).permutation(20)
    predictions = predict(TASK, BATCH, SOLVED)
    assert means(TASK.score(BATCH[order], predictions[order])) == pytest.approx(BY_HAND, abs=1e-8)


def test_what_is_left_of_a_set_that_is_cut_does_not_count():
    predictions = predict(TASK, BATCH, SOLVED)
    cut = TASK.score(BATCH[1:18], predictions[1:18])  # of sets 1 to 3
    assert means(cut) == means(TASK.score(BATCH[4:16], predictions[4:16]))
    assert set(means(TASK.score(BATCH[1:4], predictions[1:4])).values()) == {None}


@pytest.mark.parametrize(
    ("solved", "found"),
    [
        (np.ones(400), (1, 1, 1, 1, 1)),
        (np.zeros(400), (0, 0, 0, 0, None)),
        (np.repeat(np.arange(100) % 4 < 1, 4), (0.25, 0.25, 0.25, 0.25**4, 1)),  # all or nothing
        (np.tile([1, 0, 0, 0], 100), (0, 0.25, 1, 0.25**4, -(0.25**4) / (0.25 - 0.25**4))),
    ],
)
def test_lines_and_what_is_on_them(solved, found):
    batch = TASK.sample("test", 0, 400)
    scored = means(TASK.score(batch, predict(TASK, batch, solved)))
    names = "pass_all", "pass_mean", "pass_any", "independent", "systematicity"
    for name, value in zip(names, found, strict=True):
        assert scored[name] == (value if value is None else pytest.approx(value, abs=1e-8)), name


def test_who_solves_each_variant_by_itself_has_no_systematicity():
    batch = TASK.sample("test", 0, 40_000)
    solved = np.random.default_rng(1).random(40_000) < 0.7
    found = TASK.score(batch, predict(TASK, batch, solved)).metrics
    low, high = found["systematicity"].interval
    assert low < 0 < high and high - low < 0.06
    assert found["pass_all"].mean == pytest.approx(0.7**4, abs=0.02)


def test_intervals_are_over_sets():
    """Of sets that are solved as a whole, the interval is that of their number, not of all variants."""
    batch = TASK.sample("test", 0, 4_000)
    solved = np.repeat(np.arange(1_000) % 2, 4)
    found = TASK.score(batch, predict(TASK, batch, solved)).metrics
    for name in ("pass_all", "pass_mean", "pass_any"):
        low, high = found[name].interval
        assert high - low == pytest.approx(2 * 1.96 * (0.25 / 1_000) ** 0.5, rel=0.1), name
    assert found["systematicity"].interval == (1, 1)


def test_guessing_scores_what_it_says():
    chance, hit = TASK.scoring.chance, 11.0**-2
    assert chance == {"pass_all": hit**4, "pass_mean": hit, "pass_any": pytest.approx(4 * hit, rel=0.02)}


# References


def test_references_are_right_and_wrong_as_they_say():
    task = Twins(M=2, K=11)
    predictors, scores = task.references.predictors, {}
    for name in ("ideal-observer", "composition-blind", "order-blind"):
        scores[name] = means(task.score("ood", predictors[name].predict("ood", 600, 0)))
    assert {scores["ideal-observer"][name] for name in ("pass_all", "pass_mean", "systematicity")} == {1}
    assert scores["composition-blind"]["pass_mean"] < 0.6 and scores["order-blind"]["pass_mean"] < 0.6


def test_order_blind_solves_what_shows_all_columns_in_one_order():
    task = Twins(M=2, K=11)
    batch = task.sample("test", 0, 1_200)
    panels = task.references.predictors["order-blind"].predict("test", 1_200, 0)
    right = (panels == batch.target).all(axis=1)
    alike = (batch.permutations == batch.permutations[:, :1]).all(axis=(1, 2))
    assert right[alike].all() and right[~alike].mean() < 0.4


@pytest.mark.parametrize("split", ["test", "ood"])
def test_ceilings_are_one(split):
    for metrics in Twins(M=2).references.ceilings(split, 10, None).values():
        assert {mean.value for mean in metrics.values()} == {1.0}
        assert set(metrics) == {"pass_all", "pass_mean", "pass_any"}
