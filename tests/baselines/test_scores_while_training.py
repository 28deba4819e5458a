"""Scores while it trains: asked for at the ends of chunks, logged with them, and alike after resuming."""

import json

import numpy as np
import pytest

from baselines.lm.entry import thin
from baselines.runs.log import LOG, SCORES, Log, read_log
from baselines.runs.sinks import EVENTS
from baselines.training.experiment import board_experiment
from baselines.training.train import train
from helpers.tiny_runs import CHUNK, STEPS, assert_same_bits, leaves, lines_of, tiny

EVERY = 7
"""Steps between scores; chunks end at 5, 10, 15 and 20."""

EXPECTED = [10, 15, 20]
"""7 and 14 are reached there, and 20 is the last step."""


def norm(params):
    return float(sum(np.abs(leaf).sum() for leaf in leaves(params).values()))


def scored(config, mesh):
    """The experiment of a run, with the parameters' norm as its score."""

    def evaluate(params, step):
        return {"test": {"norm": norm(params)}, "ood": {"step": step}}

    return board_experiment(config, mesh)._replace(evaluate=evaluate, evaluate_every=EVERY)


@pytest.fixture(scope="module")
def whole(tmp_path_factory, compiled):
    """The directory of a run with scores, and its last state."""
    folder = tmp_path_factory.mktemp("runs") / "scored"
    return folder, train(tiny(), folder, make_experiment=scored, sinks=("tensorboard",))


def scores_of(folder):
    lines = lines_of(folder)
    assert [line["step"] for line in lines] == list(range(CHUNK, STEPS + 1, CHUNK))
    return {line["step"]: line[SCORES] for line in lines if SCORES in line}


def test_scores_are_of_the_parameters_after_that_step(whole):
    folder, state = whole
    found = scores_of(folder)
    assert list(found) == EXPECTED
    assert [scores["ood"]["step"] for scores in found.values()] == EXPECTED
    assert found[STEPS]["test"]["norm"] == norm(state.params)


def test_they_change_nothing_of_training(whole, tiny_run):
    assert_same_bits(whole[1], tiny_run[1])


def test_events_and_submissions_have_numbers_alone(whole):
    (path,) = (whole[0] / EVENTS).iterdir()
    content = path.read_bytes()
    assert b"test/norm" in content and b"ood/step" in content
    for line in thin(read_log(whole[0])).splitlines():
        assert all(type(value) in (int, float) for value in json.loads(line).values())


def test_a_score_that_is_no_number_is_null(tmp_path):
    log = Log(tmp_path, 0)
    log.add(5, {"loss": 0.5}, {"test": {"r2": float("nan"), "mse": 0.25}})
    log.close()
    assert json.loads((tmp_path / LOG).read_text())[SCORES] == {"test": {"r2": None, "mse": 0.25}}
