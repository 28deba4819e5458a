"""The metrics of the fuzzy-logic task, by hand and by definition."""

import numpy as np
import pytest

from fuzzylogic import score
from sraven import ConfigurationError

# Two sequences of three targets; the last one is the query's.
TARGETS = np.array([[0.0, 0.5, 1.0], [0.2, 0.2, 0.8]], np.float32)


def test_scores_worked_by_hand():
    scores = score(np.array([0.5, 0.8], np.float32), TARGETS)
    # Errors: 0.25 and 0. Queries 1.0 and 0.8: mean 0.9, SST = 0.01 + 0.01.
    # Variance of the first sequence: (0.25 + 0 + 0.25) / 3 = 1/6, so 1 - 0.25 * 6 = -0.5; the second: 1.
    assert scores.mse == pytest.approx(0.125)
    assert scores.r2 == pytest.approx(1 - 0.25 / 0.02, rel=1e-5)
    assert scores.r2_per_sequence == pytest.approx(0.25, rel=1e-5)
    perfect = score(TARGETS[:, -1], TARGETS)
    assert (perfect.mse, perfect.r2, perfect.r2_per_sequence) == (0, 1, 1)


def test_sequences_without_variance_are_left_out_of_the_papers_r2():
    targets = np.array([[0.5, 0.5], [0.0, 1.0]], np.float32)
    assert score(np.array([0.1, 1.0]), targets).r2_per_sequence == 1


@pytest.mark.parametrize(
    ("predictions", "targets", "message"),
    [
        (np.zeros(3), TARGETS, r"predictions .*\[3\].*\[2\]"),
        (np.array([0.1, np.nan]), TARGETS, r"predictions\[1\] is nan"),
        (np.array([np.inf, 0.1]), TARGETS, r"predictions\[0\] is inf"),
        (np.zeros(2, int), TARGETS, "int64"),
        (np.zeros(0), np.zeros((0, 3)), "nothing to score"),
        (np.zeros(2), TARGETS[0], r"targets .*\[3\]"),
    ],
)
def test_bad_input_is_refused(predictions, targets, message):
    with pytest.raises(ConfigurationError, match=message):
        score(predictions, targets)
