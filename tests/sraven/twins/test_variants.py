"""Sets of twins: what each variant is of the first, by plain NumPy and the slow oracle."""

import numpy as np
import pytest

from helpers import oracle
from helpers.refusals import assert_refused
from sraven import SRAVEN
from sraven.core.errors import CapacityError
from sraven.twins import Twins

TASK = Twins(M=3, K=8, holdout=0.25, seed=0)
KINDS = ["first", *["columns"] * 4, *["rows"] * 2, *["values"] * 4, "negated"]
SETS = 40


def sets_of(task, split, count=SETS):
    """Return the variants of the first sets: arrays ``[count, size, ...]`` by name, and nine panels."""
    batch = task.sample(split, 0, count * task.size)._asdict()
    found = {name: array.reshape(count, task.size, *array.shape[1:]) for name, array in batch.items()}
    return found, np.concatenate([found["context"], found["target"][:, :, None]], axis=2)


@pytest.fixture(scope="module", params=["test", "ood"])
def drawn(request):
    return sets_of(TASK, request.param)


def aligned(panels, orders):
    """Return the three symbols of each row of each feature: ``[row, column, feature]``."""
    rows = np.zeros((3, 3, panels.shape[1]), int)
    for place, panel in enumerate(panels):
        for position, symbol in enumerate(panel):
            rows[place // 3, place % 3, orders[place % 3][position]] = symbol
    return rows


def test_a_set_has_the_kinds_in_their_order(drawn):
    assert list(TASK.kinds) == KINDS and TASK.size == len(KINDS)
    found, _ = drawn
    assert (found["set"] == np.arange(SETS)[:, None]).all()
    assert (found["variant"] == np.arange(TASK.size)).all()


def test_columns_show_the_same_rows_of_features_in_other_orders(drawn):
    found, panels = drawn
    others = 0
    for n in range(SETS):
        first = aligned(panels[n, 0], found["permutations"][n, 0])
        for v in range(1, 5):
            assert (aligned(panels[n, v], found["permutations"][n, v]) == first).all()
            assert (np.sort(panels[n, v]) == np.sort(panels[n, 0])).all()  # of each panel
            others += (found["permutations"][n, v] != found["permutations"][n, 0]).any(axis=1).sum()
    assert others > 0.7 * 3 * 4 * SETS  # an order of three is the same by chance once in six


def test_rows_are_moved_so_that_another_one_is_asked_for(drawn):
    found, panels = drawn
    for v, order in ((5, (2, 0, 1)), (6, (1, 2, 0))):
        moved = [3 * row + column for row in order for column in range(3)]
        assert (panels[:, v] == panels[:, 0][:, moved]).all()
        assert (found["target"][:, v] == found["context"][:, 0, (5, 2)[v - 5]]).all()


def test_values_are_others_under_the_same_rules_and_orders(drawn):
    found, panels = drawn
    for v in range(7, 11):
        for name in ("rules", "permutations", "combination"):
            assert (found[name][:, v] == found[name][:, 0]).all()
    assert (panels[:, 7:11] != panels[:, :1]).mean() > 0.8
    assert (panels[:, 7] != panels[:, 8]).mean() > 0.8


def test_negated_symbols_and_answers_are_those_of_the_first(drawn):
    _, panels = drawn
    assert ((panels[:, 11].astype(int) + panels[:, 0]) % TASK.K == 0).all()


def test_every_row_follows_the_rule_that_its_variant_names(drawn):
    found, panels = drawn
    for n in range(SETS):
        for v in range(TASK.size):
            rows = aligned(panels[n, v], found["permutations"][n, v])
            for feature, rule in enumerate(found["rules"][n, v].tolist()):
                assert oracle.follows(rule, rows[:, :, feature].tolist(), TASK.K)


# Certificates


@pytest.mark.parametrize(("M", "columns", "holdout"), [(1, 0, 0.0), (2, 3, 0.25), (3, 4, 0.25)])
def test_every_variant_has_one_answer_by_the_oracle_and_no_two_are_alike(M, columns, holdout):
    task = Twins(M=M, K=5, holdout=holdout, by_columns=columns)
    found, panels = sets_of(task, task.splits[-1], 8)
    for n in range(8):
        for v in range(task.size):
            context = [tuple(panel) for panel in found["context"][n, v].tolist()]
            assert oracle.answers(context, 5, True) == {tuple(found["target"][n, v].tolist())}
        assert len({panels[n, v, :8].tobytes() for v in range(task.size)}) == task.size


def test_first_puzzles_are_of_all_combinations_whose_negation_is_there():
    task = Twins(M=2, K=16, holdout=0.25, by_columns=0, by_rows=0, by_values=0)
    counts = np.bincount(task.sample("test", 0, 4_000).combination[::2], minlength=36)
    assert np.flatnonzero(counts).tolist() == task.drawn_combinations("test").tolist()
    assert counts[counts > 0].min() > 0.6 * counts[counts > 0].mean()


@pytest.mark.parametrize(
    ("name", "told"),
    [("set", "set and variant aren't those of the index"), ("target", "a row doesn't follow its rule")],
)
def test_rows_of_a_dataset_that_were_changed_are_found(name, told):
    rows = TASK.rows
    arrays = dict(rows.encode("ood", 7, 30, 1).columns)
    assert rows.find_faults("ood", arrays) == []
    arrays[name] = (arrays[name] + 1) % TASK.K
    assert rows.find_faults("ood", arrays)[0].startswith(told)


# Combinations


def test_all_variants_are_of_combinations_of_their_split():
    for split in ("train", "test", "ood"):
        there = set(map(tuple, TASK.combinations(split).tolist()))
        found, _ = sets_of(TASK, split)
        assert {tuple(rules) for rules in found["rules"].reshape(-1, 3).tolist()} <= there
        every = TASK.combinations("all")
        assert (every[found["combination"]] == found["rules"]).all()


def test_puzzles_are_drawn_from_all_combinations_without_negated_twins():
    alone = Twins(M=3, by_negation=0)
    assert (alone.drawn_combinations("ood") == SRAVEN(M=3).combination_indices("ood")).all()
    assert [len(Twins().drawn_combinations(split)) for split in ("train", "ood")] == [191, 25]


# What is refused


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"M": 1, "holdout": 0}, "by_columns=4: .*0 to 0.*one order"),
        ({"by_rows": 3}, "by_rows=3: .*0 to 2"),
        ({"by_negation": 2}, "by_negation=2: .*0 to 1"),
        ({"M": 2, "holdout": 0.03, "seed": 2}, "no combination of ood has its .*use by_negation=0"),
    ],
)
def test_what_no_set_can_have_is_refused(values, told):
    assert_refused(told, Twins, **values)


