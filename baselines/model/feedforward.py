"""Feed-forward layers: an MLP of one hidden layer, and a mixture of such experts (appendix A.1)."""

from collections.abc import Callable, Mapping

import jax
import jax.numpy as jnp
from flax import linen as nn
from jax.typing import DTypeLike

from baselines.model.fast.layers import Dense, gelu
from baselines.model.products import accumulator

Array = jax.Array

EXPERTS, CHOSEN = 5, 2
"""Experts of a mixture, and how many of them a token is given to."""


Layer = tuple[Array, Array]
"""A linear layer of every expert: kernels, inputs before outputs, and biases."""


def choose_experts(logits_BTX: Array, chosen: int) -> Array:
    """Return the share of each expert: the softmax over the largest logits, 0 for the others.

    Args:
        logits_BTX: of a token for each expert; of equal ones the first wins.
        chosen: C, how many experts share a token.
    """
    largest_BTC, expert_BTC = jax.lax.top_k(logits_BTX, chosen)
    share_BTC = jax.nn.softmax(largest_BTC, axis=-1)
    one_hot_BTCX = jax.nn.one_hot(expert_BTC, logits_BTX.shape[-1], dtype=share_BTC.dtype)
    return (share_BTC[..., None] * one_hot_BTCX).sum(axis=-2)


def mixture(x_BTE: Array, gate_EX: Array, up: Layer, down: Layer, chosen: int = CHOSEN) -> Array:
    """Return Σ_x share_x · expert_x(x), the shares Softmax(Top_C(x · gate)).

    Every expert sees every token: five small ones take less time than to sort tokens by expert, and
    no token is left out. Experts are MLPs of one hidden layer with GELU.

    Args:
        x_BTE: tokens.
        gate_EX: the router's weights; it has no bias.
        up: from tokens to the hidden layer of each expert: ``[X, E, F]`` and ``[X, F]``.
        down: back: ``[X, F, E]`` and ``[X, E]``.
        chosen: C, how many experts share a token.

    Returns:
        an array like ``x_BTE``; the router computes in float32 or better.
    """
    dtype, wide = x_BTE.dtype, accumulator(x_BTE.dtype)
    up_XEF, up_XF, down_XFE, down_XE = (weight.astype(dtype) for weight in (*up, *down))
    logits_BTX = jnp.einsum("bte,ex->btx", x_BTE.astype(wide), gate_EX.astype(wide))
    share_BTX = choose_experts(logits_BTX, chosen).astype(dtype)
    hidden_BTXF = gelu(jnp.einsum("bte,xef->btxf", x_BTE, up_XEF) + up_XF)
    out_BTE = jnp.einsum("btxf,xfe->bte", hidden_BTXF * share_BTX[..., None], down_XFE)
    return out_BTE + jnp.einsum("btx,xe->bte", share_BTX, down_XE)


class MLP(nn.Module):
    """gelu(x · up) · down, with biases.

    Attributes:
        hidden: F.
        dense: makes a dense layer of a width.
    """

    hidden: int
    dense: Callable[..., nn.Module] = Dense

    @nn.compact
    def __call__(self, x_BTE: Array) -> Array:
        """Apply the layer."""
        hidden_BTF = gelu(self.dense(self.hidden, name="up")(x_BTE))
        return self.dense(x_BTE.shape[-1], name="down")(hidden_BTF)


class _Experts(nn.Module):
    """The parameters of a linear layer of every expert, drawn as those of a single one."""

    inputs: int
    outputs: int

    @nn.compact
    def __call__(self) -> Layer:
        kernel = nn.initializers.lecun_normal(batch_axis=(0,))
        return (
            self.param("kernel", kernel, (EXPERTS, self.inputs, self.outputs)),
            self.param("bias", nn.initializers.zeros_init(), (EXPERTS, self.outputs)),
        )


class Mixture(nn.Module):
    """`mixture` with its parameters.

    Attributes:
        hidden: F of each expert.
        dtype: what is computed in.
    """

    hidden: int
    dtype: DTypeLike = jnp.float32

    @nn.compact
    def __call__(self, x_BTE: Array) -> Array:
        """Apply the layer."""
        width = x_BTE.shape[-1]
        gate_EX = self.param("gate", nn.initializers.lecun_normal(), (width, EXPERTS))
        up = _Experts(width, self.hidden, name="up")()
        down = _Experts(self.hidden, width, name="down")()
        return mixture(x_BTE.astype(self.dtype), gate_EX, up, down)


FEEDFORWARD: Mapping[str, Callable[..., nn.Module] | None] = {
    "mlp": lambda config, name: MLP(config.mlp_width, config.dense, name=name),
    "moe": lambda config, name: Mixture(config.mlp_width, jnp.dtype(config.dtype), name=name),
    "none": None,
}
"""Feed-forward layers by name: made of a `baselines.model.config.TransformerConfig`; None for blocks that
have attention alone."""
