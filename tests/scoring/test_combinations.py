"""What is new in combinations, against plain Python that shares no code, and by hand."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sraven import SRAVEN
from sraven.scoring.combinations import combines_known, count_new_pairs, divergences, revealed_parts


def rows_of(M):
    return st.lists(st.lists(st.integers(0, 6), min_size=M, max_size=M).map(sorted), min_size=1, max_size=9)


TABLES = st.integers(2, 5).flatmap(lambda M: st.tuples(rows_of(M), rows_of(M)))


def parts_of(row, size):
    """Return the sub-multisets of a row, each as often as it is there."""
    return Counter(tuple(row[at] for at in places) for places in combinations(range(len(row)), size))


@given(TABLES, st.integers(1, 5))
def test_what_is_new_agrees_with_plain_python(tables, order):
    rows, known = tables
    order = min(order, len(rows[0]))
    seen = {part for row in known for part in parts_of(row, order)}
    believed = combines_known(np.array(rows), np.array(known), order)
    assert believed.tolist() == [set(parts_of(row, order)) <= seen for row in rows]
    pairs = {pair for row in known for pair in parts_of(row, 2)}
    expected = [sum(n for pair, n in parts_of(row, 2).items() if pair not in pairs) for row in rows]
    assert count_new_pairs(np.array(rows), np.array(known)).tolist() == expected


@given(TABLES, st.integers(2, 4).flatmap(rows_of))
def test_what_others_show_agrees_with_plain_python(tables, shown):
    held_out, known = tables
    expected = []
    for size in range(2, min(len(held_out[0]), len(shown[0])) + 1):
        of = [{part for row in rows for part in parts_of(row, size)} for rows in (held_out, known, shown)]
        expected += (of[0] - of[1]) & of[2]
    found = revealed_parts(*map(np.array, (held_out, known, shown)))
    assert sorted(found) == sorted(expected)


def test_divergences_by_hand():
    known, held_out = np.array([[0, 0], [1, 1]]), np.array([[0, 1]])
    assert divergences(known, held_out) == (0.0, 1.0)  # the same rules, no pair in common
    assert divergences(known, known) == (0.0, 0.0)
    half = np.array([[0, 0], [0, 0], [0, 0], [1, 1]])  # p = (1/2, 1/2), q = (3/4, 1/4)
    atoms, compounds = 1 - (0.375**0.5 + 0.125**0.5), 1 - 0.5**0.1 * (0.75**0.9 + 0.25**0.9)
    assert divergences(known, half) == pytest.approx((atoms, compounds))
    assert divergences(np.array([[0], [1]]), np.array([[0]])).compounds == 0.0


# Measured by other code.
@pytest.mark.parametrize(
    ("holdout", "expected"),
    [(0.25, (0.004, 0.007)), ("pairs", (0, 0.245)), ("blocks", (0, 0.526)), ("repeats", (0, 0.258))],
)
def test_divergences_of_the_papers_setting(holdout, expected):
    task = SRAVEN(M=4, K=8, holdout=holdout)
    found = divergences(task.combinations("train"), task.combinations("ood"))
    assert found == pytest.approx(expected, abs=5e-4)
