"""Runs on a board that they weren't trained on."""

from contextlib import nullcontext
from dataclasses import replace

import jax
import numpy as np
import pytest

from baselines.encode import encoding_of
from baselines.evaluate import config_on, write_entry
from baselines.recipes import make_config
from baselines.train.experiment import program_of
from baselines.train.predict import predict
from helpers.submissions import SRAVEN_BOARD, small_contents, use_boards
from helpers.tiny_runs import TINY
from sraven import ConfigurationError
from sraven.board.board import read_board
from sraven.board.freeze import make_board
from sraven.leaderboard.submissions.submission import score_submission

TWINS = {
    "id": "twins-small-v1",
    "version": 1,
    "title": "Twins of three features",
    "series": "twins",
    "config": {"task": "sraven-twins", "version": "1", "M": 3, "K": 5, "holdout": 0.25, "seed": 5},
    "sizes": {"test": 36, "ood": 48},
    "train_budget": 2_000,
    "train_budgets": [2_000],
    "metric": "pass_all",
    "primary_split": "ood",
}


pytestmark = pytest.mark.usefixtures("compiled")


@pytest.fixture
def board(monkeypatch, tmp_path):
    contents = {**small_contents(), TWINS["id"]: make_board(TWINS, train_digested=24)}
    use_boards(monkeypatch, tmp_path / "boards", contents)
    return read_board(TWINS["id"])


@pytest.fixture
def config(board):
    return make_config(read_board(SRAVEN_BOARD), "softmax", **TINY)


def test_a_run_sees_the_other_board_as_its_own(board, config):
    there = config_on(config, board)
    assert (there.board, there.board_digest) == (board.id, board.digest)
    assert replace(there, board=config.board, board_digest=config.board_digest) == config
    assert config_on(config, read_board(SRAVEN_BOARD)) == config
    params = jax.jit(program_of(config, encoding_of(board.task)).initialise_params)(jax.random.key(0))
    found = predict(there, params, "ood", 30)
    assert found.shape == (30, 3) and found.max() < 5


def test_entry_is_scored_there_and_says_where_it_was_trained(board, config, monkeypatch, tmp_path):
    def right(asked, params, split, size):
        assert asked.board == board.id
        return board.task.sample(split, 0, size).target

    monkeypatch.setattr("baselines.evaluate.load_run", lambda path: (config, {"kernel": np.zeros(3)}))
    monkeypatch.setattr("baselines.evaluate.predict", right)
    monkeypatch.setattr("baselines.evaluate.keep_scores", lambda *_: pytest.fail("wrote its own result"))
    run, out = tmp_path / "run", tmp_path / "entry"
    run.mkdir()
    found = write_entry([run], out, authors=["A. Author"], board_id=board.id)
    assert found.scores[0]["ood"]["pass_all"] == 1
    scores = score_submission(out)["splits"]["ood"]["metrics"]
    for name in ("pass_all", "pass_mean", "pass_any", "systematicity", "pass_all.columns"):
        assert scores[name]["mean"] == 1, name
    assert (
        f"Trained on {SRAVEN_BOARD}, which shows nothing that {board.id}" in (out / "README.md").read_text()
    )


@pytest.mark.parametrize(
    ("trained", "message"),
    [
        *((name, None) for name in ("sraven-v1", "sraven-unique-v1", "sraven-holdout50-v1")),
        ("sraven-holdout10-v1", r"training on sraven-holdout10-v1 showed \d+ of the 82 combinations that sr"),
        ("sraven-m8-v1", "a network trained on sraven-m8-v1 doesn't fit the instances of sraven-twins-v1"),
    ],
)
def test_runs_of_the_papers_setting_are_taken_and_what_is_no_fair_test_is_refused(trained, message):
    config = make_config(read_board(trained), "softmax", **TINY)
    with pytest.raises(ConfigurationError, match=message) if message else nullcontext():
        assert config_on(config, read_board("sraven-twins-v1")).board == "sraven-twins-v1"
