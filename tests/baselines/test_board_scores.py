"""Scores while it trains: by the board's own metrics in one program, and logged."""

import json

import numpy as np
import pytest

from baselines.load import load_run
from baselines.session import OnBoard, ScoringOptions, plan_runs, train_plan
from baselines.train import predict as predicting
from baselines.train.experiment import board_experiment
from baselines.train.log import LOG, SCORES, Log
from baselines.train.predict import (
    board_scores,
    default_interval,
    predict,
    predictor,
    sizes_of,
    unranked_splits,
    with_scores,
)
from baselines.train.sharding import make_mesh
from baselines.train.train import train
from helpers.tiny_runs import STEPS, TINY, assert_same_bits, leaves, lines_of, tiny
from sraven.board.board import read_board
from sraven.core.errors import ConfigurationError
from sraven.scoring.scores import Run, score_plainly, score_runs

SLICE, METRICS = 70, ("r2_per_sequence", "r2", "mse")

pytestmark = pytest.mark.usefixtures("compiled")


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Two seeds that were trained together, with scores every 10 steps."""
    out = tmp_path_factory.mktemp("runs") / "runs"
    plan = plan_runs(
        OnBoard(read_board("fuzzylogic-v1")),
        "hyla",
        out,
        seeds=(0, 1),
        scoring=ScoringOptions(10, SLICE),
        **TINY,
    )
    train_plan(plan)
    return plan


def scores_of(folder):
    return {line["step"]: line[SCORES] for line in lines_of(folder) if SCORES in line}


def test_slices_are_scored_as_the_board_scores(trained):
    for folder in trained.folders:
        config, params = load_run(folder)
        found = scores_of(folder)
        assert list(found) == [10, 20] and list(found[20]) == ["test", "ood", "ood_terms"]
        for split, logged in found[20].items():
            task = read_board(config.board).task
            mine = task.score(split, predict(config, params, split, SLICE)).metrics
            assert logged == {
                "instances": SLICE,
                **{name: pytest.approx(mine[name].mean, rel=1e-5) for name in METRICS},
            }
    one, other = map(scores_of, trained.folders)
    assert one != other


def test_plain_scores_are_those_with_intervals_and_predictions_that_are_no_numbers_have_none():
    """On SRAVEN, whose metrics ask for most: rules, positions and ambiguity."""
    board = read_board("sraven-v1")
    batch = board.task.sample("ood", 0, 60)
    guesses = np.where(np.arange(60)[:, None] % 3 == 0, batch.context[:, 7], batch.target)
    labels = board.task.scoring.labels(batch, None)
    plain = score_plainly(board.task.scoring, labels, guesses, metrics=board.metrics)
    runs = [Run(0, guesses, np.ones(60, np.bool_))]
    whole = score_runs(board.task.scoring, labels, runs, metrics=board.metrics).metrics
    assert {name: None if np.isnan(value) else value for name, value in plain.items()} == {
        name: each.mean for name, each in whole.items()
    }
    assert 0.5 < plain["accuracy"] < 1
    board = read_board("fuzzylogic-v1")
    labels = board.task.scoring.labels(board.task.sample("test", 0, 5), None)
    guesses = np.array([0.5, np.nan, 0.5, 0.5, 0.5], np.float32)
    found = score_plainly(board.task.scoring, labels, guesses, metrics=board.metrics)
    assert list(found) == list(board.metrics) and np.isnan(list(found.values())).all()


def test_predictions_depend_neither_on_how_many_are_asked_for_nor_on_other_runs(trained):
    config, params = load_run(trained.folders[0])
    some = predict(config, params, "ood", 7)
    assert some.shape == (7,) and some.dtype == np.float32
    assert (predict(config, params, "ood", 530)[:7] == some).all()
    assert (predictor(config, make_mesh())(params, "ood", 7) == some).all()
    assert (predict(*load_run(trained.folders[1]), "ood", 7) != some).any()


def test_unranked_splits_are_scored_too_every_hundredth_of_a_run():
    board = read_board("fuzzylogic-v1")
    assert (unranked_splits(board), unranked_splits(read_board("sraven-v1"))) == (("ood_terms",), ())
    sizes = sizes_of(board, 1 << 20)
    assert sizes["ood"] == board.splits["ood"] and sizes["ood_terms"] == 1 << 20
    assert [default_interval(steps) for steps in (1, 99, 5000, 156_250)] == [1, 1, 50, 1562]


def test_one_program_serves_all_splits_runs_and_steps(trained, monkeypatch):
    made = []
    monkeypatch.setattr(predicting, "predictor", lambda *each: made.append(each) or predictor(*each))
    experiment = with_scores(board_experiment, lambda *each: board_scores(*each, most=SLICE), None)(
        tiny(), make_mesh()
    )
    params = [load_run(folder)[1] for folder in trained.folders]
    found = [experiment.evaluate(each, step) for each in params for step in (5, 10)]
    assert found[0] == found[1] and found[2] == found[3] and len(made) == 1
    assert experiment.evaluate_every == 1
    assert with_scores(board_experiment, None, 0)(tiny(), make_mesh()).evaluate is None


@pytest.mark.parametrize("scoring", [ScoringOptions(every=-1), ScoringOptions(instances=0)])
def test_impossible_slices_are_refused(tmp_path, scoring):
    with pytest.raises(ConfigurationError, match=r"scores: (every=-1|instances=0): .*integer"):
        plan_runs(OnBoard(read_board("fuzzylogic-v1")), "hyla", tmp_path, scoring=scoring, **TINY)


# When they come

EXPECTED = [10, 15, 20]
"""Chunks end at 5, 10, 15 and 20: 7 and 14 are reached there, and 20 is the last step."""


def norm(params):
    return float(sum(np.abs(leaf).sum() for leaf in leaves(params).values()))


def scored(config, mesh):
    """The experiment of a run, with the parameters' norm as its score."""

    def evaluate(params, step):
        return {"test": {"norm": norm(params)}, "ood": {"step": step}}

    return board_experiment(config, mesh)._replace(evaluate=evaluate, evaluate_every=7)


@pytest.fixture(scope="module")
def whole(tmp_path_factory, compiled):
    """The directory of a run with scores, and its last state."""
    folder = tmp_path_factory.mktemp("runs") / "scored"
    return folder, train(tiny(), folder, make_experiment=scored)


def test_scores_are_of_the_parameters_after_that_step_and_change_nothing_of_training(whole, tiny_run):
    folder, state = whole
    found = scores_of(folder)
    assert list(found) == EXPECTED
    assert [scores["ood"]["step"] for scores in found.values()] == EXPECTED
    assert found[STEPS]["test"]["norm"] == norm(state.params)
    assert_same_bits(state, tiny_run[1])


def test_a_score_that_is_no_number_is_null_and_a_line_is_on_disk_before_the_log_is_closed(tmp_path):
    log = Log(tmp_path, 0)
    log.add(5, {"loss": 0.5}, {"test": {"r2": float("nan"), "mse": 0.25}})
    assert json.loads((tmp_path / LOG).read_text())[SCORES] == {"test": {"r2": None, "mse": 0.25}}
    log.close()
