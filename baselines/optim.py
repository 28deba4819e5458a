"""AdamW with warm-up and cosine decay, as a pure function of step, rate and weight decay.

Rate, decay and warm-up are arguments of the update, not constants of the program, so that a grid of
them trains in one program.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax

FINAL_SHARE = 0.1
"""The rate at the end, as a share of the peak (appendix C)."""

_UNDECAYED = ("bias", "scale", "position")


class Hyper(NamedTuple):
    """What a grid varies; float32 scalars, or ``[runs]`` under vmap.

    Attributes:
        learning_rate: the peak.
        weight_decay: of AdamW, decoupled.
        warmup: updates over which the rate rises.
    """

    learning_rate: Any
    weight_decay: Any
    warmup: Any


def rate_share(step: Any, steps: int, warmup: Any) -> jax.Array:
    """Return the rate of update number ``step`` (from 0) as a share of the peak.

    It rises in equal parts over ``warmup`` updates, the first of which already moves, and falls by
    a cosine to `FINAL_SHARE` at the last.
    """
    done = jnp.asarray(step, jnp.float32) + 1.0
    progress = jnp.clip((done - warmup) / jnp.maximum(1, steps - warmup), 0.0, 1.0)
    return jnp.minimum(done / jnp.maximum(1, warmup), _cosine(progress))


def rate_share_of_paper_code(step: Any, steps: int, warmup: Any) -> jax.Array:
    """Return it as the paper's code has it: the first is 0, and the cosine ends ``warmup`` early."""
    done = jnp.asarray(step, jnp.float32)
    progress = jnp.clip((done - warmup) / jnp.maximum(1, steps - 2 * warmup), 0.0, 1.0)
    return jnp.minimum(done / jnp.maximum(1, warmup), _cosine(progress))


def _cosine(progress: jax.Array) -> jax.Array:
    share: jax.Array = FINAL_SHARE + (1.0 - FINAL_SHARE) * 0.5 * (1.0 + jnp.cos(jnp.pi * progress))
    return share


def decayed(params: Any) -> Any:
    """Return which parameters decay: all but biases, LayerNorm's scales and position tables."""

    def decays(path: Any, leaf: Any) -> bool:
        return str(path[-1].key) not in _UNDECAYED

    return jax.tree_util.tree_map_with_path(decays, params)


def decayed_in_paper_code(params: Any) -> Any:
    """Return it as the paper's code has it: all that aren't vectors, so some biases and tables too."""
    return jax.tree.map(lambda leaf: leaf.ndim > 1, params)


class Rules(NamedTuple):
    """What recipes differ in.

    Attributes:
        rate_share: rate of an update as a share of the peak, given step, steps and warm-up.
        decayed: which parameters decay.
    """

    rate_share: Callable[[Any, int, Any], jax.Array]
    decayed: Callable[[Any], Any]


RULES: Mapping[str, Rules] = {
    "paper": Rules(rate_share, decayed),
    "paper-code": Rules(rate_share_of_paper_code, decayed_in_paper_code),
}
"""By the name of the recipe."""


def make_optimiser(hyper: Hyper, recipe: str, steps: int) -> optax.GradientTransformation:
    """Return AdamW (b1 = 0.9, b2 = 0.999, eps = 1e-8) for a run of ``steps`` updates."""
    rules = RULES[recipe]

    def rate(step: Any) -> jax.Array:
        return jnp.asarray(hyper.learning_rate * rules.rate_share(step, steps, hyper.warmup))

    return optax.adamw(rate, weight_decay=hyper.weight_decay, mask=rules.decayed)
