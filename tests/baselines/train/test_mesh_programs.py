"""Communication between devices in compiled programs: of parameters and gradients, and nothing else."""

import json
import os
import re

import pytest

from helpers.checkout import REPOSITORY
from helpers.python import python

pytestmark = pytest.mark.long

SCRIPT = """
import json, sys
import jax
jax.config.update("jax_num_cpu_devices", 4)
import jax.numpy as jnp
from baselines.encode import encoding_of
from baselines.train.experiment import board_of, program_of
from baselines.lm.experiment import Compute, language_program
from baselines.config import C4, LanguageConfig
from baselines.train.sharding import AXES, make_mesh, state_shardings
from baselines.train.step import Hyperparams, train_step
from jax.sharding import NamedSharding, PartitionSpec
from sraven.board.board import read_board
from helpers.compiling import quick_compilation
from helpers.tiny_runs import tiny
from sraven.core.spec import values_of

def compiled(program, mesh, batch):
    state = jax.eval_shape(program.initialise, jnp.uint32(0))
    placed = jax.tree.map(
        lambda leaf, sharding: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=sharding),
        state, state_shardings(mesh, state),
    )
    cut = NamedSharding(mesh, PartitionSpec(AXES))
    batch = {name: jax.ShapeDtypeStruct(*what, sharding=cut) for name, what in batch.items()}
    update = lambda state, batch: train_step(program, state, Hyperparams(1e-2, 0.1, 2), batch)
    with quick_compilation():  # without passes that come after those that tell devices of each other
        compiler = jax.jit(update, out_shardings=(state_shardings(mesh, state), None))
    return compiler.lower(placed, batch).compile().as_text()

texts = {}
cases = (("whole", "data=4", 1), ("parts", "data=4", 4), ("cut", "data=2,fsdp=2", 1))
for name, shape, num_microbatches in cases:
    rows = 64 * num_microbatches  # 16 at a time on each of four devices
    config, mesh = tiny("hyla", batch_size=rows), make_mesh(shape)
    encoding = encoding_of(board_of(config).task)
    batch = {"inputs": ((rows, 32, 4), jnp.float32), "targets": ((rows, 32), jnp.float32)}
    texts[name] = compiled(program_of(config, encoding, num_microbatches, mesh), mesh, batch)
text = {"board": C4.id, "board_digest": C4.digest, "corpus": "0" * 64, "vocabulary": 301, "length": 512}
shape = values_of(tiny("hyla", layers=1, batch_size=8, width=24, qkv_width=12))
config = LanguageConfig(**{**shape, **text, "dtype": "float32"})
for name, shape in (("text", "data=4"), ("text cut", "data=2,fsdp=2")):
    mesh = make_mesh(shape)
    program = language_program(config, mesh, Compute(tile=0))
    texts[name] = compiled(program, mesh, {"tokens": ((8, 513), jnp.int32)})
json.dump(texts, sys.stdout)
"""

COLLECTIVES = ("all-reduce", "all-gather", "all-to-all", "collective-permute", "reduce-scatter")


@pytest.fixture(scope="module")
def programs():
    """The text of each program, compiled for four devices, and what the compiler complained of."""
    paths = os.pathsep.join(map(str, (REPOSITORY, REPOSITORY / "tests")))
    environment = {**os.environ, "PYTHONPATH": paths, "JAX_PLATFORMS": "cpu", "TF_CPP_MIN_LOG_LEVEL": "0"}
    done = python("-c", SCRIPT, cwd=REPOSITORY, env=environment, timeout=600)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout), done.stderr


def collectives(text):
    """How often each kind occurs; those that start and end apart count once."""
    return {kind: len(re.findall(rf" {kind}(?:-start)?\(", text)) for kind in COLLECTIVES}


def bodies_of_loops(text):
    names = set(re.findall(r"body=%?([\w.-]+)", text))
    computations = re.split(r"\n(?=%?[\w.-]+ |ENTRY )", text)
    return [part for part in computations if part.split(" ")[0].lstrip("%") in names]


@pytest.mark.parametrize("name", ["whole", "parts"])
def test_devices_that_share_a_batch_tell_each_other_one_sum_and_compute_a_part_in_lanes(programs, name):
    found = collectives(programs[0][name])
    assert found["all-reduce"] == sum(found.values()) == 1
    assert "sraven_rms_head_hyla_3_2_forward" in programs[0][name]


def test_parameters_are_gathered_before_the_model_and_nothing_is_in_it(programs):
    """One gathering of each parameter that is cut; what remains are sums of gradients."""
    texts, complaints = programs
    assert "Involuntary full rematerialization" not in complaints
    for name, cut in (("cut", 7), ("text cut", 7)):
        found = collectives(texts[name])
        assert 0 < found["all-gather"] <= cut, name
        assert found["all-to-all"] == found["collective-permute"] == 0, name


@pytest.mark.parametrize("name", ["text", "text cut"])
def test_the_gradient_of_the_table_is_summed_once_after_the_last_piece(programs, name):
    bodies = bodies_of_loops(programs[0][name])
    assert bodies
    for body in bodies:
        assert not any(collectives(body).values())
