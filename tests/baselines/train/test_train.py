"""Training on a board: refused where it must be, and evaluated as a submission."""

import shutil
from functools import partial

import jax
import numpy as np
import pytest

from baselines.evaluate import write_entry
from baselines.load import load_run
from baselines.train.directory import CHECKPOINTS
from baselines.train.predict import predict
from baselines.train.train import train, train_runs
from helpers import tiny_runs
from helpers.checkout import REPOSITORY
from helpers.python import python
from helpers.refusals import assert_refused
from helpers.tiny_runs import changed_run, compiled_once, shared_directory
from sraven import ConfigurationError, OutputError, score_submission
from sraven.board.board import read_board
from sraven.core.errors import CapacityError

tiny = partial(tiny_runs.tiny, steps=300)


@pytest.fixture(scope="module", autouse=True)
def _compiled_once(tmp_path_factory):
    """Here programs are users' own."""
    with compiled_once(shared_directory(tmp_path_factory, "compiled")):
        yield


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A run that wasn't interrupted."""
    out = tmp_path_factory.mktemp("runs") / "whole"
    train(tiny(), out, save_every=100)
    return out


def test_a_board_is_trained_without_any_module_of_the_language_model():
    code = "import sys, baselines.session, cli.commands.train; print([*sys.modules])"
    loaded = python("-c", code, cwd=REPOSITORY, check=True).stdout
    assert "'baselines.train.train'" in loaded and "'baselines.lm" not in loaded


def test_directories_of_something_else_and_checkpoints_between_chunks_are_refused(finished, tmp_path):
    with pytest.raises(OutputError, match="holds another run \\(attention, learning_rate differ\\)"):
        train(tiny("softmax", learning_rate=0.5), finished)
    (tmp_path / "novel.txt").write_text("It was a dark night.")
    assert_refused("isn't empty and holds no run", train, tiny(), tmp_path, error=OutputError)
    with pytest.raises(ConfigurationError, match="save_every=130: expected a multiple of 100"):
        train(tiny(), tmp_path / "run", save_every=130)
    assert [path.name for path in tmp_path.iterdir()] == ["novel.txt"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"steps": 0}, "steps=0"),
        ({"recipe": "paper-cod"}, "recipe='paper-cod': .*'paper-code'"),
        ({"attention": "hyal"}, "attention='hyal': .*'hyla'"),
        ({"precision": "tf32"}, "precision='tf32'"),
    ],
)
def test_bad_configuration_is_refused(changes, message, tmp_path):
    with pytest.raises(ConfigurationError, match=message):
        train(tiny(**changes), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_evaluated_runs_are_a_submission(finished, tmp_path, done):
    second = changed_run(finished, tmp_path / "second", seed=1)
    done("evaluate", finished, second, "--author=A. Author", f"--out={tmp_path / 'entry'}")
    scores = score_submission(tmp_path / "entry")
    assert scores["splits"]["ood"]["seeds"] == [0, 1]
    board = read_board("fuzzylogic-v1")
    config, params = load_run(finished)
    mine = board.score("test", predict(config, params, "test", board.splits["test"]))
    assert mine.metrics["mse"].by_seed[0] == scores["splits"]["test"]["metrics"]["mse"]["by_seed"][0]
    assert mine.metrics["mse"].mean < 0.2


def test_runs_of_different_configurations_are_no_entry(finished, tmp_path):
    other = changed_run(finished, tmp_path / "other", learning_rate=0.5)
    for run, message in ((other, r"differs from .* in more than its seed"), (finished, "the same seed")):
        assert_refused(message, write_entry, [finished, run], tmp_path / "entry", authors=["A. Author"])
    assert not (tmp_path / "entry").exists()


def test_runs_can_be_looked_at_at_any_checkpoint(finished, tmp_path):
    (config, newest), (_, last) = load_run(finished, step=-1), load_run(finished)
    jax.tree.map(np.testing.assert_array_equal, newest, last)
    _, earlier = load_run(finished, step=200)
    assert config.steps == 300
    assert not np.array_equal(earlier["out"]["kernel"], last["out"]["kernel"])
    with pytest.raises(OutputError, match="no checkpoint of step 100; there are 200, 300"):
        load_run(finished, step=100)
    copy = shutil.copytree(finished, tmp_path / "copy")
    shutil.rmtree(copy / CHECKPOINTS)
    assert_refused("no checkpoint yet", load_run, copy, error=OutputError, step=-1)
    assert_refused("holds no run", load_run, tmp_path, error=OutputError)


@pytest.mark.parametrize(
    ("seeds", "named"), [(1, "batch_size=8: .* --mesh"), (2, "2 runs in a program: .* fewer --seeds")]
)
def test_a_device_without_memory_is_told_in_a_line(seeds, named, tmp_path, monkeypatch):
    def exhausted(*_):
        raise jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory while trying to allocate")

    monkeypatch.setattr("baselines.train.train._train", exhausted)
    configs, folders = (
        [tiny(seed=seed) for seed in range(seeds)],
        [tmp_path / str(seed) for seed in range(seeds)],
    )
    assert_refused(named, train_runs, configs, folders, error=CapacityError)
