"""An optimiser is an entry of one table: it trains, resumes, and is named in entries."""

import json
import shutil

import numpy as np
import optax
import pytest

from baselines.evaluate import describe_runs
from baselines.load import load_run
from baselines.train.command import train_command
from baselines.train.directory import CHECKPOINTS, CONFIG
from baselines.train.optim import OPTIMISERS, Optimiser
from baselines.train.train import train
from helpers.tiny_runs import STEPS, assert_same_bits, leaves, lines_of, tiny, tiny_options

pytestmark = pytest.mark.usefixtures("compiled")


def test_an_entry_trains_from_the_command_and_goes_on_where_it_was(tiny_run, tmp_path, run, monkeypatch):
    """Added as a user would; it is in the command and in the entry."""

    def make(rate, weight_decay, decayed):
        decay = optax.add_decayed_weights(weight_decay, decayed)
        return optax.chain(decay, optax.sgd(rate, momentum=0.9))

    monkeypatch.setitem(OPTIMISERS, "momentum", Optimiser("SGD with momentum", make))
    line = ["train", "fuzzylogic-v1", "--attention=hyla", "--optimiser=momentum", *tiny_options()]
    code, _, err = run(*line, f"--save-every={STEPS // 2}", f"--out={tmp_path / 'run'}")
    assert code == 0, err
    config, params = load_run(tmp_path / "run")
    assert config == tiny(optimiser="momentum")
    lines = lines_of(tmp_path / "run")
    assert lines[-1]["loss"] < lines[0]["loss"]
    other = leaves(tiny_run[1].params)
    assert any((array != other[path]).any() for path, array in leaves(params).items())
    shutil.rmtree(tmp_path / "run" / CHECKPOINTS / str(STEPS))
    assert_same_bits(params, train(config, tmp_path / "run").params)
    assert "--optimiser momentum " in train_command([config])
    described = describe_runs([config], {}, [tmp_path / "run"], [], None)
    assert described["training"]["optimiser"] == "SGD with momentum"


# Precision


@pytest.mark.parametrize(("precision", "least", "most"), [("highest", -1, 1e-6), ("bfloat16", 1e-6, 0.05)])
def test_a_precision_is_that_of_all_products(tiny_run, tmp_path, precision, least, most):
    """On a CPU it changes nothing, but for bfloat16, which moves what is learnt a little."""
    plain, found = map(
        leaves, (tiny_run[1].params, train(tiny(precision=precision), tmp_path / "run").params)
    )
    assert least < max(np.abs(array - plain[path]).max() for path, array in found.items()) < most
    assert json.loads((tmp_path / "run" / CONFIG).read_text())["precision"] == precision
    assert "precision" not in json.loads((tiny_run[0] / CONFIG).read_text())
