"""Time and variances of training.

    python tests/speed/training.py steps docs/results/training-speed.json
    python tests/speed/training.py variance docs/results/initial-variance.json

- ``steps``: for each board and attention, milliseconds of a step, of a step with attention in its plain
  form, of a step whose last block computes all tokens, not those with outputs alone; and two shares of a
  matrix product's rate in the same run. Nominal: 6 · parameters · tokens over the time of a step, as if
  every token went through every weight. Real: the products that a step does, of weights and of attention,
  of which the last block leaves out what no output needs. Rounds alternate, so that a slow spell of the
  machine hits all of them; each time is the least of the rounds. With `taskset -c 0` before it, the command
  times one processor.
- ``variance``: what RMSHead keeps at initialisation. A layer of self-attention of the recipe of sraven-v1
  (E = 128, H = 16, D = 4) as it is initialised, on tokens of independent normal numbers of variance 1, as
  after LayerNorm. By attention, number of tokens T, and a factor that queries are multiplied by:
  ``weights``, Σ_h a² / H, by which the variance of the weights that a latent code generates differs from H
  times that of the weights of a head (paper, section 2.2); ``outputs``, the variance of the layer's outputs
  over tokens, channels and instances. Each is a mean over initialisations, with its standard error.
"""

from dataclasses import replace
from functools import partial
from unittest.mock import patch

import jax
import jax.numpy as jnp
import numpy as np
from record import least_seconds, recorded

from baselines.encode import encoding_of
from baselines.model.attention import ATTENTION
from baselines.model.config import TransformerConfig
from baselines.model.self_attention import SelfAttention
from baselines.paper.plan import operations_of, parameters_of
from baselines.recipes import EXPERIMENTS, make_config, recipe_of
from baselines.train.experiment import chunk_of_steps, num_microbatches_of, program_of
from baselines.train.sharding import make_mesh
from baselines.train.step import train_chunk
from baselines.train.train import hyper_of
from sraven.board.board import read_board
from sraven.core.means import mean
from sraven.files.jsonable import as_json

BOARDS, ATTENTIONS = ("fuzzylogic-v1", "sraven-v1"), ("softmax", "linear", "hyla")
STEPS, ROUNDS, PRODUCTS = 10, 10, 20
SIZE = 1024


def product():
    """Return what multiplies two float32 matrices, some times over."""
    left = jax.random.normal(jax.random.key(0), (SIZE, SIZE))
    multiply = jax.jit(jnp.matmul)
    return lambda: jax.block_until_ready([multiply(left, left) for _ in range(PRODUCTS)])


def training_of(board_id, attention, steps, runs=1, num_outputs=None):
    """Return what trains runs some steps, side by side, and waits until the device has done it."""
    board = read_board(board_id)
    configs = [make_config(board, attention, seed=seed) for seed in range(runs)]
    config, encoding = configs[0], encoding_of(board.task)
    outputs = num_outputs or encoding.num_outputs
    num_microbatches = num_microbatches_of(config.batch_size, make_mesh())
    program = program_of(config, encoding._replace(num_outputs=outputs), num_microbatches)
    state = jax.jit(program.initialise)(np.uint32(0))
    states = jax.tree.map(lambda leaf: jnp.stack([leaf] * runs), state)
    chunk = jax.tree.map(
        jnp.asarray, chunk_of_steps(board.task, encoding.fields, config.batch_size, 0, steps)
    )
    given = states, hyper_of(configs), chunk
    train = jax.jit(partial(train_chunk, program)).lower(*given).compile()
    return lambda: jax.block_until_ready(train(*given))


def works(board_id, attention):
    """Return what to time of a board and an attention, and the operations of a step: nominal and real."""
    board = read_board(board_id)
    config, length = make_config(board, attention), encoding_of(board.task).length
    with patch.dict(ATTENTION, {attention: replace(ATTENTION[attention], implementations=())}):
        plain = training_of(board_id, attention, STEPS)
    parts = {
        "step": training_of(board_id, attention, STEPS),
        "step_of_plain_attention": plain,
        "step_of_all_tokens": training_of(board_id, attention, STEPS, num_outputs=length),
    }
    operations = {
        "nominal": 6.0 * parameters_of(config) * config.batch_size * length,
        "real": operations_of(config) / config.steps,
    }
    return parts, operations


def steps():
    """Return what steps take, and their shares of the rate of a product."""
    everything, operations = {"product": product()}, {}
    for board in BOARDS:
        for attention in ATTENTIONS:
            parts, operations[board, attention] = works(board, attention)
            everything |= {(board, attention, part): work for part, work in parts.items()}
    seconds = least_seconds(everything, ROUNDS)
    rate = PRODUCTS * 2 * SIZE**3 / seconds["product"]
    rows = []
    for (board, attention), counts in operations.items():
        found = {part: seconds[board, attention, part] / STEPS for part in parts}
        achieved = {kind: count / found["step"] for kind, count in counts.items()}
        row = {
            "milliseconds": {part: round(1e3 * value, 2) for part, value in found.items()},
            "gigaoperations": {kind: round(count / 1e9, 3) for kind, count in counts.items()},
            "gflops": {kind: round(value / 1e9, 1) for kind, value in achieved.items()},
            "share_of_product": {kind: round(value / rate, 3) for kind, value in achieved.items()},
        }
        rows.append({"board": board, "attention": attention, **row})
        print(rows[-1], flush=True)
    return {"product_gflops": round(rate / 1e9, 1), "steps": rows}


# Variances -----------------------------------------------------------------------------------------------


INITIALISED = ("softmax", "linear", "linear_rmshead", "hyla", "hyla_no_rmshead")
TOKENS, FACTORS = (9, 36, 144), (0.5, 1.0, 2.0, 4.0)
DRAWS, DRAWN = 16, 8


def variances(attention, tokens, factor):
    """Return both variances of a layer."""
    names = ("layers", "width", "heads", "qkv_width", "mlp_width")
    shape = {name: recipe_of(EXPERIMENTS["sraven"])[name] for name in names}
    config = TransformerConfig(inputs=8, outputs=8, length=tokens, attention=attention, **shape)
    layer = SelfAttention(config, return_codes=True)

    def both(seed):
        drawn, first = jax.random.split(jax.random.key(seed))
        x_BTE = jax.random.normal(drawn, (DRAWN, tokens, config.width))
        params = dict(layer.init(first, x_BTE, None)["params"])
        params["query"] = jax.tree.map(lambda weights: factor * weights, params["query"])
        out_BTE, codes_BHTT = layer.apply({"params": params}, x_BTE, None)
        return jnp.square(codes_BHTT).mean(), out_BTE.var()

    weights, outputs = jax.vmap(both)(jnp.arange(DRAWS, dtype=jnp.uint32))
    found = {"weights": weights, "outputs": outputs}
    return {name: as_json(mean(np.asarray(values, np.float64))) for name, values in found.items()}


def variance():
    """Return both variances of all layers."""
    result = {
        attention: {
            str(tokens): {f"{factor:g}": variances(attention, tokens, factor) for factor in FACTORS}
            for tokens in TOKENS
        }
        for attention in INITIALISED
    }
    return {"initialisations": DRAWS, "instances": DRAWN, "result": result}


if __name__ == "__main__":
    recorded(steps, variance)
