"""Time, memory and variances of training.

    python tests/speed/training.py steps docs/results/training-speed.json
    python tests/speed/training.py at_once docs/results/jobs-speed.json 2
    python tests/speed/training.py memory docs/results/language-memory.json
    python tests/speed/training.py variance docs/results/initial-variance.json

- ``steps``: for each board and attention, milliseconds of a step, of a step with attention in its plain
  form, of a step whose last block computes all tokens, not those with outputs alone, of making its batch,
  of the forward pass, of forward and backward pass; and two shares of a matrix product's rate in the same
  run. Nominal: 6 · parameters · tokens over the time of a step, as if every token went through every
  weight. Real: the products that a step does, of weights and of attention, of which the last block leaves
  out what no output needs. Rounds alternate, so that a slow spell of the machine hits all of them; each
  time is the least of the rounds. With `taskset -c 0` before it, the command times one processor. Then the
  temporary memory of HYLA, forward and backward, plain and tiled, from the compiler's own analysis.
- ``at_once``: for each attention, in turns, milliseconds of a step of a run alone, on one device of all
  processors; of one on a mesh of that many devices; and in each of that many processes, as `sraven
  reproduce --run --jobs` trains them. And how many times as many steps a second as alone the mesh and the
  processes in all do. Each time is the median of ten seconds of steps, and of the rounds.
- ``memory``: of a step of the language model at the paper's size, without running one, for each attention,
  at T = 512 and 1,024 and for some rows. What the compiler plans for a step besides parameters and moments,
  in float32, on this machine. And what is kept of the forward pass for the backward pass, in bfloat16, as
  differentiation asks for it, with and without rematerialisation; compilers keep less where they join
  operations. A CPU's compiler undoes rematerialisation, so the first has it not.
- ``variance``: what RMSHead keeps at initialisation. A layer of self-attention of the recipe of sraven-v1
  (E = 128, H = 16, D = 4) as it is initialised, on tokens of independent normal numbers of variance 1, as
  after LayerNorm. By attention, number of tokens T, and a factor that queries are multiplied by:
  ``weights``, Σ_h a² / H, by which the variance of the weights that a latent code generates differs from H
  times that of the weights of a head (paper, section 2.2); ``outputs``, the variance of the layer's outputs
  over tokens, channels and instances. Each is a mean over initialisations, with its standard error.
"""

import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median

import jax
import jax.numpy as jnp
import numpy as np
from record import choose, keep, least_seconds, seconds_of

from baselines.encode import encoding_of
from baselines.lm.experiment import Compute, language_model, language_program
from baselines.lm.recipes import config_on_text
from baselines.model.attention import ATTENTION
from baselines.model.config import TransformerConfig
from baselines.model.fast.tiles import tiled_attention
from baselines.model.self_attention import SelfAttention
from baselines.recipes import FAMILIES, make_config
from baselines.reproduction.plan import operations_of
from baselines.training.compiled import Compiled, count_parameters
from baselines.training.experiment import (
    board_experiment,
    chunk_of_steps,
    model_of,
    num_microbatches_of,
    program_of,
)
from baselines.training.optim import Hyperparams
from baselines.training.sharding import make_mesh, on_cpu
from baselines.training.step import train_chunk, train_step
from baselines.training.train import hyper_of
from sraven.board.board import read_board
from sraven.core.estimate import mean
from sraven.core.jsonable import as_json
from sraven.data.engines.jobs import HERE, map_jobs
from sraven.data.engines.processes import take_processors

BOARDS, ATTENTIONS = ("fuzzylogic-v1", "sraven-v1"), ("softmax", "linear", "hyla")
STEPS, ROUNDS, PRODUCTS = 10, 10, 20
SIZE = 1024
LONG = {"B": 1, "H": 8, "V": 64}


def product():
    """Return what multiplies two float32 matrices, some times over."""
    left = jax.random.normal(jax.random.key(0), (SIZE, SIZE))
    multiply = jax.jit(jnp.matmul)
    return lambda: [multiply(left, left) for _ in range(PRODUCTS)]


