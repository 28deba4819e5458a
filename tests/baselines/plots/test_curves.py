"""Learning curves: runs found and grouped, seeds joined, and drawn in the terminal and as pictures."""

import json
from dataclasses import asdict, replace

import numpy as np
import pytest

from baselines.plots.curves import IN_TRAINING, LOSS, find_runs, read_curves, thin, to_json, view
from baselines.train.directory import CONFIG
from baselines.train.log import LOG
from helpers.tiny_runs import tiny
from sraven.board.board import read_board
from sraven.core.errors import ConfigurationError, OutputError
from sraven.files.files import write_json

EVERY = 3
"""Lines of a log from one with scores to the next."""


def write_run(folder, config, lines=6, scores=None, before=0.0):
    """Write a run whose loss at step s is 1 / s, and whose scores are given as functions of the step."""
    folder.mkdir(parents=True)
    write_json(folder / CONFIG, asdict(config))
    with open(folder / LOG, "w") as log:
        for number in range(1, lines + 1):
            line = {"step": 5 * number, "loss": 1 / (5 * number), "score": before + 0.1 * number}
            if scores and number % EVERY == 0:
                values = {split: score(5 * number) for split, score in scores.items()}
                line["scores"] = {split: {"r2_per_sequence": value} for split, value in values.items()}
            log.write(json.dumps(line) + "\n")
    return folder


SCORES = {"test": lambda step: step / 30, "ood": lambda step: step / 60, "ood_terms": lambda step: -step / 30}


def test_runs_are_found_below_a_directory_of_seeds_or_of_a_grid(tmp_path):
    places = ("rate=1/seed-0", "rate=1/seed-1", "rate=2/seed-0", "rate=2/seed-1")
    runs = [write_run(tmp_path / place, tiny(seed=int(place[-1]))) for place in places]
    assert find_runs([tmp_path]) == runs
    assert find_runs([tmp_path / "rate=2", runs[0]]) == [*runs[2:], runs[0]]
    assert find_runs([runs[1], runs[1]]) == [runs[1]]
    with pytest.raises(OutputError, match="seed-0/x holds no run; `sraven train` makes one"):
        find_runs([runs[0] / "x"])


def test_seeds_of_one_configuration_are_a_mean_with_its_error(tmp_path):
    for seed, before in enumerate((0.0, 0.1, 0.5)):
        write_run(tmp_path / f"seed-{seed}", tiny(seed=seed), before=before)
    (group,) = read_curves([tmp_path]).groups
    assert (group.title, list(group.folders)) == ("hyla, 3 seeds", [0, 1, 2])
    curve = group.curves[IN_TRAINING]
    assert curve.steps.tolist() == [5, 10, 15, 20, 25, 30]
    np.testing.assert_allclose(curve.mean, 0.1 * np.arange(1, 7) + 0.2)
    np.testing.assert_allclose(curve.error, np.std([0.0, 0.1, 0.5], ddof=1) / np.sqrt(3))
    np.testing.assert_allclose(curve.by_seed[2], 0.1 * np.arange(1, 7) + 0.5)


def test_configurations_are_named_by_what_tells_them_apart(tmp_path):
    write_run(tmp_path / "a", tiny(learning_rate=0.01))
    write_run(tmp_path / "b", tiny(learning_rate=0.03))
    write_run(tmp_path / "c", tiny("softmax", learning_rate=0.03))
    names = [group.name for group in read_curves([tmp_path / each for each in "cab"]).groups]
    assert names == ["softmax, learning rate 0.03", "hyla, learning rate 0.01", "hyla, learning rate 0.03"]


def test_curves_go_as_far_as_all_seeds_have_come_and_say_so(tmp_path):
    write_run(tmp_path / "seed-0", tiny(steps=30))
    write_run(tmp_path / "seed-1", tiny(steps=30, seed=1), lines=4)
    curves = read_curves([tmp_path])
    assert curves.groups[0].curves[LOSS].steps.tolist() == [5, 10, 15, 20]
    assert curves.notes == ("hyla: 20 of 30 steps",)
    assert read_curves([tmp_path / "seed-0"]).notes == ()
    (write_run(tmp_path / "seed-2", tiny(steps=30, seed=2)) / LOG).unlink()  # before its first step
    assert [read_curves([tmp_path], metric).groups[0].end for metric in (None, LOSS)] == [20, 20]


