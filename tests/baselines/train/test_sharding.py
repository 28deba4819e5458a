"""Meshes: runs on eight simulated devices end as on one, with their state cut as the table says."""

import json
import re
from contextlib import nullcontext

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AbstractMesh, PartitionSpec

from baselines.encode import encoding_of
from baselines.train.experiment import program_of
from baselines.train.log import SCORES
from baselines.train.sharding import check_batch, make_mesh, state_shardings
from helpers.python import start
from helpers.refusals import assert_refused
from helpers.sharding_cases import CONFIGS, DEVICES, MOVES, WHOLE
from helpers.tiny_runs import STEPS, assert_gradients_agree, assert_runs_agree, lines_of, logged, once
from sraven import ConfigurationError
from sraven.board.board import read_board

HALF = STEPS // 2

CUT_BY_4 = {"query": 0, "key": 0, "value": 0, "attention/out": 2, "embedding": 1}
"""Axes that 4 divides with a width of 12, by the ends of the kernels' paths."""

CUT = {"hyla-both": {**CUT_BY_4, "up": 1, "down": 0}, "softmax-both-gradient": CUT_BY_4}
"""Four divides the 16 hidden units of the one, and not the 14 of the other's experts."""

pytestmark = pytest.mark.usefixtures("compiled")


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """The directory in which a process with eight devices trained all cases."""

    def make(out):
        code = "import sys; from helpers.sharding_cases import main; main(sys.argv[1])"
        assert start(code, out).wait(timeout=600) == 0

    return once(tmp_path_factory, "sharding", make)


def arrays(trained, name):
    return dict(np.load(trained / f"{name}.npz"))


def gradient_of(trained, name):
    """But for a factor: Adam's first moment after one step."""
    return {path: each for path, each in arrays(trained, name).items() if path.startswith(".opt_state[0].mu")}


def lies_of(trained, name):
    return json.loads((trained / f"{name}.json").read_text())


# Trained on meshes

ON_MESHES = ["hyla-both", *(f"hyla-{origin}-{goal}" for origin, goal in MOVES)]


@pytest.mark.long
def test_gradient_on_a_mesh_is_that_on_one_device_up_to_rounding(trained):
    alone, here = (gradient_of(trained, f"softmax-{mesh}-gradient") for mesh in WHOLE)
    assert {array.dtype for array in here.values()} == {np.dtype(np.float32)}
    assert_gradients_agree(here, alone)


@pytest.mark.long
@pytest.mark.parametrize("name", ON_MESHES)
def test_run_on_a_mesh_ends_as_on_one_device(trained, name):
    """With the same losses, and scores of slices, on the way."""
    assert_runs_agree(arrays(trained, name), arrays(trained, "hyla-one"))
    assert_runs_agree(logged(trained / name), logged(trained / "hyla-one"))
    first, *_, last = lines_of(trained / name)
    assert last["loss"] < 0.8 * first["loss"] and last[SCORES].keys() == {"test", "ood", "ood_terms"}


@pytest.mark.long
@pytest.mark.parametrize("name", CUT)
def test_kernels_and_both_of_their_moments_are_cut_and_all_else_is_whole(trained, name):
    found = []
    for path, leaf in lies_of(trained, name).items():
        place, expected = path.split("['")[0], list(leaf["shape"])
        cut = [end for end in CUT[name] if path.endswith(f"{end}/kernel']".replace("/", "']['"))]
        if cut:
            found.append((place, *cut))
            expected[CUT[name][cut[0]]] //= 4
        assert leaf["shards"] == [expected] * DEVICES, path
    places = (".params", ".opt_state[0].mu", ".opt_state[0].nu")
    assert sorted(found) == sorted((place, end) for place in places for end in CUT[name])


@pytest.mark.long
def test_state_is_whole_on_every_device_of_a_data_mesh(trained):
    for path, leaf in lies_of(trained, "hyla-both-data").items():
        assert leaf["shards"] == [leaf["shape"]] * DEVICES, path


@pytest.mark.long
@pytest.mark.parametrize(("origin", "goal"), MOVES)
def test_first_half_of_a_run_that_moves_is_not_trained_again(trained, origin, goal):
    """Its first log lines are those of the other mesh, to the last bit and the speed."""
    moved, before = lines_of(trained / f"hyla-{origin}-{goal}"), lines_of(trained / f"hyla-{origin}")
    assert [line for line in moved if line["step"] <= HALF] == before[:2]


# The table


def state_of(config, runs=None):
    """The shapes of a state, or of stacked ones."""
    initialise = program_of(config, encoding_of(read_board(config.board).task)).initialise
    if runs is None:
        return jax.eval_shape(initialise, jnp.uint32(0))
    return jax.eval_shape(jax.vmap(initialise), jnp.zeros(runs, jnp.uint32))


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
def test_moments_lie_as_their_parameters_do_and_stacked_states_behind_the_axis_of_runs(config):
    one, stacked = (
        state_shardings(AbstractMesh((2, 4), ("data", "fsdp")), state_of(config, runs)) for runs in (None, 4)
    )
    assert one.params == one.opt_state[0].mu == one.opt_state[0].nu
    assert len({sharding.spec for sharding in jax.tree.leaves(one.params)}) > 2
    for alone, among in zip(jax.tree.leaves(one), jax.tree.leaves(stacked), strict=True):
        expected = PartitionSpec(None, *alone.spec) if len(alone.spec) else PartitionSpec()
        assert among.spec == expected


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
    assert_refused(re.escape(message), make_mesh, shape)


@pytest.mark.parametrize("shape", [None, "data=1", "fsdp=1", " data = 1 , fsdp=1", "fsdp=1,data=1"])
def test_mesh_of_one_device(shape):
    assert make_mesh(shape).shape == {"data": 1, "fsdp": 1}


@pytest.mark.parametrize(
    ("batch_size", "num_microbatches", "message"),
    [
        *((*each, None) for each in ((8, 1), (24, 1), (32, 4), (96, 4))),
        (12, 1, "batch_size=12: expected a multiple of 8, for a mesh of 8 devices"),
        (4, 1, "batch_size=4: expected a multiple of 8, for a mesh of 8 devices"),
        (24, 4, "batch_size=24 in 4 parts: expected a multiple of 32, for a mesh of 8 devices"),
    ],
)
def test_batches_are_those_that_a_mesh_divides(batch_size, num_microbatches, message):
    with pytest.raises(ConfigurationError, match=message) if message else nullcontext():
        check_batch(AbstractMesh((2, 4), ("data", "fsdp")), batch_size, num_microbatches)
