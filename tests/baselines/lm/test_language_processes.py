"""The language model on several processes and devices: as good as one, with its parameters cut.

Whole runs are compared in float64, where nothing is left of the order in which numbers are added up, and
first gradients in float32.
"""

import json
import signal

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AbstractMesh, PartitionSpec

from baselines.config import read_config
from baselines.lm.evaluate import document_losses, validation_scores
from baselines.lm.experiment import language_experiment, language_program
from baselines.lm.recipes import make_language_config
from baselines.lm.sample import load_language_run
from baselines.runs.directory import CHECKPOINTS, CONFIG
from baselines.runs.log import LOG, SCORES
from baselines.runs.provenance import RECORD
from baselines.runs.result import RESULT
from baselines.training.sharding import make_mesh, state_shardings
from baselines.training.train import train
from helpers.tiny_language import LINE, TRAINING, TWICE, VALIDATION, sraven, tiny
from helpers.tiny_runs import (
    EXACTLY,
    assert_gradients_agree,
    assert_runs_agree,
    in_float64,
    leaves,
    lines_of,
    once,
)
from helpers.two_processes import kill_at_first_checkpoint, start_two
from sraven import ConfigurationError
from sraven.core.boards.board import read_board

SCORED = 20
"""Steps between scores of the run that two processes begin."""

DEVICES, MESH = 4, "data=2,fsdp=2"


pytestmark = pytest.mark.usefixtures("compiled")


def arrays(path):
    with np.load(path) as file:
        return dict(file)


# Two processes


@pytest.fixture(scope="module")
def resumed(tmp_path_factory, forks, language, compiled):
    """A run that two processes began and one went on with; and how they ended."""

    def make(folder):
        out = folder / "run"
        data = [f"--data={language / TRAINING}", f"--validation={language / VALIDATION}"]
        line = [*LINE, *data, f"--score-every={SCORED}", f"--out={out}"]
        codes, left = kill_at_first_checkpoint(start_two(forks, compiled, "stall", *line), out, 20)
        with in_float64():
            ends = {"codes": codes, "left": left, "printed": sraven(*line)}
            np.savez(folder / "params.npz", **leaves(load_language_run(out)[1]))
        (folder / "ends.json").write_text(json.dumps(ends))

    return once(tmp_path_factory, "language-processes", make)


@pytest.mark.long
def test_two_processes_were_killed_on_the_way_and_one_went_on_with_the_run(resumed, corpus):
    ends, out = json.loads((resumed / "ends.json").read_text()), resumed / "run"
    assert (ends["codes"], ends["left"]) == ([-signal.SIGKILL] * 2, ["20"])
    code, printed, err = ends["printed"]
    assert (code, err) == (0, "") and printed.startswith(f"{out}: 60 steps, loss ")
    records = [path.name for path in out.glob(RECORD.format("*"))]
    assert len(records) == 2  # of two processes, and of one
    files = {CONFIG, LOG, CHECKPOINTS, RESULT, "tokenizer.model", *records}
    assert {path.name for path in out.iterdir()} == files
    assert read_config(json.loads((out / CONFIG).read_text())) == tiny(corpus)
    assert (out / "tokenizer.model").read_bytes() == corpus.read_tokenizer().model
    assert [line["step"] for line in lines_of(out)] == [20, 40, 60]


@pytest.mark.long
def test_two_processes_and_one_score_and_end_as_one_does(resumed, corpus, unseen, tmp_path):
    out = resumed / "run"
    found = {line["step"]: line[SCORES]["validation"]["loss"] for line in lines_of(out) if SCORES in line}
    assert list(found) == [20, 40, 60]
    assert found[20] > found[40] > found[60]
    with in_float64():
        config, params = load_language_run(out)
        evaluate = validation_scores(unseen)(config, make_mesh())
        assert evaluate(params, 60)["validation"]["loss"] == pytest.approx(found[60], rel=EXACTLY)
        state = train(config, tmp_path / "alone", make_experiment=language_experiment(corpus))
    for name in ("loss", "perplexity", "bits_per_byte", "gradient_norm", "accuracy"):
        here, there = ([line[name] for line in lines_of(run)] for run in (out, tmp_path / "alone"))
        np.testing.assert_allclose(here, there, rtol=EXACTLY, err_msg=name)
    assert_runs_agree(arrays(resumed / "params.npz"), leaves(state.params))


