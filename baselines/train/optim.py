"""Optimisers with warm-up and cosine decay, as pure functions of step, rate and weight decay.

Rate, decay and warm-up are arguments of the update, not constants of the program, so that a grid of
them trains in one program. An optimiser is an entry of `OPTIMISERS`.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax

from baselines.config import C

FINAL_SHARE = 0.1
"""The rate at the end, as a share of the peak (appendix C)."""

_UNDECAYED = ("bias", "scale", "position")


class Hyperparams(NamedTuple):
    """What a grid varies; float32 scalars, or ``[runs]`` under vmap.

    Attributes:
        learning_rate: the peak.
        weight_decay: of AdamW, decoupled.
        warmup: updates over which the rate rises.
    """

    learning_rate: Any
    weight_decay: Any
    warmup: Any


VARIED = ("seed", *Hyperparams._fields)
"""Fields in which runs of one program may differ."""


def shape_of(config: C) -> C:
    """Return what runs of one program share: their configuration, with 0 for what they may differ in."""
    others: dict[str, Any] = dict.fromkeys(VARIED, 0)
    return replace(config, **others)


LRSchedule = Callable[[Any, int, Any], jax.Array]
"""Returns the rate of an update as a share of the peak, given how many were done before, steps, warm-up."""

WeightDecayMask = Callable[[Any], Any]
"""Returns which parameters decay, a tree of booleans, given all of them."""


def warmup_cosine(step: Any, steps: int, warmup: Any) -> jax.Array:
    """Return the rate of update number ``step`` (from 0) as a share of the peak.

    It rises in equal parts over ``warmup`` updates, the first of which already moves, and falls by
    a cosine to `FINAL_SHARE` at the last.
    """
    done = jnp.asarray(step, jnp.float32) + 1.0
    progress = jnp.clip((done - warmup) / jnp.maximum(1, steps - warmup), 0.0, 1.0)
    return jnp.minimum(done / jnp.maximum(1, warmup), _cosine(progress))


def warmup_cosine_paper_code(step: Any, steps: int, warmup: Any) -> jax.Array:
    """Return it as the paper's code has it: the first is 0, and the cosine ends ``warmup`` early."""
    done = jnp.asarray(step, jnp.float32)
    progress = jnp.clip((done - warmup) / jnp.maximum(1, steps - 2 * warmup), 0.0, 1.0)
    return jnp.minimum(done / jnp.maximum(1, warmup), _cosine(progress))


def _cosine(progress: jax.Array) -> jax.Array:
    return FINAL_SHARE + (1.0 - FINAL_SHARE) * 0.5 * (1.0 + jnp.cos(jnp.pi * progress))


def no_biases(params: Any) -> Any:
    """Return which parameters decay: all but biases, LayerNorm's scales and position tables."""
    return jax.tree.map_with_path(lambda path, leaf: path[-1].key not in _UNDECAYED, params)


def no_vectors(params: Any) -> Any:
    """Return it as the paper's code has it: all that aren't vectors, so some biases and tables too."""
    return jax.tree.map(lambda leaf: leaf.ndim > 1, params)


LR_SCHEDULES: Mapping[str, LRSchedule] = {
    "warmup_cosine": warmup_cosine,
    "warmup_cosine_paper_code": warmup_cosine_paper_code,
}

WEIGHT_DECAY_MASKS: Mapping[str, WeightDecayMask] = {"no_biases": no_biases, "no_vectors": no_vectors}


Rate = Callable[[Any], jax.Array]
"""Returns the rate of an update, given how many were done before."""


class Optimiser(NamedTuple):
    """An optimiser.

    Attributes:
        title: its name in prose.
        make: returns it, given the rate, the weight decay, a number or a traced one, and its mask. On a
            mesh, what it keeps of a parameter lies as that does if it is a tree like the parameters'.
    """

    title: str
    make: Callable[[Rate, Any, WeightDecayMask], optax.GradientTransformation]


def _adamw(rate: Rate, weight_decay: Any, mask: WeightDecayMask) -> optax.GradientTransformation:
    return optax.adamw(rate, b1=0.9, b2=0.999, eps=1e-8, weight_decay=weight_decay, mask=mask)


OPTIMISERS: dict[str, Optimiser] = {"adamw": Optimiser("AdamW", _adamw)}
"""By the name that a configuration has for it. One more entry is one more optimiser."""


def make_optimiser(
    hyper: Hyperparams,
    steps: int,
    optimiser: Optimiser = OPTIMISERS["adamw"],
    *,
    lr_schedule: LRSchedule = warmup_cosine,
    weight_decay_mask: WeightDecayMask = no_biases,
) -> optax.GradientTransformation:
    """Return the optimiser of a run.

    Args:
        hyper: what a grid varies.
        steps: updates of the run.
        optimiser: an entry of `OPTIMISERS`.
        lr_schedule: an entry of `LR_SCHEDULES`.
        weight_decay_mask: an entry of `WEIGHT_DECAY_MASKS`.
    """

    def rate(step: Any) -> jax.Array:
        return jnp.asarray(hyper.learning_rate * lr_schedule(step, steps, hyper.warmup))

    return optimiser.make(rate, hyper.weight_decay, weight_decay_mask)
