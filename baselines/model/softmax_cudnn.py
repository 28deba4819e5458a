"""Softmax attention by cuDNN's fused kernels, which make no array of all pairs of positions."""

from typing import Literal

import jax

Array = jax.Array


def softmax_fused(
    query: Array, key: Array, value: Array, *, causal: bool, implementation: Literal["cudnn", "xla"] = "cudnn"
) -> Array:
    """Return what ``ATTENTION["softmax"]`` returns without bias, up to rounding.

    Args:
        query: ``[B, T, H, D]``.
        key: ``[B, T, H, D]`` of the same type.
        value: ``[B, T, H, D]`` of the same type.
        causal: whether query q sees keys 0 to q only.
        implementation: ``cudnn``, or ``xla`` for the same call where there is no cuDNN.

    Returns:
        ``[B, T, H, D]`` of the same type.
    """
    out: Array = jax.nn.dot_product_attention(
        query, key, value, scale=query.shape[-1] ** -0.5, is_causal=causal, implementation=implementation
    )
    return out