def training_of(board_id, attention, steps, runs=1, num_outputs=None):
    """Return a function of states and batches that trains some steps, and what to give it."""
    board = read_board(board_id)
    configs = [make_config(board, attention, seed=seed) for seed in range(runs)]
    config, mesh, encoding = configs[0], make_mesh(), encoding_of(board.task)
    outputs = num_outputs or encoding.num_outputs
    num_microbatches = num_microbatches_of(config.batch_size, mesh)
    program = program_of(config, encoding._replace(num_outputs=outputs), num_microbatches)
    state = jax.jit(program.initialise)(np.uint32(0))
    states = jax.tree.map(lambda leaf: jnp.stack([leaf] * runs), state)
    data = chunk_of_steps(board.task, encoding.fields, config.batch_size, 0, steps)
    chunk = {name: jnp.asarray(array) for name, array in data.items()}
    vmap_runs, hypers = not on_cpu(mesh), hyper_of(configs)

    def train(states, chunk):
        return train_chunk(program, states, hypers, chunk, vmap_runs=vmap_runs)

    return jax.jit(train), states, chunk


def works(board_id, attention):
    """Return what to time of a board and an attention, and the operations of a step: nominal and real."""
    board = read_board(board_id)
    config = make_config(board, attention)
    encoding = encoding_of(board.task)
    model = model_of(config, encoding)
    _, states, chunk = training_of(board_id, attention, STEPS)
    params = jax.tree.map(lambda leaf: leaf[0], states.params)

    def loss(params, batch):
        out = model.apply({"params": params}, encoding.tokens(batch), num_outputs=encoding.num_outputs)
        return encoding.loss(out, batch)

    def differentiate(total, batch):
        return jax.tree.map(jnp.add, total, jax.grad(loss)(params, batch)), None

    zeros = jax.tree.map(jnp.zeros_like, params)

    def in_calls(num_outputs=None):
        train, states, chunk = training_of(board_id, attention, STEPS, num_outputs=num_outputs)
        compiled = train.lower(states, chunk).compile()
        return lambda: compiled(states, chunk)

    def plain_steps():
        entry = ATTENTION[attention]
        ATTENTION[attention] = replace(entry, implementations=())
        try:
            return in_calls()
        finally:
            ATTENTION[attention] = entry

    forward = jax.jit(
        lambda chunk: jax.lax.scan(lambda total, batch: (total + loss(params, batch), None), 0.0, chunk)
    )
    backward = jax.jit(lambda chunk: jax.lax.scan(differentiate, zeros, chunk))
    parameters = sum(leaf.size for leaf in jax.tree.leaves(params))
    parts = {
        "data": lambda: chunk_of_steps(board.task, encoding.fields, config.batch_size, 0, STEPS),
        "forward": lambda: forward(chunk),
        "forward_and_backward": lambda: backward(chunk),
        "step": in_calls(),
        "step_of_plain_attention": plain_steps(),
        "step_of_all_tokens": in_calls(encoding.length),
    }
    operations = {
        "nominal": 6.0 * parameters * config.batch_size * encoding.length,
        "real": operations_of(config) / config.steps,
    }
    return parts, operations


def finish(work):
    """Do some work, and wait until the device has done it."""
    jax.block_until_ready(work())


def gradients(attention):
    """Return what differentiates the sum of the squares of an attention's outputs, by q, k and v."""
    return jax.jit(
        jax.grad(lambda *qkv: jnp.square(attention(*qkv).astype(jnp.float32)).sum(), argnums=(0, 1, 2))
    )


def hyla_memory(length):
    """Return bytes of temporaries of causal HYLA, forward and backward, plain and tiled."""
    shape = (LONG["B"], length, LONG["H"], LONG["V"])
    arrays = [jax.ShapeDtypeStruct(shape, jnp.float32)] * 3
    forms = {
        "plain": partial(ATTENTION["hyla"], mask=jnp.tri(length, dtype=jnp.bool_)),
        "tiled": partial(tiled_attention, ATTENTION["hyla"], causal=True),
    }
    compiled = {name: gradients(form).lower(*arrays).compile() for name, form in forms.items()}
    found = {name: int(each.memory_analysis().temp_size_in_bytes) for name, each in compiled.items()}
    return {"length": length, **found}


