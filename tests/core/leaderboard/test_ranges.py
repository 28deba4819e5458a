"""Ranges of ranks: neighbours that a few seeds don't tell apart share theirs; combinations are paired."""

import hashlib
from dataclasses import replace

import numpy as np
import pytest

from helpers.leaderboard_example import make_entry
from helpers.standings import entries_of, judged, scoring
from sraven.core.leaderboard import ranges
from sraven.core.leaderboard.ranges import rank_ranges
from sraven.core.leaderboard.standing import Combinations


def entry(name, value, error=0.01, *, means=None, **changes):
    """Return an entry with an interval over instances of no width, if nothing else is said."""
    apart = Combinations((10,) * len(means), tuple(means)) if means is not None else None
    digest = hashlib.sha256(name.encode()).hexdigest()
    usual = {"standard_error": error, "combinations": apart, "interval": (value, value), "digest": digest}
    return make_entry(name, value, **{**usual, **changes})


def found(*entries, higher_is_better=True):
    ranked = [replace(each, rank=place) for place, each in enumerate(entries, 1)]
    return rank_ranges(ranked, higher_is_better=higher_is_better)


def test_entries_that_are_apart_have_their_rank_alone_and_neighbours_share():
    near, far = entry("near", 0.51), entry("far", 0.1, 0.001)
    assert found(entry("best", 0.52), near, far) == [(1, 2), (1, 2), (3, 3)]
    assert found(entry("best", 0.52, 0.0), replace(near, standard_error=None), far) == [
        (1, 1),
        (2, 2),
        (3, 3),
    ]


def test_lowest_is_first_where_less_is_better():
    assert found(entry("a", 0.1), entry("b", 0.9), higher_is_better=False) == [(1, 1), (2, 2)]


def test_three_seeds_have_the_tails_of_two_degrees_of_freedom():
    for seeds, most in ((2, 12.706), (3, 4.303), (5, 2.776)):  # what |t| passes in 5 % of cases
        drawn = ranges._scores(entry("a", 0.0, 1.0, seeds=seeds))
        assert (np.abs(drawn) > most).mean() == pytest.approx(0.05, abs=0.02)
        assert np.median(drawn) == pytest.approx(0, abs=0.1)


def test_combinations_are_the_same_ones_for_all_entries():
    """One is ahead on each combination, whichever are drawn; apart, their intervals overlap widely."""
    means = np.linspace(0, 0.9, 9)
    better, worse = (entry(name, 0, None, means=means + more) for name, more in (("b", 0.01), ("w", 0)))
    assert found(better, worse) == [(1, 1), (2, 2)]
    mixed = entry("w", 0, None, means=means[::-1] - 0.01)
    assert found(better, mixed) == [(1, 2), (1, 2)]


def test_range_is_what_a_loop_finds():
    entries = [entry(f"e{n}", 0.5 - n / 100, 0.008, means=np.arange(5) / 9 - n / 90) for n in range(4)]
    drawn, wanted = [ranges._scores(each).tolist() for each in entries], []
    for place, own in enumerate(drawn, 1):
        ranks = sorted(1 + sum(other[n] > own[n] for other in drawn) for n in range(len(own)))
        wanted.append((min(ranks[25], place), max(ranks[974], place)))
    assert found(*entries) == wanted and wanted[0] != (1, 1)


def test_who_else_is_there_and_in_which_order_changes_no_draw():
    a, b, c = (entry(name, 0.5, 0.05) for name in "abc")
    forward, backward = (rank_ranges(each, higher_is_better=True) for each in ([a, b, c], [c, b, a]))
    assert forward == backward[::-1]


def test_one_run_on_a_board_without_combinations_has_the_interval_of_its_instances():
    one, other = (entry(name, value, None, seeds=1) for name, value in (("a", 0.52), ("b", 0.5)))
    assert found(one, other) == [(1, 1), (2, 2)]
    wide = [replace(each, interval=(each.value - 0.03, each.value + 0.03)) for each in (one, other)]
    assert found(*wide) == [(1, 2), (1, 2)]


@pytest.mark.usefixtures("small_boards")
def test_entries_of_each_budget_have_ranges_of_their_own():
    made = {
        f"sraven-small-v1/20261123-{name}": scoring(value, name, training={"instances": instances})
        for name, value, instances in (
            ("a", 0.7, 2_000),
            ("b", 0.695, 2_000),
            ("c", 0.1, 2_000),
            ("d", 0.9, 10),
        )
    } | {"sraven-small-v1/20261123-o": scoring(0.99, "o", training={"selection_split": "ood"})}
    ranged = {each.method: (each.rank, each.rank_range) for each in entries_of(judged(made))}
    assert ranged == {
        "a": (1, (1, 2)),
        "b": (2, (1, 2)),
        "c": (3, (3, 3)),
        "d": (1, (1, 1)),
        "o": (None, None),
    }