# Four devices

ON_DEVICES = """
import sys
from pathlib import Path
import jax
jax.config.update("jax_num_cpu_devices", {devices})
import numpy as np
from baselines.runs.checkpoint import Checkpoints
from baselines.lm.corpus import Corpus
from baselines.lm.evaluate import document_losses
from baselines.lm.experiment import language_experiment
from baselines.lm.sample import load_language_run
from baselines.training.sharding import make_mesh
from helpers.tiny_language import TRAINING, TWICE, VALIDATION, tiny
from helpers.tiny_runs import first_gradient, quickly

language, out, cache = map(Path, sys.argv[1:])
Checkpoints.save = lambda *_: None  # of states that are cut, it takes as long as the training
corpus, mesh = Corpus(language / TRAINING), make_mesh("{mesh}")
with quickly(cache):
    for name, on in (("one", make_mesh()), ("cut", mesh)):
        options = {{"mesh": on, "make_experiment": language_experiment(corpus)}}
        np.savez(out / f"{{name}}.npz", **first_gradient(tiny(corpus), out / name, **options))
    config, params = load_language_run(language / TWICE[0])
    found = document_losses(config, params, Corpus(language / VALIDATION), rows=8, mesh=mesh)
    np.save(out / "losses.npy", found.loss)
"""


@pytest.fixture(scope="module")
def on_devices(tmp_path_factory, forks, language, compiled):
    """What a process with four devices trained and evaluated."""

    def make(folder):
        code = ON_DEVICES.format(devices=DEVICES, mesh=MESH)
        assert forks.start(code, language, folder, compiled).wait(timeout=600) == 0

    return once(tmp_path_factory, "language-devices", make)


@pytest.mark.long
def test_four_devices_train_and_evaluate_as_one_does(on_devices, language, unseen):
    here, alone = (arrays(on_devices / f"{place}.npz") for place in ("cut", "one"))
    assert {array.dtype for array in here.values()} == {np.dtype(np.float32)}
    assert_gradients_agree(here, alone)
    found = document_losses(*load_language_run(language / TWICE[0]), unseen, rows=8)
    np.testing.assert_allclose(np.load(on_devices / "losses.npy"), found.loss, rtol=1e-5)


def test_eight_devices_hold_an_eighth_of_the_papers_model_each(corpus):
    """But for biases and norms, which are less than a hundredth of it."""
    config = make_language_config(read_board("c4-v1"), corpus, "hyla", vocabulary=32_000)
    state = jax.eval_shape(language_program(config).initialise, jnp.uint32(0))
    shardings = state_shardings(AbstractMesh((1, 8), ("data", "fsdp")), state)
    assert shardings.params["embedding"].spec == PartitionSpec(None, "fsdp")
    sizes = jax.tree.map(lambda leaf, sharding: np.prod(sharding.shard_shape(leaf.shape)), state, shardings)
    for part in (lambda state: state.params, lambda state: state.opt_state):
        held, whole = (sum(jax.tree.leaves(part(each))) for each in (sizes, jax.tree.map(np.size, state)))
        assert 1 / 8 < held / whole < 1 / 8 + 0.01


def test_rows_that_devices_can_not_share_are_refused(corpus, unseen):
    mesh = AbstractMesh((2, 2), ("data", "fsdp"))
    with pytest.raises(ConfigurationError, match="rows=7: expected a multiple of 4, the devices of the mesh"):
        document_losses(tiny(corpus), None, unseen, rows=7, mesh=mesh)
