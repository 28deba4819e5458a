"""Scores while it trains: by the board's own metrics in one program, and logged."""

import json

import numpy as np
import pytest

from baselines.load import load_run
from baselines.session import OnBoard, ScoringOptions, make_session
from baselines.train import predict as predicting
from baselines.train.experiment import board_experiment
from baselines.train.log import LOG, SCORES, Log
from baselines.train.predict import (
    board_scores,
    predict,
    predictor,
    unranked_splits,
    with_scores,
)
from baselines.train.sharding import make_mesh
from baselines.train.train import train
from helpers.tiny_runs import STEPS, TINY, assert_same_bits, leaves, lines_of, tiny
from sraven.board.board import read_board
from sraven.scoring.scores import Run, score_plainly, score_runs

SLICE, METRICS = 70, ("r2_per_sequence", "r2", "mse")

pytestmark = pytest.mark.usefixtures("compiled")


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Two seeds that were trained together, with scores every 10 steps."""
    out = tmp_path_factory.mktemp("runs") / "runs"
    session = make_session(
        OnBoard(read_board("fuzzylogic-v1")),
        "hyla",
        out,
        seeds=(0, 1),
        scoring=ScoringOptions(10, SLICE),
        **TINY,
    )
    session.train()
    return session


def scores_of(folder):
    return {line["step"]: line[SCORES] for line in lines_of(folder) if SCORES in line}


def test_slices_are_scored_as_the_board_scores(trained):
    """Each run by its own parameters: those of the second differ."""
    config, params = load_run(trained.folders[1])
    other, found = map(scores_of, trained.folders)
    assert list(found) == list(other) == [10, 20] and list(found[20]) == ["test", "ood", "ood_terms"]
    for split, logged in found[20].items():
        task = read_board(config.board).task
        mine = task.score(split, predict(config, params, split, SLICE)).metrics
        wanted = {name: pytest.approx(mine[name].mean, rel=1e-5) for name in METRICS}
        assert logged == {"instances": SLICE, **wanted} != other[20][split]


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
    assert (predict(*load_run(trained.folders[1]), "ood", 7) != some).any()


def test_unranked_splits_are_scored_too_every_hundredth_of_a_run():
    found = [unranked_splits(read_board(name)) for name in ("fuzzylogic-v1", "sraven-v1")]
    assert found == [("ood_terms",), ()]
    make = with_scores(board_experiment, lambda *_: None, None)
    experiments = [make(tiny(steps=steps), make_mesh()) for steps in (3, 99, 5000, 156_250)]
    assert [each.evaluate_every for each in experiments] == [1, 1, 50, 1562]


def test_one_program_serves_all_splits_and_runs(trained, monkeypatch):
    made = []
    monkeypatch.setattr(predicting, "predictor", lambda *each: made.append(each) or predictor(*each))
    experiment = with_scores(board_experiment, lambda *each: board_scores(*each, most=SLICE), None)(
        tiny(), make_mesh()
    )
    params = [load_run(folder)[1] for folder in trained.folders]
    assert experiment.evaluate(params[0]) != experiment.evaluate(params[1]) and len(made) == 1
    assert with_scores(board_experiment, None, 0)(tiny(), make_mesh()).evaluate is None


def test_scores_are_of_the_parameters_after_a_chunk_and_change_nothing_of_training(tiny_run, tmp_path):
    """Chunks end at 5, 10, 15 and 20: 7 and 14 are reached there, and 20 is the last step."""

    def norm(params):
        return float(sum(np.abs(leaf).sum() for leaf in leaves(params).values()))

    def scored(config, mesh):
        evaluate = lambda params: {"test": {"norm": norm(params)}}  # noqa: E731
        return board_experiment(config, mesh)._replace(evaluate=evaluate, evaluate_every=7)

    state = train(tiny(), tmp_path / "run", make_experiment=scored)
    assert_same_bits(state, tiny_run[1])
    found = scores_of(tmp_path / "run")
    assert list(found) == [10, 15, 20]
    assert found[STEPS]["test"]["norm"] == norm(state.params) != found[10]["test"]["norm"]


def test_a_score_that_is_no_number_is_null_and_a_line_is_on_disk_before_the_log_is_closed(tmp_path):
    log = Log(tmp_path, 0)
    log.add(5, {"loss": 0.5}, {"test": {"r2": float("nan"), "mse": 0.25}})
    assert json.loads((tmp_path / LOG).read_text())[SCORES] == {"test": {"r2": None, "mse": 0.25}}
    log.close()
