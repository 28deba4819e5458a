"""Floating-point operations of training: of a pair of positions, of a token of text, of any function."""

from collections.abc import Callable
from math import prod
from typing import Any

import jax
from jax.extend.core import ClosedJaxpr, Jaxpr

from baselines.config import LanguageConfig, RunConfig
from baselines.model.attention import find_attention

TRAINING = 3
"""Forward and backward take three times what forward takes: two products for each one's gradients."""


def pair_operations(config: RunConfig) -> float:
    """Return the operations of a pair of positions in a block's attention, forward.

    With P = H · D it is 2 · P for its scores, 2 · P for each mix, of which HYLA has two, and 2 for each
    weight of an attention's own, as the latent code mixes them.
    """
    attention, head_width = find_attention(config.attention), config.qkv_width // config.heads
    own = (kind.shape(config.heads, head_width, head_width) for kind in attention.weights.values())
    return 2.0 * (config.qkv_width * (1 + attention.mixes) + sum(map(prod, own)))


def flops_per_token(config: LanguageConfig, parameters: int) -> float:
    """Return what a model needs to train on a token: without what is computed twice, padding or masked pairs.

    Six for each parameter, all of which multiply something in the blocks or at the output, where the table
    of the embedding does; and attention: `pair_operations` for each of the (T + 1) / 2 positions that a token
    sees on average. Linear attention needs no pairs: its state of H · D · D numbers is written and read once.

    Args:
        config: of the run.
        parameters: of the model.
    """
    if "chunked" in find_attention(config.attention).implementations:
        operations = 4.0 * config.qkv_width * (config.qkv_width // config.heads)
    else:
        operations = (config.length + 1) / 2 * pair_operations(config)
    return TRAINING * (2.0 * parameters + config.layers * operations)


def operations_in_products(function: Callable[..., Any], *arguments: Any) -> float:
    """Return the operations of all products of matrices in a function, convolutions apart.

    A scan counts as often as it runs, a while loop once; of branches, the largest counts.

    Args:
        function: of arrays, as JAX can trace it.
        arguments: arrays, or their shapes and types.
    """
    return _in_products(jax.make_jaxpr(function)(*arguments).jaxpr)


def _in_products(jaxpr: Jaxpr) -> float:
    found = 0.0
    for equation in jaxpr.eqns:
        if equation.primitive.name == "dot_general":
            (summed, _), _ = equation.params["dimension_numbers"]
            factor: Any = equation.invars[0].aval
            result: Any = equation.outvars[0].aval
            found += 2.0 * prod(factor.shape[axis] for axis in summed) * prod(result.shape)
        times = equation.params.get("length", 1) if equation.primitive.name == "scan" else 1
        branches = equation.params.get("branches", ())
        found += max((_in_products(branch.jaxpr) for branch in branches), default=0.0)
        for value in equation.params.values():
            if isinstance(value, ClosedJaxpr):
                found += times * _in_products(value.jaxpr)
            elif isinstance(value, Jaxpr):
                found += times * _in_products(value)
    return found
