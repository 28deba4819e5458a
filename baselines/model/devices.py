"""Which fused kernels a device has, for which arrays."""

import jax
import jax.numpy as jnp
from jax.typing import DTypeLike

WIDEST = 128
"""Widest head whose gradient cuDNN's kernels have on every GPU that has them."""

HEADS, WIDTHS = 16, (16, 32, 64, 128)
"""Most heads of HYLA's kernels, which write them out one after the other and hold their sums in registers;
and the widths of one that they take: Triton's arrays have powers of two."""


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
    return (
        _is_ampere(backend, capability)
        and dtype == jnp.bfloat16
        and tokens > 1
        and width % 8 == 0
        and width <= WIDEST
    )


def pallas_applies(
    *, backend: str, capability: str, devices: int, dtype: DTypeLike, heads: int, width: int
) -> bool:
    """Return whether `baselines.model.hyla_pallas` is for a device and arrays.

    Args:
        backend: as above.
        capability: as above.
        devices: how many there are: the compiler can't divide a kernel among several.
        dtype: of query, key and value: float32 or bfloat16.
        heads: H, `HEADS` at most.
        width: D and V, one of `WIDTHS`.
    """
    fits = dtype in (jnp.float32, jnp.bfloat16) and heads <= HEADS and width in WIDTHS
    return _is_ampere(backend, capability) and devices == 1 and fits


def _is_ampere(backend: str, capability: str) -> bool:
    """Return whether a device is one of NVIDIA's since Ampere."""
    major = capability.split(".")[0]
    return backend == "gpu" and major.isdecimal() and int(major) >= 8


def device_capability() -> str:
    """Return the compute capability of the first device, empty if it has none."""
    return str(getattr(jax.local_devices()[0], "compute_capability", ""))
