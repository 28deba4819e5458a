"""Checks of the arrays that callers hand to attention."""

from typing import Any

import jax
import jax.numpy as jnp

from baselines.model.mixing import accumulator
from sraven.core.ground.errors import ConfigurationError

Array = jax.Array


def _check_shape(name: str, array: Any, letters: str, sizes: dict[str, int]) -> None:
    """Hold an array's shape against letters for its axes; note the sizes of letters met first."""
    shape = jnp.shape(array)
    fits = len(shape) == len(letters) and all(
        sizes.setdefault(letter, size) == size for letter, size in zip(letters, shape, strict=True)
    )
    if not fits:
        wanted = ", ".join(f"{letter}={sizes[letter]}" if letter in sizes else letter for letter in letters)
        raise ConfigurationError(f"{name} has shape {list(shape)}; expected [{wanted}]")


def check_arrays(query: Array, key: Array, value: Array, bias: Any, mask: Any) -> Array | None:
    """Check what an attention is given.

    Args:
        query: must be floating ``[B, Q, H, D]``.
        key: must be ``[B, K, H, D]`` of the same type.
        value: must be ``[B, K, H, V]`` of the same type.
        bias: must be floating ``[H, Q, K]`` or None.
        mask: must be bool, broadcasting to ``[B, H, Q, K]``, or None.

    Returns:
        the mask with four axes, or None.

    Raises:
        ConfigurationError: if one isn't.
    """
    sizes: dict[str, int] = {}
    _check_shape("query", query, "BQHD", sizes)
    _check_shape("key", key, "BKHD", sizes)
    _check_shape("value", value, "BKHV", sizes)
    types = [array.dtype for array in (query, key, value)]
    if len(set(types)) > 1 or not jnp.issubdtype(types[0], jnp.floating):
        raise ConfigurationError(
            f"query, key and value have dtypes {', '.join(map(str, types))}; expected one floating type"
        )
    if bias is not None:
        _check_shape("bias", bias, "HQK", sizes)
        if not jnp.issubdtype(bias.dtype, jnp.floating):
            raise ConfigurationError(f"bias has dtype {bias.dtype}; expected a floating type")
    return None if mask is None else _check_mask(mask, sizes)


def _check_mask(mask: Any, sizes: dict[str, int]) -> Array:
    mask, full = jnp.asarray(mask), [sizes[letter] for letter in "BHQK"]
    if mask.dtype != jnp.bool_:
        raise ConfigurationError(f"mask has dtype {mask.dtype}; expected bool")
    shape = (1,) * (4 - mask.ndim) + mask.shape
    fits = len(shape) == 4 and all(have in (1, want) for have, want in zip(shape, full, strict=True))
    if not fits:
        raise ConfigurationError(
            f"mask has shape {list(mask.shape)}; expected one that broadcasts to [B, H, Q, K]={full}"
        )
    four: Array = mask.reshape(shape)
    return four


def check_deep_weights(name: str, deep_weights: Array | None, value: Array) -> None:
    """Check that ``hyla_deep``, and no other attention, is given weights ``[H, V, V]``.

    Raises:
        ConfigurationError: if that isn't so.
    """
    H, V = value.shape[2:]
    if name == "hyla_deep":
        if deep_weights is None or deep_weights.shape != (H, V, V):
            shape = None if deep_weights is None else list(deep_weights.shape)
            raise ConfigurationError(f"deep_weights has shape {shape}; hyla_deep needs [H, V, V]={[H, V, V]}")
    elif deep_weights is not None:
        raise ConfigurationError(f"deep_weights are for hyla_deep; {name} has none")


def check_recurrence(query: Array, key: Array, value: Array, state: Array | None) -> None:
    """Check what a recurrent attention is given: a sequence that sees itself, and a state.

    Args:
        query: must be floating ``[B, T, H, D]``.
        key: must be ``[B, T, H, D]`` of the same type.
        value: must be ``[B, T, H, V]`` of the same type.
        state: must be ``[B, H, D, V]`` of the type that products of that type are added up in, or None.

    Raises:
        ConfigurationError: if one isn't.
    """
    check_arrays(query, key, value, None, None)
    sizes: dict[str, int] = {}
    for name, array, letters in (("query", query, "BTHD"), ("key", key, "BTHD"), ("value", value, "BTHV")):
        _check_shape(name, array, letters, sizes)
    if state is not None:
        _check_shape("state", state, "BHDV", sizes)
        wide = accumulator(query.dtype)
        if state.dtype != wide:
            raise ConfigurationError(f"state has dtype {state.dtype}; expected {wide}")
