"""Chi-square checks of counts from a fixed seed: they pass or fail for good, never by luck."""

from math import sqrt

import numpy as np

STANDARD_ERRORS = 4.0


def chi_square_limit(degrees):
    """Return the value that chi-square exceeds with probability 3e-5 (Wilson and Hilferty 1931)."""
    spread = 2 / (9 * degrees)
    return degrees * (1 - spread + STANDARD_ERRORS * sqrt(spread)) ** 3


def assert_uniform(counts):
    """Check that all cells of a table of counts are equally probable.

    At least five counts a cell are required, so that chi-square has its usual distribution.
    """
    observed = np.asarray(counts, dtype=float).ravel()
    expected = observed.sum() / observed.size
    assert expected >= 5, f"{expected:.1f} counts a cell are too few"
    statistic = ((observed - expected) ** 2 / expected).sum()
    limit = chi_square_limit(observed.size - 1)
    assert statistic < limit, f"chi-square {statistic:.1f} on {observed.size} cells, limit {limit:.1f}"


def standard_error(share, count):
    """Return the standard error of a share that is counted on ``count`` instances."""
    return sqrt(share * (1 - share) / count)
