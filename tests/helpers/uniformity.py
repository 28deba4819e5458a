"""Chi-square checks of counts from a fixed seed: they pass or fail for good, never by luck."""

import numpy as np
from scipy.stats import chisquare, norm

STANDARD_ERRORS = 4.0


def assert_uniform(counts):
    """Check that all cells of a table of counts are equally probable.

    At least five counts a cell are required, so that chi-square has its usual distribution.
    """
    observed = np.ravel(counts)
    assert observed.mean() >= 5, f"{observed.mean():.1f} counts a cell are too few"
    statistic, p = chisquare(observed)
    assert p > norm.sf(STANDARD_ERRORS), f"chi-square {statistic:.1f} on {observed.size} cells, p = {p:.1g}"
