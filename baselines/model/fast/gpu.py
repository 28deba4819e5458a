"""cuDNN's softmax attention on a GPU, and where there is one."""

from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
from jax.typing import DTypeLike

Array = jax.Array

WIDEST = 128
"""Widest head whose gradient cuDNN's kernels have on every GPU that has them."""


class Device(NamedTuple):
    """What a program runs on.

    Attributes:
        backend: as `jax.default_backend` has it.
        capability: the device's compute capability, such as ``8.0`` (Ampere, the first that will do).
            AMD's devices name theirs otherwise, others have none: an empty string.
    """

    backend: str
    capability: str

    @property
    def is_ampere(self) -> bool:
        """Whether it is one of NVIDIA's since Ampere."""
        major = self.capability.split(".")[0]
        return self.backend == "gpu" and major.isdecimal() and int(major) >= 8


def this_device() -> Device:
    """Return what programs run on here."""
    capability = getattr(jax.local_devices()[0], "compute_capability", "")
    return Device(jax.default_backend(), str(capability))


def cudnn_applies(device: Device, dtype: DTypeLike, tokens: int, width: int) -> bool:
    """Return whether cuDNN has softmax attention, with its gradient, for a device and arrays.

    Without bias, mask and dropout, that is: with them the kernels have conditions of their own.

    Args:
        device: which.
        dtype: of query, key and value.
        tokens: T; cuDNN before 9.8 has no kernel for a single one.
        width: D, and V.
    """
    return device.is_ampere and dtype == jnp.bfloat16 and tokens > 1 and width % 8 == 0 and width <= WIDEST


def fused_softmax(
    query: Array, key: Array, value: Array, *, causal: bool, implementation: Literal["cudnn", "xla"] = "cudnn"
) -> Array:
    """Return what ``ATTENTION["softmax"]`` returns without bias, up to rounding, without arrays of pairs.

    Args:
        query: ``[B, T, H, D]``.
        key: ``[B, T, H, D]`` of the same type.
        value: ``[B, T, H, D]`` of the same type.
        causal: whether query q sees keys 0 to q only.
        implementation: ``cudnn``, or ``xla`` for the same call where there is no cuDNN.

    Returns:
        ``[B, T, H, D]`` of the same type.
    """
    return jax.nn.dot_product_attention(
        query, key, value, scale=query.shape[-1] ** -0.5, is_causal=causal, implementation=implementation
    )
