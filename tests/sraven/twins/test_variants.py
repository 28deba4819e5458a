"""Sets of twins: what each variant is of the first, by plain NumPy and the slow oracle."""

import numpy as np
import pytest

from helpers import oracle
from sraven import SRAVEN, ConfigurationError
from sraven.core.base.errors import CapacityError
from sraven.core.tasks.families import rows_of
from sraven.rules import RULES
from sraven.splits import rule_combinations
from sraven.twins import Twins
from sraven.twins.variants import NEGATION, negated_combinations

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


@pytest.mark.parametrize("rule", range(len(RULES)))
@pytest.mark.parametrize("K", [3, 4, 8, 9])
def test_rules_that_fit_fit_in_any_order_of_rows_and_negated(rule, K):
    draws = np.random.default_rng(rule).integers(0, K, (3, 3, 20_000))
    if rule == 7:
        draws = np.stack([np.random.default_rng(row).permuted(draws[0], axis=0) for row in range(3)], axis=1)
    else:
        draws = np.stack(RULES[rule].draw(draws[0], draws[1], K))
    x, y, z = np.broadcast_to(draws, (3, 3, 20_000))
    fitting = RULES[rule].fits(x, y, z, K)
    assert fitting.any() and (rule == 7 or fitting.all())
    for order in ([1, 2, 0], [2, 0, 1], [1, 0, 2]):
        assert (RULES[rule].fits(x[order], y[order], z[order], K) == fitting).all()
    assert (RULES[NEGATION[rule]].fits(-x % K, -y % K, -z % K, K) == fitting).all()


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
    rows = rows_of(TASK)
    arrays = dict(rows.encode("ood", 7, 30, 1).columns)
    assert rows.find_faults("ood", arrays) == []
    arrays[name] = (arrays[name] + 1) % TASK.K
    assert rows.find_faults("ood", arrays)[0].startswith(told)


# Combinations


@pytest.mark.parametrize("M", [1, 2, 4])
def test_negation_of_combinations(M):
    rows, negated = rule_combinations(M), negated_combinations(M)
    assert (rows[negated] == np.sort(NEGATION[rows], axis=1)).all()
    assert (negated[negated] == np.arange(len(rows))).all()


def test_all_variants_are_of_combinations_of_their_split():
    for split in ("train", "test", "ood"):
        there = set(map(tuple, TASK.combinations(split).tolist()))
        found, _ = sets_of(TASK, split)
        assert {tuple(rules) for rules in found["rules"].reshape(-1, 3).tolist()} <= there
        every = TASK.combinations("all")
        assert (every[found["combination"]] == found["rules"]).all()


def test_combinations_are_divided_as_those_of_sraven():
    other = SRAVEN(M=3, K=8, holdout=0.25, seed=0)
    for split in ("train", "ood"):
        assert (TASK.combination_indices(split) == other.combination_indices(split)).all()
    alone = Twins(M=3, by_negation=0)
    assert (alone.drawn_combinations("ood") == alone.combination_indices("ood")).all()
    assert {split: len(Twins().drawn_combinations(split)) for split in ("train", "ood")} == {
        "train": 191,
        "ood": 25,
    }


# What is refused


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"M": 1, "holdout": 0}, "by_columns=4: .*0 to 0.*one order"),
        ({"by_rows": 3}, "by_rows=3: .*0 to 2"),
        ({"by_negation": 2}, "by_negation=2: .*0 to 1"),
        (
            {"M": 2, "holdout": 0.03, "seed": 2},
            "no combination of ood has its negation there .*use by_negation=0",
        ),
    ],
)
def test_what_no_set_can_have_is_refused(values, told):
    with pytest.raises(ConfigurationError, match=told):
        Twins(**values)


def test_sets_that_there_are_not_end_in_a_line(monkeypatch):
    monkeypatch.setattr("sraven.twins.task._ATTEMPT_LIMIT", 3)
    with pytest.raises(CapacityError, match="3 puzzles in a row lacked a twin with one answer at M=2, K=3"):
        Twins(M=2, K=3, by_columns=64, by_negation=0).sample("test", 0, 1)
