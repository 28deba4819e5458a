"""Training on a board: resumed bit for bit, refused where it must be, and evaluated as a submission."""

import json
import shutil

import jax
import numpy as np
import pytest

from baselines.config import read_config
from baselines.evaluate import write_entry
from baselines.load import load_run
from baselines.recipes import make_config
from baselines.runs.directory import CHECKPOINTS, CONFIG
from baselines.runs.log import LOG
from baselines.training.predict import predict
from baselines.training.train import train
from helpers.tiny_runs import assert_same_bits, changed_run, compiled_once, shared_directory
from sraven import ConfigurationError, OutputError, score_submission
from sraven.core.boards.board import read_board

TINY = {"layers": 1, "width": 11, "heads": 3, "qkv_width": 6, "mlp_width": 13, "batch_size": 5, "warmup": 7}


def tiny(attention="hyla", seed=0, steps=300, **changes):
    return make_config(read_board("fuzzylogic-v1"), attention, seed=seed, steps=steps, **{**TINY, **changes})


@pytest.fixture(scope="module", autouse=True)
def _compiled_once(tmp_path_factory):
    """Here programs are users' own."""
    with compiled_once(shared_directory(tmp_path_factory, "compiled")):
        yield


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A run that wasn't interrupted."""
    out = tmp_path_factory.mktemp("runs") / "whole"
    return out, train(tiny(attention_dropout=0.1), out, save_every=100)


@pytest.fixture(scope="module")
def second(tmp_path_factory):
    """The same with another seed."""
    out = tmp_path_factory.mktemp("runs") / "second"
    return out, train(tiny(seed=1, attention_dropout=0.1), out, save_every=300)


def test_run_whose_last_checkpoint_is_lost_ends_in_the_same_parameters(finished, tmp_path):
    out, state = finished
    copy = shutil.copytree(out, tmp_path / "copy")
    shutil.rmtree(copy / CHECKPOINTS / "300")
    again = train(tiny(attention_dropout=0.1), copy, save_every=100)
    assert_same_bits(state, again)
    assert (copy / LOG).read_text().count("\n") == 3


def test_directory_of_another_run_is_refused(finished):
    with pytest.raises(OutputError, match="holds another run \\(attention, learning_rate differ\\)"):
        train(tiny("softmax", learning_rate=0.5, attention_dropout=0.1), finished[0])


def test_directory_with_something_else_is_refused(tmp_path):
    (tmp_path / "novel.txt").write_text("It was a dark night.")
    with pytest.raises(OutputError, match="isn't empty and holds no run"):
        train(tiny(), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["novel.txt"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"steps": 0}, "steps=0"),
        ({"learning_rate": float("nan")}, "learning_rate=nan"),
        ({"weight_decay": -1.0}, "weight_decay=-1.0"),
        ({"attention_dropout": 1.0}, "attention_dropout=1.0"),
        ({"recipe": "paper-cod"}, "recipe='paper-cod': .*'paper-code'"),
        ({"attention": "hyal"}, "attention='hyal': .*'hyla'"),
    ],
)
def test_bad_configuration_is_refused(changes, message, tmp_path):
    with pytest.raises(ConfigurationError, match=message):
        train(tiny(**changes), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_configuration_survives_its_file(finished):
    values = json.loads((finished[0] / CONFIG).read_text())
    assert read_config(values) == tiny(attention_dropout=0.1)
    with pytest.raises(ConfigurationError, match="lacks width"):
        read_config({name: value for name, value in values.items() if name != "width"})


def test_evaluated_runs_are_a_submission(finished, second, tmp_path, run):
    code, _, err = run(
        "evaluate", finished[0], second[0], "--author=A. Author", f"--out={tmp_path / 'entry'}"
    )
    assert (code, err) == (0, "")
    scores = score_submission(tmp_path / "entry")
    assert scores["splits"]["ood"]["seeds"] == [0, 1]
    board = read_board("fuzzylogic-v1")
    config, params = load_run(finished[0])
    mine = board.score("test", predict(config, params, "test", board.splits["test"]))
    assert mine.metrics["mse"].by_seed[0] == scores["splits"]["test"]["metrics"]["mse"]["by_seed"][0]
    assert mine.metrics["mse"].mean < 0.2


def test_runs_of_different_configurations_are_no_entry(finished, tmp_path):
    other = changed_run(finished[0], tmp_path / "other", learning_rate=0.5)
    with pytest.raises(ConfigurationError, match=r"differs from .* in more than its seed"):
        write_entry([finished[0], other], tmp_path / "entry", authors=["A. Author"])
    with pytest.raises(ConfigurationError, match="the same seed"):
        write_entry([finished[0], finished[0]], tmp_path / "entry", authors=["A. Author"])
    assert not (tmp_path / "entry").exists()


def test_runs_can_be_looked_at_at_any_checkpoint(finished, tmp_path):
    (config, newest), (_, last) = load_run(finished[0], step=-1), load_run(finished[0])
    jax.tree.map(np.testing.assert_array_equal, newest, last)
    _, earlier = load_run(finished[0], step=200)
    assert config.steps == 300
    assert not np.array_equal(earlier["out"]["kernel"], last["out"]["kernel"])
    with pytest.raises(OutputError, match="no checkpoint of step 100; there are 200, 300"):
        load_run(finished[0], step=100)
    copy = shutil.copytree(finished[0], tmp_path / "copy")
    shutil.rmtree(copy / CHECKPOINTS)
    with pytest.raises(OutputError, match="no checkpoint yet"):
        load_run(copy, step=-1)
    with pytest.raises(OutputError, match="holds no run"):
        load_run(tmp_path)


def test_checkpoints_between_the_steps_that_are_taken_at_once_are_refused(tmp_path):
    with pytest.raises(ConfigurationError, match="save_every=130: expected a multiple of 100"):
        train(tiny(), tmp_path / "run", save_every=130)
    assert not (tmp_path / "run").exists()
