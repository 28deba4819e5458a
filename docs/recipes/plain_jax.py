"""The paper's transformer in plain JAX and Optax, from instances to a submission: a file to start from.

    pip install sraven jax optax
    python plain_jax.py --attention hyla --seeds 0 1 2 --out my-submission

Parameters are dictionaries of arrays and everything else is functions, so it is as much a start for Equinox,
Haiku or one's own library. The baselines are the same model (a test gives both the same weights).
"""

import argparse
import math
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax

import sraven

LAYERS, WIDTH, HEADS, QKV_WIDTH, MLP_WIDTH = 4, 128, 16, 64, 256  # Table A3, column SRAVEN
BATCH, RATE, DECAY, WARMUP, CHUNK = 128, 1e-3, 0.1, 1000, 100


# Attention: scores [B, H, Q, K] over √D and with their bias, values [B, K, H, V] -----------------------


def softmax(scores, value):
    """Sum values by the softmax of scores."""
    return jnp.einsum("bhqk,bkhv->bqhv", jax.nn.softmax(scores), value)


def linear(scores, value):
    """Sum values by the scores themselves."""
    return jnp.einsum("bhqk,bkhv->bqhv", scores, value)


def hyla(scores, value):
    """Figure A1: the scores of a pair over heads are a code, which configures the pair's value network."""
    code = scores * jax.lax.rsqrt(jnp.square(scores).mean(axis=1, keepdims=True) + 1e-6)  # RMSHead
    hidden = jax.nn.relu(jnp.einsum("bhqk,bkhv->bqkv", code, value))
    return jnp.einsum("bhqk,bqkv->bqhv", code, hidden)


ATTENTION = {"softmax": softmax, "linear": linear, "hyla": hyla}


# The model ------------------------------------------------------------------------------------------------


def initialise(key, inputs, outputs, length):
    """Return the parameters: dictionaries of arrays."""
    keys = iter(jax.random.split(key, 8 * LAYERS + 2))

    def dense(rows, columns):
        kernel = jax.random.normal(next(keys), (rows, columns)) / math.sqrt(rows)
        return {"kernel": kernel, "bias": jnp.zeros(columns)}

    def norm():
        return {"scale": jnp.ones(WIDTH), "bias": jnp.zeros(WIDTH)}

    def block():
        attention = {name: dense(WIDTH, QKV_WIDTH) for name in ("query", "key", "value")}
        attention["out"] = dense(QKV_WIDTH, WIDTH)
        attention["position"] = jax.random.normal(next(keys), (HEADS, length)) / math.sqrt(length)
        mlp = {"up": dense(WIDTH, MLP_WIDTH), "down": dense(MLP_WIDTH, WIDTH)}
        return {"attention": attention, "mlp": mlp, "norm_attention": norm(), "norm_mlp": norm()}

    ends = {"embedding": dense(inputs, WIDTH), "norm": norm(), "out": dense(WIDTH, outputs)}
    return {**ends, "blocks": [block() for _ in range(LAYERS)]}


def apply_dense(layer, x):
    """Apply a linear layer."""
    return x @ layer["kernel"] + layer["bias"]


def apply_norm(layer, x):
    """Apply a LayerNorm."""
    return jax.nn.standardize(x, axis=-1, epsilon=1e-6) * layer["scale"] + layer["bias"]


def relative_buckets(length):
    """Return the bucket of each pair of positions, int [Q, K]: T5's, one way, `length` of them."""
    exact = length // 2
    distance = np.maximum(np.arange(length)[:, None] - np.arange(length), 0)
    far = exact + np.log(np.maximum(distance / exact, 1)) / math.log(length / exact) * (length - exact)
    return np.where(distance < exact, distance, np.minimum(far.astype(int), length - 1))


def attend(params, mix, x):
    """Apply attention of a sequence to itself, with a bias for each head and distance."""
    query, key, value = (
        apply_dense(params[name], x).reshape(*x.shape[:2], HEADS, -1) for name in ("query", "key", "value")
    )
    scores = jnp.einsum("bqhd,bkhd->bhqk", query, key) / math.sqrt(query.shape[-1])
    scores = scores + params["position"][:, relative_buckets(x.shape[1])]
    return apply_dense(params["out"], mix(scores, value).reshape(*x.shape[:2], -1))


