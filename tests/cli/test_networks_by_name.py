"""`sraven train --network`: those of the table, and one of the user's own by ``--import``."""

import json
import sys
from pathlib import Path

import pytest
import yaml

from baselines.config import read_config
from baselines.load import load_run
from baselines.model.networks import NETWORKS
from baselines.runs.command import train_command
from baselines.training.predict import predict, predictor_of_shape
from helpers.submissions import FUZZY_BOARD, only_boards
from helpers.tiny_runs import assert_same_bits, quickly, shared_directory

MINE = """
import jax.numpy as jnp
from flax import linen as nn

from baselines.model.config import TransformerConfig
from baselines.model.networks import add_network


class MeanOfTokens(nn.Module):
    config: TransformerConfig

    @nn.compact
    def __call__(self, tokens, dropout_key=None, *, num_outputs=None):
        count = num_outputs or tokens.shape[1]
        hidden = nn.gelu(nn.Dense(self.config.width)(tokens))
        hidden = hidden[:, -count:] + hidden.mean(axis=1, keepdims=True)
        return nn.Dense(self.config.outputs)(hidden)


add_network("mean_of_tokens", MeanOfTokens)
"""

SMALL = ["--layers=2", "--width=4", "--heads=1", "--qkv-width=2", "--mlp-width=4", "--batch-size=2"]
LINE = ["train", FUZZY_BOARD, "--steps=2", "--warmup=1", "--score-every=0", *SMALL]


@pytest.fixture(scope="module", autouse=True)
def _quickly(tmp_path_factory):
    compiled = shared_directory(tmp_path_factory, "compiled")
    with quickly(compiled), only_boards(tmp_path_factory.mktemp("boards")):
        yield


@pytest.fixture(autouse=True)
def _there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def mine():
    """A file with a network; what it adds goes again."""
    Path("my_network.py").write_text(MINE)
    yield "--import=my_network.py"
    forget()


def forget():
    """Begin as another process does."""
    sys.modules.pop("my_network", None)
    NETWORKS.pop("mean_of_tokens", None)
    predictor_of_shape.cache_clear()


def method_of(entry):
    return yaml.safe_load(Path(entry, "submission.yaml").read_text())["method"]


def test_a_network_of_ones_own(done, refused, mine):
    """Trained, gone on with, evaluated and drawn; without its file, a line names the option."""
    line = [*LINE, "--network=mean_of_tokens", "--out=run"]
    unknown = "network='mean_of_tokens': "
    said = refused(*line)
    assert unknown in said and "--import FILE.py brings one of your own" in said
    done(*line, mine)
    config, params = load_run("run")
    assert (config.network, config.attention) == ("mean_of_tokens", "none")
    done(*line, mine)  # which has nothing left to do
    assert_same_bits(params, load_run("run")[1])

    forget()
    for words in (["evaluate", "run", "--out=entry"], ["analyse", "run", "--out=analysis"]):
        said = refused(*words)
        assert unknown in said and "--import FILE.py brings one of your own" in said
    said = refused("analyse", "run", "--out=analysis", mine)
    assert "run is of network mean_of_tokens, which has no latent codes" in said
    assert not Path("analysis").exists()

    forget()
    done("evaluate", "run", "--out=entry", mine)
    method = method_of("entry")
    assert method["name"].startswith("mean_of_tokens, ")
    assert method["family"] == "mean_of_tokens"
    assert method["description"].startswith("The baseline network mean_of_tokens: sraven train ")
    assert "--attention none " in method["description"]
    assert "--network mean_of_tokens " in method["description"]

    forget()
    assert "mean_of_tokens" in done("curves", "run")  # which needs nothing of it


def test_a_mixer_needs_no_attention(done, refused, run):
    done(*LINE, "--network=mixer", "--out=run")
    done(*LINE, "--network=mixer", "--attention=none", "--out=run")  # is the same
    assert "run is of network mixer, which has no latent codes" in refused("analyse", "run", "--out=x")
    done("evaluate", "run", "--out=entry")
    method = method_of("entry")
    assert method["family"] == "mixer" and method["name"].startswith("mixer, ")
    assert "attention='hyla': Mixer has none" in refused(
        *LINE, "--network=mixer", "--attention=hyla", "--out=other"
    )
    assert "two MLPs" in refused(*LINE, "--network=mixer", "--feedforward=moe", "--out=other")
    assert not Path("other").exists()


def test_a_transformer_needs_one(run, refused):
    for words in ([], ["--network=transformer"]):
        code, _, err = run(*LINE, *words, "--out=run")
        assert code == 2 and "Missing option '--attention'" in err and "Traceback" not in err
    assert "attention='none': Transformer needs one" in refused(*LINE, "--attention=none", "--out=run")
    assert "attention='none': LoopedTransformer needs one" in refused(*LINE, "--network=looped", "--out=run")
    assert not Path("run").exists()


def test_the_nearest_network_is_named(refused):
    said = refused(*LINE, "--network=loped", "--attention=hyla", "--out=run")
    assert "network='loped': did you mean 'looped'?" in said


@pytest.mark.parametrize("words", [["--network=mixer"], ["--network=looped", "--attention=sparse_coding"]])
def test_configurations_are_read_as_they_are_written(done, words):
    printed = json.loads(done(*LINE, *words, "--print-config"))
    Path("mine.json").write_text(json.dumps(printed))
    for more in ([], words):
        again = done("train", FUZZY_BOARD, "--config=mine.json", *more, "--print-config")
        assert json.loads(again) == printed
    command = train_command([read_config(printed)])
    assert json.loads(done(*command.split()[1:], "--print-config")) == printed


def test_a_transformers_configuration_names_no_network(done):
    printed = json.loads(done(*LINE, "--attention=hyla", "--print-config"))
    assert "network" not in printed
    assert json.loads(done(*LINE, "--attention=hyla", "--network=transformer", "--print-config")) == printed


def test_a_looped_run_predicts_and_takes_other_numbers_of_loops(done, refused, run):
    done(*LINE, "--network=looped", "--attention=linear", "--out=run")
    config, params = load_run("run")
    assert config.architecture == "looped linear" and list(params) == ["block_0", "embedding", "norm", "out"]
    assert predict(config, params, "ood", 3).shape == (3,)
    assert "looped linear" in done("curves", "run")
    done("evaluate", "run", "--out=entry")
    assert method_of("entry")["name"].startswith("looped linear, ")
    code, out, _ = run("evaluate", "run", "--loops=1,2,5", "--json")
    found = json.loads(out)
    scores = json.loads(Path("run/result.json").read_text())["scores"]["splits"]
    assert code == 0 and list(found["loops"]) == ["1", "2", "5"]
    for split, score in found["loops"]["2"].items():  # as often as in training
        assert score == pytest.approx(scores[split][found["metric"]], abs=1e-6)
    assert found["loops"]["5"] != found["loops"]["2"] != found["loops"]["1"]
    assert "loops (r2_per_sequence)" in done("evaluate", "run", "--loops=3")
    assert "expected integers, such as 1,2,4" in refused("evaluate", "run", "--loops=two")
    assert "layers=0: expected an integer from 1 to 128" in refused("evaluate", "run", "--loops=0")
    done(*LINE, "--attention=linear", "--out=plain")
    assert "loops=2 for runs of network='transformer'; expected 'looped'" in refused(
        "evaluate", "plain", "--loops=2"
    )
