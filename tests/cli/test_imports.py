"""Networks by their names, those of the table and one of the user's own, and what ``--import`` imports."""

import json
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from baselines.load import load_run
from baselines.model.networks import NETWORKS
from baselines.train.predict import predictor_of_shape
from baselines.train.result import read_result
from helpers.submissions import FUZZY_BOARD, description, only_boards
from helpers.tiny_runs import assert_same_bits

MINE = """
from flax import linen as nn

from baselines.model.config import TransformerConfig
from baselines.model.networks import add_network


class Alone(nn.Module):
    config: TransformerConfig

    @nn.compact
    def __call__(self, tokens, dropout_key=None, *, num_outputs=None):
        hidden = nn.gelu(nn.Dense(self.config.width)(tokens[:, -(num_outputs or tokens.shape[1]) :]))
        return nn.Dense(self.config.outputs)(hidden)


add_network("each_alone", Alone)
"""

SMALL = ["--layers=2", "--width=4", "--heads=1", "--qkv-width=2", "--mlp-width=4", "--batch-size=2"]
LINE = ["train", FUZZY_BOARD, "--steps=2", "--warmup=1", "--score-every=0", *SMALL, "--out=run"]


@pytest.fixture(scope="module", autouse=True)
def _boards(compiled, tmp_path_factory):
    with only_boards(tmp_path_factory.mktemp("boards")):
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
    NETWORKS.pop("each_alone", None)
    predictor_of_shape.cache_clear()


def test_a_network_of_ones_own(done, refused, mine):
    """Trained, gone on with, evaluated and drawn; without its file, a line names the option."""
    evaluate, analyse = ["evaluate", "run", "--author=A", "--out=entry"], ["analyse", "run", "--out=analysis"]
    line = [*LINE, "--network=each_alone"]

    def lacking(*words):
        said = refused(*words)
        wanted = "--import run/imported/my_network.py", "--import FILE.py brings one of your own"
        assert any(each in said for each in wanted)

    lacking(*line)
    done(*line, mine)
    config, params = load_run("run")
    assert (config.network, config.attention) == ("each_alone", "none")
    done(*line, mine)  # which has nothing left to do
    assert_same_bits(params, load_run("run")[1])

    forget()
    lacking(*evaluate)
    lacking(*analyse)
    assert "run is of network each_alone, which has no latent codes" in refused(*analyse, mine)
    assert not Path("analysis").exists()

    forget()
    done(*evaluate, mine)
    method = description(Path("entry"))["method"]
    assert method["name"].startswith("each_alone, ") and method["family"] == "other"
    assert method["description"].startswith("The baseline network each_alone: sraven train ")
    assert "--attention none " in method["description"]
    assert "--network each_alone " in method["description"]
    assert "--import my_network.py" in method["description"]
    readme = Path("entry/README.md").read_text()
    assert f"my_network.py has the SHA-256 {sha256(MINE.encode()).hexdigest()}." in readme
    assert "--import my_network.py" in read_result(Path("run"))["command"]

    forget()
    Path("my_network.py").write_text(MINE.replace("nn.gelu", "nn.relu"))
    assert "(my_network.py differs)" in refused("evaluate", "run", "--author=A", "--out=another", mine)
    assert "holds another run (code differ)" in refused(*line, mine)
    forget()
    done("evaluate", "run", "--author=A", "--out=another", "--import=run/imported/my_network.py")
    forget()
    assert "each_alone" in done("curves", "run")  # which needs nothing of it


def test_a_mixer_needs_no_attention_and_a_transformer_one(done, refused):
    done(*LINE, "--network=mixer")
    done(*LINE, "--network=mixer", "--attention=none")  # is the same
    done("evaluate", "run", "--author=A", "--out=entry")
    method = description(Path("entry"))["method"]
    assert method["family"] == "mixer" and method["name"].startswith("mixer, ")
    assert "loops=2 for runs of network='mixer'; expected 'looped'" in refused("evaluate", "run", "--loops=2")
    assert "Missing option '--attention'" in refused(*LINE[:-1], "--out=other")
    assert not Path("other").exists()


@pytest.mark.long
def test_a_looped_run_predicts_and_takes_other_numbers_of_loops(done, refused):
    done(*LINE, "--network=looped", "--attention=linear")
    assert "looped linear" in done("curves", "run")
    done("evaluate", "run", "--author=A", "--out=entry")
    assert description(Path("entry"))["method"]["name"].startswith("looped linear, ")
    found = json.loads(done("evaluate", "run", "--loops=1,2", "--json"))
    scores = json.loads(Path("run/result.json").read_text())["scores"]["splits"]
    assert list(found["loops"]) == ["1", "2"] and found["loops"]["2"] != found["loops"]["1"]
    for split, score in found["loops"]["2"].items():  # as often as in training
        assert score == pytest.approx(scores[split][found["metric"]], abs=1e-6)
    assert "loops (r2_per_sequence)" in done("evaluate", "run", "--loops=2")
    assert "expected integers, such as 1,2,4" in refused("evaluate", "run", "--loops=two")
    assert "layers=0: expected an integer from 1 to 128" in refused("evaluate", "run", "--loops=0")


@pytest.mark.parametrize(
    ("names", "answer"),
    [
        (["my_network.py", "my_network.py"], "holds no run"),  # several may name a file
        (["my_network"], "expected FILE.py"),
        (["absent.py"], "absent.py isn't there"),
        (["json.py"], "called as a module that is there already"),
    ],
)
def test_what_is_imported_and_what_isnt(refused, mine, names, answer):
    Path("json.py").write_text("raise RuntimeError('run')")
    assert answer in refused(
        "evaluate", "nothing", "--author=A", "--out=entry", *(f"--import={name}" for name in names)
    )
