"""Time the baselines on whatever device JAX finds, within ten minutes.

    python tests/speed/accelerator.py docs/results/accelerator.json
    python tests/speed/accelerator.py /tmp/quick.json quick products language_steps

Measured, in this order: matrix products; a step of each board and attention, of one run and of several under
vmap; a step of the language model in float32 and bfloat16. Each time is the least of some rounds. What there
is no time left for is in the result with its reason. ``quick`` takes tiny sizes, to try the script itself;
names of measures leave out the others.
"""

import time
from dataclasses import replace
from functools import partial
from itertools import product
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from record import least_seconds, recorded
from training import ATTENTIONS, BOARDS, training_of

from baselines.lm.experiment import Compute, language_program
from baselines.lm.recipes import config_on_text
from baselines.train.step import train_chunk
from baselines.train.train import hyper_of

SECONDS = 600


class Sizes(NamedTuple):
    """How much is measured.

    Attributes:
        product: rows of a matrix.
        steps: of one call of a compiled program.
        runs: side by side.
        windows: of a batch of the language model; 0 takes a tiny model, and one window.
        rounds: after one that compiles.
    """

    product: int = 4096
    steps: int = 50
    runs: int = 8
    windows: int = 8
    rounds: int = 5


FULL, QUICK = Sizes(), Sizes(256, 1, 2, 0, 1)


def first_line(error):
    """Return how an error begins."""
    return f"{type(error).__name__}: {(str(error).splitlines() or [''])[0][:300]}"


def least_ms(work, rounds):
    """Return the least milliseconds of some rounds, after one that compiles."""
    return round(1e3 * least_seconds({"": lambda: jax.block_until_ready(work())}, rounds)[""], 3)


# What is measured: functions of the sizes and of what they are given, that return a row ---------------


def products(sizes, dtype, precision):
    """Rates of a matrix product, by type and precision."""
    n = sizes.product
    left = jax.random.normal(jax.random.key(0), (n, n)).astype(dtype)
    multiply = jax.jit(partial(jnp.matmul, precision=precision))
    ms = least_ms(lambda: [multiply(left, left) for _ in range(10)], sizes.rounds) / 10
    tflops = round(2e-9 * n**3 / ms, 3)
    return {"dtype": dtype, "precision": precision, "rows": n, "ms": round(ms, 4), "tflops": tflops}


def board_steps(sizes, board, attention, runs):
    """A step of 128 instances of each of some runs in one program, many steps in one call."""
    ms = least_ms(training_of(board, attention, sizes.steps, runs), sizes.rounds) / sizes.steps
    return {"board": board, "attention": attention, "runs": runs, "ms": round(ms, 4)}


def language_steps(sizes, attention, dtype):
    """A step of the language model at the paper's shape, T = 512, with NanoDO's tokenizer, in both types."""
    shape = {"vocabulary": 32_101, "length": 512, "batch_size": sizes.windows or 1}
    config = config_on_text(corpus="", attention=attention, dtype=dtype, seed=0, **shape)
    if not sizes.windows:
        config = replace(config, length=16, vocabulary=64, layers=1, width=64, mlp_width=64)
    program = language_program(config, None, Compute())
    state = jax.jit(program.initialise)(np.uint32(0))
    states = jax.tree.map(lambda leaf: leaf[None], state)
    shape = 2, config.batch_size, config.length + 1
    tokens = np.random.default_rng(0).integers(config.vocabulary, size=shape).astype(np.int32)
    train = jax.jit(partial(train_chunk, program))
    ms = least_ms(lambda: train(states, hyper_of([config]), {"tokens": tokens}), sizes.rounds) / 2
    rate = round(1e3 * config.batch_size * config.length / ms)
    known = {"attention": attention, "dtype": dtype, "windows": config.batch_size, "length": config.length}
    return {**known, "ms": round(ms, 3), "tokens_per_second": rate}


DTYPES = ("float32", "bfloat16")

MEASURES = {
    "products": (products, lambda _: (DTYPES, ("highest", "default"))),
    "board_steps": (board_steps, lambda sizes: (BOARDS, ATTENTIONS, (1, sizes.runs))),
    "language_steps": (language_steps, lambda _: (ATTENTIONS, DTYPES)),
}
"""By name: what measures, and the values of each of its arguments, every combination of which is measured."""


# All of it -------------------------------------------------------------------------------------------


def device(*words):
    """Return the rows of measures; those that fail, or for which there is no time, say why."""
    start, sizes, found = time.monotonic(), QUICK if "quick" in words else FULL, {}
    for name in [word for word in words if word != "quick"] or MEASURES:
        rows = found[name] = []
        measure, values = MEASURES[name]
        for arguments in product(*values(sizes)):
            row = {"arguments": arguments, "skipped": f"{SECONDS} seconds had passed"}
            if time.monotonic() <= start + SECONDS:
                try:
                    row = measure(sizes, *arguments)
                except Exception as error:  # the compiler's are many; the others are still to be measured
                    row = {"arguments": arguments, "failed": first_line(error)}
            rows.append(row)
            print(name, row, flush=True)
    return {"seconds": round(time.monotonic() - start, 1), **found}


if __name__ == "__main__":
    recorded(device)