def steps(goal):
    """Measure, and write the result to ``goal``."""
    everything = {"product": product()}
    operations = {}
    for board in BOARDS:
        for attention in ATTENTIONS:
            parts, operations[board, attention] = works(board, attention)
            everything |= {(board, attention, part): work for part, work in parts.items()}
    works_of = {name: partial(finish, work) for name, work in everything.items()}
    seconds = least_seconds(works_of, ROUNDS)
    rate = PRODUCTS * 2 * SIZE**3 / seconds["product"]
    rows = []
    for board, attention in operations:
        found = {part: seconds[board, attention, part] / STEPS for part in parts}
        counts = operations[board, attention]
        achieved = {kind: count / found["step"] for kind, count in counts.items()}
        row = {
            "milliseconds": {part: round(1e3 * value, 2) for part, value in found.items()},
            "gigaoperations": {kind: round(count / 1e9, 3) for kind, count in counts.items()},
            "gflops": {kind: round(value / 1e9, 1) for kind, value in achieved.items()},
            "share_of_product": {kind: round(value / rate, 3) for kind, value in achieved.items()},
        }
        rows.append({"board": board, "attention": attention, **row})
        print(rows[-1], flush=True)
    memories = {"dtype": "float32", "causal": True, "by_length": [hyla_memory(512), hyla_memory(1024)]}
    found = {"product_gflops": round(rate / 1e9, 1), "steps": rows}
    result = {**found, "hyla_temporary_bytes": {**LONG, **memories}}
    keep(goal, result, jax=jax.__version__, device=jax.devices()[0].device_kind)


# Runs at a time ------------------------------------------------------------------------------------------


ALONE_BOARD, ALONE_SECONDS, ALONE_ROUNDS = "sraven-v1", 10, 3


def milliseconds(processes, devices, attention, on_progress):
    """Return the time of a step in this process, one of some, on some devices."""
    take_processors(processes)
    config, mesh = make_config(read_board(ALONE_BOARD), attention), make_mesh(f"data={devices}")
    experiment = board_experiment(config, mesh)
    compiled, hyper = Compiled(experiment, mesh), hyper_of([config])
    states = compiled.stack([compiled.initialise(np.uint32(0))])
    chunk = experiment.place(mesh, experiment.make_chunk(0, STEPS))

    def train():
        nonlocal states
        states, _ = jax.block_until_ready(compiled.train(states, hyper, chunk))

    train()  # compiles
    times, end = [], time.monotonic() + ALONE_SECONDS
    while time.monotonic() < end:
        times.append(1e3 * seconds_of(train) / STEPS)
    return median(times)


def at_once(goal, jobs):
    """Measure, and write the result to ``goal``."""
    jax.config.update("jax_num_cpu_devices", jobs)
    found = []
    for attention in ("softmax", "linear", "hyla"):
        times = {(1, 1): [], (1, jobs): [], (jobs, 1): []}
        for _ in range(ALONE_ROUNDS):
            for (processes, devices), kept in times.items():
                work = partial(milliseconds, processes, devices)
                kept += map_jobs(work, [attention] * processes, engine=HERE, local="processes", folder=Path())
        alone, mesh, each = map(median, times.values())
        found.append(
            {
                "attention": attention,
                "milliseconds": {"alone": round(alone, 1), "mesh": round(mesh, 1), "each": round(each, 1)},
                "times_the_steps": {"mesh": round(alone / mesh, 2), "jobs": round(jobs * alone / each, 2)},
            }
        )
        print(found[-1], flush=True)
    keep(goal, {"jobs": jobs, "runs": found})


# Memory of the language model ----------------------------------------------------------------------------


MIB = 1 << 20

WAYS = {
    "softmax": {"plain": Compute()},
    "linear": {"plain": Compute(tile=0), "chunks": Compute()},
    "hyla": {"plain": Compute(tile=0), "tiles": Compute()},
}
"""By attention."""


def config_of(attention, length, rows, dtype="float32"):
    """Return the paper's configuration with NanoDO's tokenizer."""
    shape = {"attention": attention, "length": length, "batch_size": rows, "dtype": dtype}
    return config_on_text(corpus="", vocabulary=32_101, **shape, seed=0)


