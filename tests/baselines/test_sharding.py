"""Meshes: runs on eight simulated devices end as on one, with their state cut as the table says.

Batches are also cut into parts, one after the other, which changes as little.
"""

import json
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AbstractMesh, PartitionSpec

from baselines.encode import encoding_of
from baselines.model.config import TransformerConfig
from baselines.model.transformer import Transformer
from baselines.runs.log import SCORES
from baselines.training.experiment import program_of
from baselines.training.feed import chunk_of_steps
from baselines.training.optim import Hyperparams
from baselines.training.sharding import check_batch, make_mesh, state_shardings
from baselines.training.step import train_step
from fuzzylogic import FuzzyLogic
from helpers.plain_programs import plain_program
from helpers.sharding_cases import CONFIGS, DEVICES, GRADIENTS, MOVES
from helpers.tiny_runs import (
    EXACTLY,
    STEPS,
    assert_gradients_agree,
    assert_runs_agree,
    leaves,
    lines_of,
    once,
)
from sraven import SRAVEN, ConfigurationError
from sraven.core.boards.board import read_board

HALF = STEPS // 2

CUT_BY_4 = {"query": 0, "key": 0, "value": 0, "attention/out": 2, "embedding": 1}
"""Axes that 4 divides with a width of 12, by the ends of the kernels' paths."""

CUT_OF_MLP = {"up": 1, "down": 0}

CUT = {
    "hyla-both": {**CUT_BY_4, **CUT_OF_MLP},
    "hyla-one-fsdp": CUT_OF_MLP,
    "softmax-both-gradient": CUT_BY_4,
}
"""Eight divides the 16 hidden units and not the width; four doesn't divide the 14 of the experts."""

pytestmark = pytest.mark.usefixtures("compiled")


@pytest.fixture(scope="module")
def trained(tmp_path_factory, forks):
    """The directory in which a process with eight devices trained all cases."""

    def make(out):
        code = "import sys; from helpers.sharding_cases import main; main(sys.argv[1])"
        assert forks.start(code, out).wait(timeout=600) == 0

    return once(tmp_path_factory, "sharding", make)


def arrays(trained, name):
    with np.load(trained / f"{name}.npz") as file:
        return dict(file)


def gradient_of(trained, name):
    """But for a factor: Adam's first moment after one step."""
    return {path: each for path, each in arrays(trained, name).items() if path.startswith(".opt_state[0].mu")}


def lies_of(trained, name):
    return json.loads((trained / f"{name}.json").read_text())


def log_of(trained, name):
    return lines_of(trained / name)


# Trained on meshes

ON_MESHES = ["hyla-both", *(f"hyla-{origin}-{goal}" for origin, goal in MOVES)]


@pytest.mark.long
@pytest.mark.parametrize(("config", "mesh"), [(name, mesh) for name, mesh in GRADIENTS if mesh != "one"])
def test_gradient_on_a_mesh_is_that_on_one_device_up_to_rounding(trained, config, mesh):
    here, alone = (gradient_of(trained, f"{config}-{place}-gradient") for place in (mesh, "one"))
    assert {array.dtype for array in here.values()} == {np.dtype(np.float32)}
    assert_gradients_agree(here, alone)


@pytest.mark.long
@pytest.mark.parametrize("name", ON_MESHES)
def test_run_on_a_mesh_ends_as_on_one_device(trained, name):
    assert_runs_agree(arrays(trained, name), arrays(trained, "hyla-one"))


@pytest.mark.long
@pytest.mark.parametrize("name", ON_MESHES)
def test_losses_and_scores_on_a_mesh_are_those_on_one_device(trained, name):
    here, alone = log_of(trained, name), log_of(trained, "hyla-one")
    assert [line["step"] for line in here] == [line["step"] for line in alone] == [5, 10, 15, 20]
    for value in ("loss", "score", "gradient_norm"):
        np.testing.assert_allclose([x[value] for x in here], [x[value] for x in alone], rtol=EXACTLY)
    assert here[-1]["loss"] < 0.8 * here[0]["loss"]


@pytest.mark.long
def test_scores_of_slices_on_a_mesh_are_those_on_one_device(trained):
    here, alone = (
        {line["step"]: line[SCORES] for line in log_of(trained, each) if SCORES in line}
        for each in ("hyla-both", "hyla-one")
    )
    assert list(here) == list(alone) == [HALF, STEPS]
    for step, splits in here.items():
        assert list(splits) == ["test", "ood", "ood_terms"]
        for split, scores in splits.items():
            assert scores == pytest.approx(alone[step][split], abs=EXACTLY)


