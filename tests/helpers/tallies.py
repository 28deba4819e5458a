"""Tallies of wrong answers beside counts by loops."""

from collections import Counter


def assert_tallied(tallies, expected):
    """Compare tallies with Counters of (row, column), by name; a column None stands for what is right."""
    assert list(tallies) == list(expected)
    for name, tally in tallies.items():
        totals = Counter()
        for (row, _), count in expected[name].items():
            totals[row] += count
        assert dict(zip(tally.rows, tally.totals.tolist(), strict=True)) == totals
        counts = {
            (row, column): int(count)
            for row, counts in zip(tally.rows, tally.counts, strict=True)
            for column, count in zip(tally.columns, counts, strict=True)
            if count
        }
        assert counts == {cell: count for cell, count in expected[name].items() if cell[1]}
    assert (tallies["overall"].counts > 0).all()  # each kind comes up