def apply(params, attention, tokens):
    """Apply the transformer: tokens [B, T, I] to outputs [B, T, O]."""
    x = apply_dense(params["embedding"], tokens)
    for block in params["blocks"]:
        x = x + attend(block["attention"], ATTENTION[attention], apply_norm(block["norm_attention"], x))
        hidden = jax.nn.gelu(apply_dense(block["mlp"]["up"], apply_norm(block["norm_mlp"], x)))
        x = x + apply_dense(block["mlp"]["down"], hidden)
    return apply_dense(params["out"], apply_norm(params["norm"], x))


# Training and prediction ------------------------------------------------------------------------------------


def sequences(context, K):
    """Return tokens [B, 9 · M, K]: the symbols of eight panels, one-hot, and M empty ones for the answer."""
    symbols = jax.nn.one_hot(context.reshape(len(context), -1), K)
    return jnp.pad(symbols, ((0, 0), (0, context.shape[-1]), (0, 0)))


def make_optimiser(steps):
    """Return AdamW with a linear rise of its rate, and a cosine down to a tenth."""

    def rate(done):
        progress = jnp.clip((done + 1 - WARMUP) / max(1, steps - WARMUP), 0, 1)
        return RATE * jnp.minimum((done + 1) / WARMUP, 0.1 + 0.45 * (1 + jnp.cos(jnp.pi * progress)))

    def decays(params):
        return jax.tree_util.tree_map_with_path(lambda path, _: path[-1].key == "kernel", params)

    return optax.adamw(rate, weight_decay=DECAY, mask=decays)


def train(task, attention, seed, steps):
    """Return trained parameters."""
    M, K = task.M, task.K
    optimiser = make_optimiser(steps)

    def loss_of(params, batch):
        out = apply(params, attention, sequences(batch["context"], K))[:, -M:]
        return optax.softmax_cross_entropy_with_integer_labels(out, batch["target"].astype(int)).mean()

    def step(state, batch):
        params, moments = state
        loss, gradients = jax.value_and_grad(loss_of)(params, batch)
        changes, moments = optimiser.update(gradients, moments, params)
        return (optax.apply_updates(params, changes), moments), loss

    many_steps = jax.jit(partial(jax.lax.scan, step), donate_argnums=0)
    params = initialise(jax.random.key(seed), K, K, 9 * M)
    state = params, optimiser.init(params)
    for start in range(0, steps, CHUNK):
        count = min(CHUNK, steps - start)
        batch = task.sample("train", start * BATCH, count * BATCH)
        shaped = {name: getattr(batch, name) for name in ("context", "target")}
        shaped = {name: array.reshape(count, BATCH, *array.shape[1:]) for name, array in shaped.items()}
        state, losses = many_steps(state, shaped)
        print(f"seed {seed}, step {start + count:,} of {steps:,}: loss {losses.mean():.4f}")
    return state[0]


def predict(params, task, attention, split, size, at_once=512):
    """Return the predictions of the first instances of a split, uint8 [size, M]."""
    outputs = jax.jit(lambda context: apply(params, attention, sequences(context, task.K))[:, -task.M :])
    contexts = (task.sample(split, start, at_once).context for start in range(0, size, at_once))
    return np.concatenate([np.asarray(outputs(each).argmax(-1), np.uint8) for each in contexts])[:size]


def main():
    """Train on a board, with several seeds, and write what they predict."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--board", default="sraven-v1")
    parser.add_argument("--attention", choices=ATTENTION, default="hyla")
    parser.add_argument("--steps", type=int, default=156_250, help="20 million instances in the paper")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--out", required=True, help="folder for the submission; must not exist")
    options = parser.parse_args()

    board = sraven.load_board(options.board)
    predictions = {split: [] for split in board.splits}
    for seed in options.seeds:
        params = train(board.task, options.attention, seed, options.steps)
        for split, size in board.splits.items():
            predictions[split].append(predict(params, board.task, options.attention, split, size))
            accuracy = board.score(split, predictions[split][-1]).metrics["accuracy"].mean
            print(f"seed {seed}, {split}: accuracy {accuracy:.4f}")
    sraven.write_submission(
        options.out,
        options.board,
        predictions,
        method={
            "name": f"{options.attention} (plain JAX)",
            "description": f"A transformer with {options.attention} attention, by the recipe for plain JAX.",
            "authors": ["Your Name"],
        },
        model={"parameters": sum(leaf.size for leaf in jax.tree.leaves(params))},
        training={"instances": options.steps * BATCH, "selection_split": None},
    )
    print(f"{options.out} is written; score it with: sraven score {options.out}")


if __name__ == "__main__":
    main()
