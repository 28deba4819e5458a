"""Intervals over combinations: samples draw combinations, since instances of one fail together."""

import json

import numpy as np
import pytest

from helpers.checkout import REPOSITORY
from helpers.evidence_example import make_evidence
from sraven.core.boards.board import read_board
from sraven.core.boards.bootstrap import SAMPLES, bootstrap_sums, resample_combinations
from sraven.core.boards.scoring import interval_over_combinations
from sraven.core.leaderboard.entries import entry_of

FUZZY = REPOSITORY / "docs" / "leaderboard" / "submissions" / "fuzzylogic-v1"


def apart(means, instances):
    return {"by_combination": {"accuracy": {"mean": means, "instances": instances}}}


def test_samples_are_those_of_a_loop():
    means, instances = [0.25, 1.0, 0.5], [2, 3, 7]
    # What each sample draws of three: the sums over three groups of one instance each say it.
    drawn = np.concatenate([apart for _, apart in bootstrap_sums(np.ones((3, 1)), np.arange(3), 3, 1)])[
        :, :, 0
    ]
    wanted = []
    for counts in drawn.tolist():
        right = shown = 0.0
        for count, mean, n in zip(counts, means, instances, strict=True):
            right += count * n * mean
            shown += count * n
        wanted.append(right / shown)
    assert (drawn.sum(axis=1) == 3).all() and len(wanted) == SAMPLES
    assert resample_combinations(means, instances) == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize(
    ("entry", "ends", "over_instances"),
    [
        ("20261122-softmax-6-400-000-instances", (0.503, 0.643), (0.558, 0.596)),
        ("20261122-hyla-6-400-000-instances", (0.835, 0.877), (0.849, 0.865)),
    ],
)
def test_intervals_of_filed_entries_are_those_of_other_code(entry, ends, over_instances):
    """The figures were computed apart, with other draws: they agree to what 1,000 samples tell."""
    found = json.loads((FUZZY / entry / "scores.json").read_text())["splits"]["ood"]
    assert interval_over_combinations(found, "r2_per_sequence") == pytest.approx(ends, abs=0.005)
    assert found["metrics"]["r2_per_sequence"]["interval"] == pytest.approx(over_instances, abs=0.003)


def test_one_combination_or_alike_ones_have_no_spread():
    assert interval_over_combinations(apart([0.75], [9]), "accuracy") == (0.75, 0.75)
    assert interval_over_combinations(apart([0.5, 0.5], [9, 1]), "accuracy") == (0.5, 0.5)


@pytest.mark.parametrize("scores", [{}, apart([0.5, None], [9, 1]), {"by_combination": {}}])
def test_what_is_not_known_by_combination_has_none(scores):
    assert interval_over_combinations(scores, "accuracy") is None


def test_entry_shows_it_where_there_is_one():
    evidence = make_evidence(scores={"ood": {"accuracy": [0.5] * 3}})
    plain = entry_of("sraven-v1/20261121-a", evidence)
    board, twins = read_board("sraven-v1"), read_board("sraven-twins-v1")
    assert plain.shown_interval == plain.interval == (0.48, 0.52)
    assert (plain.resampled(board), plain.resampled(twins)) == ("instances", "sets")
    evidence.scores["splits"]["ood"].update(apart([0.25, 0.75], [9, 9]))
    entry = entry_of("sraven-v1/20261121-a", evidence)
    assert entry.shown_interval == (0.25, 0.75) and entry.interval == plain.interval
    assert entry.resampled(board) == "combinations"