def test_scores_take_the_place_of_those_in_training_where_there_are_any(tmp_path):
    plain = write_run(tmp_path / "a", tiny())
    scored = write_run(tmp_path / "b", tiny("linear"), scores=SCORES)
    assert read_curves([plain]).quantities == (LOSS, IN_TRAINING)
    curves = read_curves([plain, scored])
    assert curves.quantities == (LOSS, "test", "ood", "ood_terms")
    assert curves.groups[1].curves["ood"].steps.tolist() == [15, 30]
    titles = [f"r2_per_sequence on {split}" for split in ("test", "ood", "ood_terms (unranked)")]
    assert [curves.title(name) for name in curves.quantities] == ["loss in training", *titles]
    assert curves.compared == ("test", "ood") and read_curves([plain]).compared is None


def test_bounds_are_the_boards_and_reference_levels_of_held_out_splits_alone(tmp_path):
    curves = read_curves([write_run(tmp_path / "a", tiny(), scores=SCORES)])
    assert curves.bounds("test") == curves.bounds(IN_TRAINING) == (1.0, 0.0, {})
    assert curves.bounds("ood")[:2] == (1.0, 0.0)
    levels = read_board("fuzzylogic-v1").reference_levels("ood")
    lower = [level.title for level in levels if level.is_baseline]
    assert list(curves.bounds("ood").lower) == lower and "Gaussian process" in lower
    assert curves.bounds("ood_terms") == (None, 0.0, {})  # of which the board has no ceiling
    assert curves.bounds(LOSS) == (None, None, {})
    assert view(curves, "ood") == (-1.0, 1.0)  # one range for all scores
    assert view(curves, LOSS) == (1 / 30, 1 / 5)
    curves = read_curves([write_run(tmp_path / "b", replace(tiny(), board="sraven-v1"), scores=SCORES)])
    assert list(curves.bounds("ood").named) == ["ceiling", "nearest combination", "chance"]
    assert curves.bounds("test").lower == curves.bounds(LOSS).lower == {}


def test_runs_that_do_not_belong_together_are_refused(tmp_path):
    first, same = (write_run(tmp_path / name, tiny()) for name in "ab")
    other = write_run(tmp_path / "c", replace(tiny(), board="sraven-v1"))
    begun = write_run(tmp_path / "d", tiny(), lines=0)
    for runs, error, message in (
        ([first, same], ConfigurationError, "are the same run, seed 0 of one configuration"),
        ([first, other], ConfigurationError, "fuzzylogic-v1 and sraven-v1; curves are drawn"),
        ([begun], OutputError, "have no line; wait"),
    ):
        with pytest.raises(error, match=message):
            read_curves(runs)


def test_points_that_are_joined_keep_mean_and_last_step(tmp_path):
    for seed in (0, 1):
        write_run(tmp_path / f"seed-{seed}", tiny(seed=seed), lines=7, before=0.2 * seed)
    curve = read_curves([tmp_path]).groups[0].curves[IN_TRAINING]
    thinned = thin(curve, 3)
    assert thinned.steps.tolist() == [15, 30, 35]
    np.testing.assert_allclose(thinned.mean, [0.3, 0.6, 0.8])
    np.testing.assert_allclose(thinned.error, 0.1)
    assert thin(curve, 7) is curve


def test_what_programs_read_has_every_value(tmp_path):
    write_run(tmp_path / "seed-0", tiny(), scores=SCORES)
    write_run(tmp_path / "seed-1", tiny(seed=1), scores=SCORES)
    curves = read_curves([tmp_path])
    found = json.loads(json.dumps(to_json(curves)))
    assert (found["board"], found["metric"]) == ("fuzzylogic-v1", "r2_per_sequence")
    assert found["bounds"]["ood"] == curves.bounds("ood")._asdict()
    (group,) = found["groups"]
    assert group["digest"] == tiny().digest and set(group["folders"]) == {"0", "1"}
    assert set(group["curves"]) == {LOSS, IN_TRAINING, "test", "ood", "ood_terms"}
    test = group["curves"]["test"]
    assert (test["steps"], test["mean"], test["standard_error"]) == ([15, 30], [0.5, 1.0], [0.0, 0.0])