def planned(config, compute):
    """Return the bytes that a step needs for a time."""
    program = language_program(config, None, compute)
    state = jax.eval_shape(program.initialise, jax.ShapeDtypeStruct((), jnp.uint32))
    batch = {"tokens": jax.ShapeDtypeStruct((config.batch_size, config.length + 1), jnp.int32)}
    hyper = Hyperparams(*(jax.ShapeDtypeStruct((), jnp.float32) for _ in Hyperparams._fields))
    compiled = jax.jit(partial(train_step, program), donate_argnums=0).lower(state, hyper, batch).compile()
    return int(compiled.memory_analysis().temp_size_in_bytes)


def kept(config, compute):
    """Return the bytes that the forward pass keeps for the backward pass, besides parameters."""
    model, program = language_model(config, compute), language_program(config, None, compute)
    params = jax.eval_shape(program.initialise, jax.ShapeDtypeStruct((), jnp.uint32)).params
    tokens = jax.ShapeDtypeStruct((config.batch_size, config.length), jnp.int32)

    def forward(params, tokens):
        return jax.vjp(lambda p: model.apply({"params": p}, tokens, return_hidden=True), params)[1]

    leaves = jax.tree.leaves(jax.eval_shape(forward, params, tokens))
    looked_up = params["embedding"].size  # by its rows' numbers: the table isn't kept
    return sum(leaf.size * leaf.dtype.itemsize for leaf in leaves) - 4 * (
        count_parameters(program) - looked_up
    )


def memory(goal, rows=8):
    """Ask for every attention, length and way to compute it; write the result."""
    found = []
    parameters = count_parameters(language_program(config_of("hyla", 512, rows)))
    result = {
        "rows": rows,
        "parameters": parameters,
        "parameters_and_moments_mib": round(3 * 4 * parameters / MIB, 1),
        "memory": found,
    }
    for attention, ways in WAYS.items():
        for length in (512, 1024):
            for name, compute in ways.items():
                half = config_of(attention, length, rows, "bfloat16")
                bytes_of = {
                    "planned": planned(config_of(attention, length, rows), compute),
                    "kept": kept(half, compute),
                    "kept_rematerialised": kept(half, compute._replace(rematerialise=True)),
                }
                sizes = {f"{what}_mib": round(size / MIB, 1) for what, size in bytes_of.items()}
                found.append({"attention": attention, "length": length, "form": name, **sizes})
                print(found[-1], flush=True)
                keep(goal, result)


# Variances -----------------------------------------------------------------------------------------------


INITIALISED = ("softmax", "linear", "linear_rmshead", "hyla", "hyla_no_rmshead")
TOKENS, FACTORS = (9, 36, 144), (0.5, 1.0, 2.0, 4.0)
DRAWS, DRAWN = 16, 8


def variances(attention, tokens, factor):
    """Return both variances of a layer."""
    names = ("layers", "width", "heads", "qkv_width", "mlp_width")
    shape = {name: FAMILIES["sraven"][name] for name in names}
    config = TransformerConfig(inputs=8, outputs=8, length=tokens, attention=attention, **shape)
    layer = SelfAttention(config, return_codes=True)

    def both(seed):
        drawn, first = jax.random.split(jax.random.key(seed))
        x_BTE = jax.random.normal(drawn, (DRAWN, tokens, config.width))
        params = dict(layer.init(first, x_BTE, None, None)["params"])
        params["query"] = jax.tree.map(lambda weights: factor * weights, params["query"])
        out_BTE, codes_BHTT = layer.apply({"params": params}, x_BTE, None, None)
        return jnp.square(codes_BHTT).mean(), out_BTE.var()

    weights, outputs = jax.vmap(both)(jnp.arange(DRAWS, dtype=jnp.uint32))
    found = {"weights": weights, "outputs": outputs}
    return {name: as_json(mean(np.asarray(values, np.float64))) for name, values in found.items()}


def variance(goal):
    """Measure all of it, and write it to ``goal``."""
    result = {
        attention: {
            str(tokens): {f"{factor:g}": variances(attention, tokens, factor) for factor in FACTORS}
            for tokens in TOKENS
        }
        for attention in INITIALISED
    }
    keep(goal, {"initialisations": DRAWS, "instances": DRAWN, "result": result})


if __name__ == "__main__":
    choose(steps, at_once, memory, variance)
