"""The paper's transformer in plain JAX and Optax, from instances to a submission: a file to start from.

    pip install . jax optax    # in a checkout of the benchmark
    python plain_jax.py --attention hyla --author "Your Name" --out my-submission

Parameters are dictionaries of arrays and everything else is functions, so it is as much a start for Equinox,
Haiku or one's own library; on SRAVEN or on fuzzy logic. The same line goes on with what was interrupted. The
baselines are the same model (a test gives both the same weights).
"""

import argparse
import math
import os
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

import sraven

BATCH, RATE, DECAY, CHUNK, SAVE_EVERY = 128, 1e-3, 0.1, 100, 1000


# What a task is to a model --------------------------------------------------------------------------------


class Sequences(NamedTuple):
    """A task as sequences, and the model for it: Table A3. Warm-up is a share of the steps.

    `arrays` of a batch are seen; `see` makes tokens [B, T, I] of them; `loss` takes the model's outputs
    [B, T, O] and the arrays, `answer` the outputs.
    """

    inputs: int
    outputs: int
    length: int
    layers: int
    heads: int
    qkv_width: int
    warmup: float
    arrays: tuple
    see: callable
    loss: callable
    answer: callable


def see_sraven(task):
    """M tokens of zeros ask for the M symbols of the answer."""
    M, K = task.M, task.K

    def see(batch):
        symbols = jax.nn.one_hot(batch["context"].reshape(len(batch["context"]), -1), K)
        return jnp.pad(symbols, ((0, 0), (0, M), (0, 0)))

    def loss(out, batch):
        target = batch["target"].astype(int)
        return optax.softmax_cross_entropy_with_integer_labels(out[:, -M:], target).mean()

    def answer(out):
        return out[:, -M:].argmax(-1).astype(jnp.uint8)

    return Sequences(K, K, 9 * M, 4, 16, 64, 1000 / 156_250, ("context", "target"), see, loss, answer)


def see_fuzzylogic(task):
    """The last point lacks its target."""

    def see(batch):
        targets = batch["targets"].at[:, -1].set(0.0)
        return jnp.concatenate([batch["inputs"], targets[..., None]], axis=-1)

    def loss(out, batch):
        return jnp.square(out[:, -1, 0] - batch["targets"][:, -1]).mean()

    def answer(out):
        return out[:, -1, 0]

    return Sequences(task.L + 1, 1, task.N, 2, 8, 16, 100 / 50_000, ("inputs", "targets"), see, loss, answer)


SEQUENCES = {"sraven": see_sraven, "fuzzylogic": see_fuzzylogic}
WIDTH, MLP_WIDTH = 128, 256


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


def initialise(key, of):
    """Return the parameters: dictionaries of arrays."""
    keys = iter(jax.random.split(key, 8 * of.layers + 2))

    def dense(rows, columns):
        kernel = jax.random.normal(next(keys), (rows, columns)) / math.sqrt(rows)
        return {"kernel": kernel, "bias": jnp.zeros(columns)}

    def norm():
        return {"scale": jnp.ones(WIDTH), "bias": jnp.zeros(WIDTH)}

    def block():
        attention = {name: dense(WIDTH, of.qkv_width) for name in ("query", "key", "value")}
        attention["out"] = dense(of.qkv_width, WIDTH)
        attention["position"] = jax.random.normal(next(keys), (of.heads, of.length)) / math.sqrt(of.length)
        mlp = {"up": dense(WIDTH, MLP_WIDTH), "down": dense(MLP_WIDTH, WIDTH)}
        return {"attention": attention, "mlp": mlp, "norm_attention": norm(), "norm_mlp": norm()}

    ends = {"embedding": dense(of.inputs, WIDTH), "norm": norm(), "out": dense(WIDTH, of.outputs)}
    return {**ends, "blocks": [block() for _ in range(of.layers)]}


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
        apply_dense(params[name], x).reshape(*x.shape[:2], len(params["position"]), -1)
        for name in ("query", "key", "value")
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


# Training and prediction ----------------------------------------------------------------------------------


def make_optimiser(steps, warmup):
    """Return AdamW with a linear rise of its rate, and a cosine down to a tenth."""
    warmup = max(1, round(warmup * steps))

    def rate(done):
        progress = jnp.clip((done + 1 - warmup) / max(1, steps - warmup), 0, 1)
        return RATE * jnp.minimum((done + 1) / warmup, 0.1 + 0.45 * (1 + jnp.cos(jnp.pi * progress)))

    def decays(params):
        return jax.tree_util.tree_map_with_path(lambda path, _: path[-1].key == "kernel", params)

    return optax.adamw(rate, weight_decay=DECAY, mask=decays)


