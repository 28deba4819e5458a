"""Checks of the arrays that callers hand to attention."""

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp

from sraven.core.errors import ConfigurationError

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


def check_mask(mask: Any, full: tuple[int, ...]) -> Array:
    """Return a mask with four axes, if it is bool and broadcasts to ``full``, [B, H, Q, K].

    Raises:
        ConfigurationError: if it doesn't.
    """
    mask = jnp.asarray(mask)
    if mask.dtype != jnp.bool_:
        raise ConfigurationError(f"mask has dtype {mask.dtype}; expected bool")
    shape = (1,) * (4 - mask.ndim) + mask.shape
    fits = len(shape) == 4 and all(have in (1, want) for have, want in zip(shape, full, strict=True))
    if not fits:
        raise ConfigurationError(
            f"mask has shape {list(mask.shape)}; expected one that broadcasts to [B, H, Q, K]={list(full)}"
        )
    return mask.reshape(shape)


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
    return None if mask is None else check_mask(mask, tuple(sizes[letter] for letter in "BHQK"))


def check_weights(shapes: Mapping[str, tuple[int, ...]], given: Mapping[str, Array]) -> dict[str, Array]:
    """Check that an attention is given the weights that it declares, and no others.

    Args:
        shapes: of the weights, by name.
        given: arrays; those of NAME are called ``NAME_weights``.

    Returns:
        the arrays, by the names of the shapes.

    Raises:
        ConfigurationError: if one is missing, too many, or of another shape.
    """
    wanted = {f"{name}_weights": name for name in shapes}
    for name in given:
        if name not in wanted:
            expected = f"expected {', '.join(wanted)}" if wanted else "this attention has no weights"
            raise ConfigurationError(f"unknown argument {name}; {expected}")
    for argument, name in wanted.items():
        shape = jnp.shape(given[argument]) if argument in given else None
        if shape != shapes[name]:
            have = "is missing" if shape is None else f"has shape {list(shape)}"
            raise ConfigurationError(f"{argument} {have}; expected {list(shapes[name])}")
    return {name: given[argument] for argument, name in wanted.items()}
