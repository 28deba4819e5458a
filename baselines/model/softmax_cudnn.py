"""Softmax attention by cuDNN's fused kernels, which make no array of all pairs of positions."""

from typing import Literal

import jax
import jax.numpy as jnp
from jax.typing import DTypeLike

Array = jax.Array

WIDEST = 128
"""Widest head whose gradient these kernels have on every GPU that has them."""


def cudnn_applies(*, backend: str, capability: str, dtype: DTypeLike, tokens: int, width: int) -> bool:
    """Return whether cuDNN has softmax attention, with its gradient, for a device and arrays.

    Without bias, mask and dropout, that is: with them the kernels have conditions of their own.

    Args:
        backend: as `jax.default_backend` has it.
        capability: the device's compute capability, such as ``8.0`` (Ampere, the first that will do).
            AMD's devices name theirs otherwise, others have none: an empty string.
        dtype: of query, key and value.
        tokens: T; cuDNN before 9.8 has no kernel for a single one.
        width: D, and V.
    """
    major = capability.split(".")[0]
    device_has_it = backend == "gpu" and major.isdecimal() and int(major) >= 8
    return device_has_it and dtype == jnp.bfloat16 and tokens > 1 and width % 8 == 0 and width <= WIDEST


def device_capability() -> str:
    """Return the compute capability of the first device, empty if it has none."""
    return str(getattr(jax.local_devices()[0], "compute_capability", ""))


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