def take(batch, of, *shape):
    """Return the arrays of a batch that are seen, by name; of batches, if a shape is given."""
    arrays = {name: getattr(batch, name) for name in of.arrays}
    return {
        name: array.reshape(*shape, *array.shape[1:]) if shape else array for name, array in arrays.items()
    }


def train(task, of, seed, options, checkpoint):
    """Return trained parameters; go on from their checkpoint, if there is one."""
    optimiser = make_optimiser(options.steps, of.warmup)

    def loss_of(params, batch):
        return of.loss(apply(params, options.attention, of.see(batch)), batch)

    def step(state, batch):
        params, opt_state = state
        loss, gradients = jax.value_and_grad(loss_of)(params, batch)
        changes, opt_state = optimiser.update(gradients, opt_state, params)
        return (optax.apply_updates(params, changes), opt_state), loss

    many_steps = jax.jit(partial(jax.lax.scan, step), donate_argnums=0)
    params = initialise(jax.random.key(seed), of)
    leaves, tree = jax.tree.flatten((params, optimiser.init(params)))
    done = 0
    if os.path.exists(checkpoint):
        with np.load(checkpoint) as saved:
            done, leaves = int(saved["done"]), [saved[f"arr_{place}"] for place in range(len(leaves))]
    state = jax.tree.unflatten(tree, leaves)
    while done < options.steps:
        count = min(CHUNK, options.steps - done)
        batches = take(task.sample("train", done * BATCH, count * BATCH), of, count, BATCH)
        state, losses = many_steps(state, batches)
        done += count
        print(f"seed {seed}, step {done:,} of {options.steps:,}: loss {losses.mean():.4f}")
        if done % SAVE_EVERY == 0 or done == options.steps:
            np.savez(f"{checkpoint}.new.npz", *jax.tree.leaves(state), done=done)
            os.replace(f"{checkpoint}.new.npz", checkpoint)  # whole, or the one before
    return state[0]


def predict(params, of, attention, task, split, size, at_once=512):
    """Return the predictions of the first instances of a split: uint8 [size, M], or float32 [size]."""
    answer = jax.jit(lambda batch: of.answer(apply(params, attention, of.see(batch))))
    batches = (take(task.sample(split, start, at_once), of) for start in range(0, size, at_once))
    return np.concatenate([np.asarray(answer(batch)) for batch in batches])[:size]


def floors(board, split):
    """Return what a score is read against, in words: chance, and what needs no understanding of the task."""
    levels = {level.title: level.value for level in board.reference_levels(split) if level.is_baseline}
    known = {"chance": board.chance, **levels}
    return ", ".join(f"{name} {value:.4f}" for name, value in known.items() if value is not None)


def main():
    """Train on a board, with several seeds, and write what they predict."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--board", default="sraven-v1", help="such as sraven-v1, fuzzylogic-v1")
    parser.add_argument("--attention", choices=ATTENTION, default="hyla")
    parser.add_argument("--author", action="append", required=True, help="of the submission; may be repeated")
    parser.add_argument("--steps", type=int, help="of 128 instances; the board's budget unless given")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--out", required=True, help="folder for the submission; must not exist")
    options = parser.parse_args()
    if os.path.exists(options.out):
        parser.error(f"{options.out} exists; choose another folder")

    board = sraven.load_board(options.board)
    of = SEQUENCES[board.task.name](board.task)
    options.steps = options.steps or board.train_budget // BATCH
    folder = f"{options.out}-checkpoints/{options.board}-{options.attention}-{options.steps}"
    os.makedirs(folder, exist_ok=True)
    predictions = {split: [] for split in board.splits}
    for seed in options.seeds:
        params = train(board.task, of, seed, options, f"{folder}/seed-{seed}.npz")
        for split, size in board.splits.items():
            predictions[split].append(predict(params, of, options.attention, board.task, split, size))
            score = board.score(split, predictions[split][-1]).metrics[board.metric].mean
            print(f"seed {seed}, {split}: {board.metric} {score:.4f} ({floors(board, split)})")
    sraven.write_submission(
        options.out,
        options.board,
        predictions,
        method={
            "name": f"{options.attention} (plain JAX)",
            "description": f"A transformer with {options.attention} attention, by the recipe for plain JAX.",
            "authors": options.author,
        },
        model={"parameters": sum(leaf.size for leaf in jax.tree.leaves(params))},
        training={"instances": options.steps * BATCH, "selection_split": None, "tuning_trials": 1},
    )
    print(f"{options.out} is written; score it with: sraven score {options.out}")


if __name__ == "__main__":
    main()
