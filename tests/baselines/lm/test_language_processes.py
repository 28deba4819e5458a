"""The language model on several processes and devices: as good as one, with its parameters cut.

Whole runs are compared in float64, where nothing is left of the order in which numbers are added up, and
first gradients in float32.
"""

import signal

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AbstractMesh, PartitionSpec

from baselines.lm.evaluate import document_losses
from baselines.lm.experiment import language_program
from baselines.lm.recipes import make_language_config
from baselines.lm.session import load_language_run
from baselines.train.log import SCORES
from baselines.train.sharding import state_shardings
from helpers.python import start
from helpers.tiny_language import LINE, TRAINING, TWICE, VALIDATION, tiny
from helpers.tiny_runs import assert_gradients_agree, assert_runs_agree, in_float64, leaves, lines_of, logged
from helpers.two_processes import kill_at_first_checkpoint, start_two
from sraven import ConfigurationError

SCORED = 20
"""Steps between scores of the run that two processes begin."""

DEVICES, MESH = 4, "data=2,fsdp=2"


pytestmark = pytest.mark.usefixtures("compiled")


# Two processes


@pytest.mark.long
def test_a_run_that_two_processes_began_and_one_went_on_with_scores_and_ends_as_one_does(
    language, compiled, done, tmp_path
):
    begun, *_ = runs = tmp_path / "run", tmp_path / "alone"
    data = [f"--data={language / TRAINING}", f"--validation={language / VALIDATION}"]
    line = [*LINE, *data, f"--score-every={SCORED}"]
    both = start_two(compiled, "stall", *line, f"--out={begun}")
    assert kill_at_first_checkpoint(both, begun, SCORED) == ([-signal.SIGKILL] * 2, [str(SCORED)])
    with in_float64():
        for run in runs:
            done(*line, f"--out={run}")
        here, there = (leaves(load_language_run(run)[1]) for run in runs)
    assert_runs_agree(here, there)
    assert_runs_agree(*map(logged, runs))
    found = {line["step"]: line[SCORES]["validation"]["loss"] for line in lines_of(begun)}
    assert list(found) == [20, 40, 60] and found[20] > found[40] > found[60]


# Four devices

ON_DEVICES = """
import sys
from functools import partial
from pathlib import Path
import jax
jax.config.update("jax_num_cpu_devices", {devices})
import numpy as np
from baselines.train.checkpoint import Checkpoints
from baselines.lm.corpus import Corpus
from baselines.lm.evaluate import document_losses
from baselines.lm.experiment import language_experiment
from baselines.lm.session import load_language_run
from baselines.train.sharding import make_mesh
from helpers.tiny_language import TRAINING, TWICE, VALIDATION, tiny
from helpers.tiny_runs import first_gradient, quickly

language, out, cache = map(Path, sys.argv[1:])
Checkpoints.save = lambda *_: None  # of states that are cut, it takes as long as the training
corpus, mesh = Corpus(language / TRAINING), make_mesh("{mesh}")
with quickly(cache):
    for name, on in (("one", make_mesh()), ("cut", mesh)):
        options = {{"mesh": on, "make_experiment": partial(language_experiment, corpus=corpus)}}
        np.savez(out / f"{{name}}.npz", **first_gradient(tiny(corpus), out / name, **options))
    config, params = load_language_run(language / TWICE[0])
    found = document_losses(config, params, Corpus(language / VALIDATION), rows=8, mesh=mesh)
    np.save(out / "losses.npy", found.loss)
"""


@pytest.mark.long
def test_four_devices_train_and_evaluate_as_one_does(language, compiled, unseen, tmp_path):
    code = ON_DEVICES.format(devices=DEVICES, mesh=MESH)
    assert start(code, language, tmp_path, compiled).wait(timeout=600) == 0
    here, alone = (dict(np.load(tmp_path / f"{place}.npz")) for place in ("cut", "one"))
    assert {array.dtype for array in here.values()} == {np.dtype(np.float32)}
    assert_gradients_agree(here, alone)
    found = document_losses(*load_language_run(language / TWICE[0]), unseen, rows=8)
    np.testing.assert_allclose(np.load(tmp_path / "losses.npy"), found.loss, rtol=1e-5)


def test_eight_devices_hold_an_eighth_of_the_papers_model_each(corpus):
    """But for biases and norms, which are less than a hundredth of it."""
    config = make_language_config(corpus, "hyla", vocabulary=32_000)
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