@pytest.mark.long
@pytest.mark.parametrize("name", CUT)
def test_kernels_and_both_of_their_moments_are_cut_and_all_else_is_whole(trained, name):
    size, found = 8 if "fsdp" in name else 4, []
    for path, leaf in lies_of(trained, name).items():
        place, expected = path.split("['")[0], list(leaf["shape"])
        cut = [end for end in CUT[name] if path.endswith(f"{end}/kernel']".replace("/", "']['"))]
        if cut:
            found.append((place, *cut))
            expected[CUT[name][cut[0]]] //= size
        assert leaf["shards"] == [expected] * DEVICES, path
    places = (".params", ".opt_state[0].mu", ".opt_state[0].nu")
    assert sorted(found) == sorted((place, end) for place in places for end in CUT[name])


@pytest.mark.long
def test_state_is_whole_on_every_device_of_a_data_mesh(trained):
    for path, leaf in lies_of(trained, "hyla-both-data").items():
        assert leaf["shards"] == [leaf["shape"]] * DEVICES, path


@pytest.mark.long
def test_state_that_was_cut_is_put_together_on_one_device(trained):
    assert lies_of(trained, "hyla-both-one") == lies_of(trained, "hyla-one")


@pytest.mark.long
@pytest.mark.parametrize(("origin", "goal"), MOVES)
def test_first_half_of_a_run_that_moves_is_not_trained_again(trained, origin, goal):
    """Its first log lines are those of the other mesh, to the last bit and the speed."""
    moved, before = log_of(trained, f"hyla-{origin}-{goal}"), log_of(trained, f"hyla-{origin}")
    assert [line for line in moved if line["step"] <= HALF] == before[:2]


@pytest.mark.long
def test_batch_that_a_mesh_does_not_divide_is_refused_before_anything_is_written(trained):
    assert (trained / "refused.txt").read_text().startswith("batch_size=12: ")
    assert not (trained / "refused").exists()


# The table


def state_of(config, runs=None):
    """The shapes of a state, or of stacked ones."""
    program = program_of(config, encoding_of(read_board(config.board).task))
    if runs is None:
        return jax.eval_shape(program.initialise, jnp.uint32(0))
    return jax.eval_shape(jax.vmap(program.initialise), jnp.zeros(runs, jnp.uint32))


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
def test_moments_lie_as_their_parameters_do(config):
    shardings = state_shardings(AbstractMesh((2, 4), ("data", "fsdp")), state_of(config))
    adam = shardings.opt_state[0]
    assert shardings.params == adam.mu == adam.nu
    specs = {sharding.spec for sharding in jax.tree.leaves(shardings.params)}
    assert len(specs) > 2


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
def test_stacked_states_lie_as_one_does_behind_the_axis_of_runs(config):
    mesh = AbstractMesh((2, 4), ("data", "fsdp"))
    one = jax.tree.leaves(state_shardings(mesh, state_of(config)))
    stacked = jax.tree.leaves(state_shardings(mesh, state_of(config, runs=4)))
    for alone, among in zip(one, stacked, strict=True):
        expected = PartitionSpec(None, *alone.spec) if len(alone.spec) else PartitionSpec()
        assert among.spec == expected


def test_table_of_a_vocabulary_is_cut_along_its_width():
    config = TransformerConfig(
        inputs=0, outputs=0, length=5, vocabulary=8, layers=1, width=12, heads=3, qkv_width=6, mlp_width=16
    )
    tokens = jnp.zeros((1, 5), jnp.int32)
    params = jax.eval_shape(lambda: Transformer(config).init(jax.random.key(0), tokens))["params"]
    shardings = state_shardings(AbstractMesh((2, 4), ("data", "fsdp")), params)
    assert shardings["embedding"].spec == PartitionSpec(None, "fsdp")


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ("data=2", "mesh 'data=2' has 2 devices; here: 1 device (cpu); choose a smaller mesh"),
        ("data=2,fsdp=4", "mesh 'data=2,fsdp=4' has 8 devices; here: 1 device (cpu); choose a smaller mesh"),
        *(
            (shape, f"mesh {shape!r}: expected sizes by axis, such as data=4,fsdp=2")
            for shape in ("dat=4", "data=0", "data=-1", "data=4,data=2", "data", "data=", "data=x", ",", "4")
        ),
    ],
)
def test_bad_mesh_is_refused(shape, message):
    with pytest.raises(ConfigurationError) as error:
        make_mesh(shape)
    assert str(error.value) == message


