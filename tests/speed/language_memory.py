"""Measure the memory of a training step of the language model at the paper's size, without running one.

    python tests/speed/language_memory.py docs/results/language-memory.json

For each attention, at T = 512 and 1,024 and for some rows, two numbers. What the compiler plans for a step
besides parameters and moments, in float32, on this machine. And what is kept of the forward pass for the
backward pass, in bfloat16, as differentiation asks for it, with and without rematerialisation; compilers
keep less where they join operations. A CPU's compiler undoes rematerialisation, so the first has it not.
"""

import sys
from functools import partial

import jax
import jax.numpy as jnp
from record import keep

from baselines.lm.experiment import Compute, language_model, language_program
from baselines.lm.recipes import config_on_text
from baselines.training.compiled import count_parameters
from baselines.training.optim import Hyperparams
from baselines.training.step import train_step

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


def main(goal, rows=8):
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


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