def test_sets_that_there_are_not_end_in_a_line(monkeypatch):
    monkeypatch.setattr("sraven.twins.task._ATTEMPT_LIMIT", 3)
    with pytest.raises(CapacityError, match="3 puzzles in a row lacked a twin with one answer at M=2, K=3"):
        Twins(M=2, K=3, by_columns=64, by_negation=0).sample("test", 0, 1)


# Scores of sets by hand


FOURS = Twins(M=2, K=11, by_columns=0, by_rows=1, by_values=2, by_negation=0)
"""Sets of four: the first puzzle, a row, two values."""

BATCH = FOURS.sample("ood", 0, 5 * 4)

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


@pytest.mark.parametrize("order", [np.arange(20), np.random.default_rng(0).permutation(20)])
def test_scores_are_those_by_hand_in_any_order_of_instances(order):
    predictions = predict(FOURS, BATCH, SOLVED)
    assert means(FOURS.score(BATCH[order], predictions[order])) == pytest.approx(BY_HAND, abs=1e-8)


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


def test_what_is_left_of_a_set_that_is_cut_does_not_count():
    predictions = predict(FOURS, BATCH, SOLVED)
    cut = FOURS.score(BATCH[1:18], predictions[1:18])  # of sets 1 to 3
    assert means(cut) == means(FOURS.score(BATCH[4:16], predictions[4:16]))
    assert set(means(FOURS.score(BATCH[1:4], predictions[1:4])).values()) == {None}


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
    batch = FOURS.sample("test", 0, 400)
    scored = means(FOURS.score(batch, predict(FOURS, batch, solved)))
    names = "pass_all", "pass_mean", "pass_any", "independent", "systematicity"
    for name, value in zip(names, found, strict=True):
        assert scored[name] == (value if value is None else pytest.approx(value, abs=1e-8)), name


def test_intervals_are_over_sets():
    """Of sets that are solved as a whole, the interval is that of their number, not of all variants."""
    batch = FOURS.sample("test", 0, 4_000)
    solved = np.repeat(np.arange(1_000) % 2, 4)
    found = FOURS.score(batch, predict(FOURS, batch, solved)).metrics
    for name in ("pass_all", "pass_mean", "pass_any"):
        low, high = found[name].interval
        assert high - low == pytest.approx(2 * 1.96 * (0.25 / 1_000) ** 0.5, rel=0.1), name
    assert found["systematicity"].interval == (1, 1)


def test_guessing_scores_what_it_says():
    chance, hit = FOURS.scoring.chance, 11.0**-2
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