@pytest.mark.parametrize("shape", [None, "data=1", "fsdp=1", " data = 1 , fsdp=1", "fsdp=1,data=1"])
def test_mesh_of_one_device(shape):
    assert make_mesh(shape).shape == {"data": 1, "fsdp": 1}


@pytest.mark.parametrize(("batch_size", "num_microbatches"), [(8, 1), (24, 1), (32, 4), (96, 4)])
def test_batch_that_a_mesh_divides_is_accepted(batch_size, num_microbatches):
    check_batch(AbstractMesh((2, 4), ("data", "fsdp")), batch_size, num_microbatches)


@pytest.mark.parametrize(
    ("batch_size", "num_microbatches", "message"),
    [
        (12, 1, "batch_size=12: expected a multiple of 8, for a mesh of 8 devices"),
        (4, 1, "batch_size=4: expected a multiple of 8, for a mesh of 8 devices"),
        (24, 4, "batch_size=24 in 4 parts: expected a multiple of 32, for a mesh of 8 devices"),
    ],
)
def test_batch_that_a_mesh_does_not_divide_is_refused(batch_size, num_microbatches, message):
    with pytest.raises(ConfigurationError) as error:
        check_batch(AbstractMesh((2, 4), ("data", "fsdp")), batch_size, num_microbatches)
    assert str(error.value) == message


# Parts of a batch

TASKS = [SRAVEN(M=3, K=7, holdout=0.3, seed=5), FuzzyLogic(L=3, K=2, N=5, holdout=0.5, seed=5)]


def program_with_dropout(task, num_microbatches):
    """A model of one matrix, a tenth of whose inputs are dropped: the same ones for all instances."""
    encoding = encoding_of(task)
    size = encoding.length * encoding.width_in, encoding.length * encoding.width_out

    def apply(params, tokens_BTD, key):
        kept = jax.random.bernoulli(key, 0.9, size[:1]) / 0.9
        flat = (tokens_BTD.reshape(len(tokens_BTD), -1) * kept) @ params["kernel"] + params["bias"]
        return flat.reshape(len(tokens_BTD), encoding.length, encoding.width_out)

    def initialise(key):
        return {"kernel": 0.1 * jax.random.normal(key, size), "bias": jnp.zeros(size[1])}

    return plain_program(task, initialise, apply, steps=9, num_microbatches=num_microbatches)


def steps_of(task, num_microbatches, steps):
    """The state after some updates with batches of 12, and their reports."""
    program = program_with_dropout(task, num_microbatches)
    chunk = chunk_of_steps(task, encoding_of(task).fields, 0, steps, 12)
    hyper = Hyperparams(*jnp.array([1e-2, 0.1, 2]))

    @jax.jit
    def train(seed):
        return jax.lax.scan(
            lambda state, batch: train_step(program, state, hyper, batch), program.initialise(seed), chunk
        )

    return train(jnp.uint32(3))


@pytest.mark.usefixtures("float64")
@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_parts_of_a_batch_make_the_steps_of_the_whole_under_dropout(task):
    whole, reports = steps_of(task, 1, 3)
    cut, cut_reports = steps_of(task, 4, 3)
    for one, other in zip(cut_reports, reports, strict=True):
        np.testing.assert_allclose(one, other, rtol=EXACTLY)
    assert_runs_agree(leaves(cut), leaves(whole))
    assert len(set(reports.loss.tolist())) == 3


def test_batch_is_cut_into_parts_once_each():
    """Parts that left an instance out, or took one twice, would give another loss."""
    task = TASKS[1]
    encoding = encoding_of(task)
    sample = task.sample("train", 0, 12)
    batch = {name: jnp.asarray(getattr(sample, name)) for name in encoding.fields}
    spread = batch | {"targets": batch["targets"].at[:, -1].set(2.0 ** jnp.arange(12))}

    def initialise(key):
        return {"bias": jnp.zeros(())}

    def apply(params, tokens_BTD, key):
        return params["bias"] + jnp.zeros((*tokens_BTD.shape[:2], 1))

    program = plain_program(task, initialise, apply, steps=1, num_microbatches=4)
    state = program.initialise(jnp.uint32(0))
    _, report = jax.jit(partial(train_step, program))(state, Hyperparams(1e-2, 0.0, 0), spread)
    assert report.loss == pytest.approx(sum(4.0**place for place in range(12)) / 12, rel=1e-6)
