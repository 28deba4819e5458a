"""What a method keeps of its score on held-out combinations, against numbers worked by hand."""

from dataclasses import asdict

import pytest

from sraven import SRAVEN
from sraven.scoring.combinations import count_new_pairs
from sraven.scoring.composing import measure_composing

TASK = SRAVEN(M=3, K=8, holdout="blocks", seed=0)


def scores_of(task, score, instances=lambda split, row: 100):
    """Return scores by combination as `scores.json` has them, by functions of split and rules."""

    def of_split(split):
        rows = task.combinations(split).tolist()
        return {
            "combination": task.combination_indices(split).tolist(),
            "instances": [instances(split, row) for row in rows],
            "mean": [score(split, row) for row in rows],
        }

    return {split: {"by_combination": {"accuracy": of_split(split)}} for split in ("test", "ood")}


def measure(task, *functions):
    return measure_composing(task, scores_of(task, *functions), "accuracy", "ood")


def test_kept_is_held_out_by_known_with_each_combination_counting_by_its_instances():
    found = measure(TASK, lambda split, row: {"test": 0.8, "ood": 0.2}[split])
    assert (found.known.value, found.held_out.value, found.kept.value) == (0.8, 0.2, 0.25)
    assert found.kept.interval == (0.25, 0.25)  # all combinations alike: nothing to resample
    assert found.at_equal_parts.value == pytest.approx(-0.6)
    [pairs] = found.by_new_pairs  # of three rules of two blocks, two pairs are across
    assert (pairs.pairs, pairs.combinations, pairs.instances, pairs.score.value) == (2, 80, 8_000, 0.2)
    assert pairs.at_equal_parts == found.at_equal_parts
    first = TASK.combinations("ood")[0].tolist()
    found = measure(
        TASK,
        lambda split, row: 1.0 if split == "test" or row == first else 0.0,
        lambda split, row: 79 if row == first else 1,
    )
    assert found.kept.value == 0.5


def test_scores_are_apart_by_new_pairs():
    task = SRAVEN(M=4, K=8, holdout="blocks")
    new = count_new_pairs(task.combinations("ood"), task.combinations("train"))
    by_rule = dict(zip(map(tuple, task.combinations("ood").tolist()), new.tolist(), strict=True))
    found = measure(task, lambda split, row: 1 / by_rule.get(tuple(row), 1))
    assert [(each.pairs, each.score.value) for each in found.by_new_pairs] == [
        (3, pytest.approx(1 / 3)),
        (4, 0.25),
    ]
    assert sum(each.combinations for each in found.by_new_pairs) == 260
    effects = [each.at_equal_parts.value for each in found.by_new_pairs]
    assert effects == [pytest.approx(-2 / 3), pytest.approx(-3 / 4)]


def test_nothing_is_said_where_scores_do_not_tell():
    scores = scores_of(TASK, lambda split, row: 0.0)
    assert measure_composing(TASK, {"ood": scores["ood"]}, "accuracy", "ood") is None
    assert measure_composing(TASK, scores, "feature_accuracy", "ood") is None
    nothing = measure_composing(TASK, scores, "accuracy", "ood")
    assert asdict(nothing.kept) == {"value": None, "interval": None}
