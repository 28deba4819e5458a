"""An optimiser is an entry of one table: it trains, resumes, and is named in entries."""

import json
import shutil

import jax.numpy as jnp
import numpy as np
import optax
import pytest

from baselines.config import read_config
from baselines.evaluate import describe_runs
from baselines.load import load_run
from baselines.runs.command import train_command
from baselines.runs.directory import CHECKPOINTS, CONFIG
from baselines.training.optim import OPTIMISERS, Optimiser
from baselines.training.train import train
from helpers.tiny_runs import STEPS, leaves, lines_of, tiny, tiny_options
from sraven import ConfigurationError

pytestmark = pytest.mark.usefixtures("compiled")


def trained(config, folder):
    return leaves(train(config, folder).params)


@pytest.fixture
def momentum(monkeypatch):
    """One more optimiser, as a user would add it."""

    def make(rate, weight_decay, decayed):
        decay = optax.add_decayed_weights(weight_decay, decayed)
        return optax.chain(decay, optax.sgd(rate, momentum=0.9))

    monkeypatch.setitem(OPTIMISERS, "momentum", Optimiser("SGD with momentum", make))
    return "momentum"


def test_an_entry_trains_from_the_command_and_goes_on_where_it_was(momentum, tiny_run, tmp_path, run):
    line = ["train", "fuzzylogic-v1", "--attention=hyla", f"--optimiser={momentum}", *tiny_options()]
    code, _, err = run(*line, f"--save-every={STEPS // 2}", f"--out={tmp_path / 'run'}")
    assert code == 0, err
    config, params = load_run(tmp_path / "run")
    assert config == tiny(optimiser=momentum)
    lines = lines_of(tmp_path / "run")
    assert lines[-1]["loss"] < lines[0]["loss"]
    other = leaves(tiny_run[1].params)
    assert any((array != other[path]).any() for path, array in leaves(params).items())
    shutil.rmtree(tmp_path / "run" / CHECKPOINTS / str(STEPS))
    again = trained(config, tmp_path / "run")
    assert all((array == again[path]).all() for path, array in leaves(params).items())


def test_it_is_in_the_command_and_in_the_entry(momentum):
    configs = [tiny(optimiser=momentum)]
    assert f"--optimiser {momentum} " in train_command(configs)
    described = describe_runs(configs, {"kernel": jnp.zeros(3)})
    assert described["training"]["optimiser"] == "SGD with momentum"


def test_an_unknown_one_is_refused_before_anything_is_written(tmp_path):
    with pytest.raises(ConfigurationError, match=r"optimiser='adamv': .*'adamw'"):
        train(tiny(optimiser="adamv"), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_runs_from_before_there_were_others_are_read_and_keep_their_digest():
    config = tiny()
    values = {name: value for name, value in vars(config).items() if name not in ("optimiser", "precision")}
    assert read_config(values) == config
    assert tiny(optimiser="other").digest != config.digest != tiny(precision="high").digest
    assert "optimiser" not in train_command([config]) and "precision" not in train_command([config])


# Precision


def test_a_precision_is_that_of_all_products_and_changes_nothing_on_a_cpu(tiny_run, tmp_path):
    plain = leaves(tiny_run[1].params)
    found = trained(tiny(precision="highest"), tmp_path / "highest")
    for path, array in found.items():
        np.testing.assert_allclose(array, plain[path], rtol=0, atol=1e-6, err_msg=path)
    assert json.loads((tmp_path / "highest" / CONFIG).read_text())["precision"] == "highest"
    assert "precision" not in json.loads((tiny_run[0] / CONFIG).read_text())


def test_bfloat16_moves_what_is_learnt_a_little(tiny_run, tmp_path):
    plain, found = leaves(tiny_run[1].params), trained(tiny(precision="bfloat16"), tmp_path / "rounded")
    differences = [np.abs(array - plain[path]).max() for path, array in found.items()]
    assert 1e-6 < max(differences) < 0.05


@pytest.mark.parametrize("precision", ["tf32", "", 3])
def test_another_precision_is_refused(precision):
    with pytest.raises(ConfigurationError, match=f"precision={precision!r}"):
        tiny(precision=precision)
