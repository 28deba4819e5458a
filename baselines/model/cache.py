"""What a causal model keeps of the tokens so far, so that it goes on from there.

A cache is a dict of arrays. Linear attention keeps its recurrent state; the others keep the keys, turned
by their positions, and values of ``config.length`` positions, of which a query sees those up to its own.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

from baselines.model.attention import Network, attend, find_attention
from baselines.model.config import TransformerConfig
from baselines.model.linear_chunked import CHUNK, linear_chunked
from baselines.model.mixing import accumulator
from baselines.model.position import rotary_angles, rotate
from sraven.core.ground.errors import ConfigurationError

Array = jax.Array
Cache = dict[str, Array]


class Memory(NamedTuple):
    """A way to keep the tokens so far.

    Attributes:
        start: returns the arrays of a cache without tokens, for a number of sequences.
        extend: returns the output ``[B, T, H, V]`` for the next tokens' query, key and value, turned
            by their positions, and a value network; and the arrays with these tokens.
    """

    start: Callable[[TransformerConfig, int], Cache]
    extend: Callable[..., tuple[Array, Cache]]


def _positions(cache: Cache, query_BTHD: Array) -> Array:
    """Return the positions ``[T]`` of tokens that follow those of a cache."""
    return cache["position"] + jnp.arange(query_BTHD.shape[1], dtype=jnp.int32)


def _no_tokens(config: TransformerConfig, sequences: int) -> Cache:
    shape = sequences, config.length, config.heads, config.head_width
    return {name: jnp.zeros(shape, config.dtype) for name in ("keys", "values")}


def _keep_tokens(
    config: TransformerConfig, cache: Cache, query: Array, key: Array, value: Array, network: Network
) -> tuple[Array, Cache]:
    kept = {
        name: jax.lax.dynamic_update_slice_in_dim(cache[name], new, cache["position"], axis=1)
        for name, new in (("keys", key), ("values", value))
    }
    key_1K, query_Q1 = jnp.arange(config.length, dtype=jnp.int32)[None], _positions(cache, query)[:, None]
    attention, seen = find_attention(config.attention), (key_1K <= query_Q1)[None, None]
    out, _ = attend(attention, query, kept["keys"], kept["values"], None, seen, network, None)
    return out.astype(value.dtype), kept


def _no_state(config: TransformerConfig, sequences: int) -> Cache:
    shape = sequences, config.heads, config.head_width, config.head_width
    return {"state": jnp.zeros(shape, accumulator(config.dtype))}


def _keep_state(
    config: TransformerConfig, cache: Cache, query: Array, key: Array, value: Array, network: Network
) -> tuple[Array, Cache]:
    out, state = linear_chunked(query, key, value, cache["state"], chunk=config.tile or CHUNK)
    return out, {"state": state}


TOKENS = Memory(_no_tokens, _keep_tokens)
"""What suits every attention: keys and values."""

STATE = Memory(_no_state, _keep_state)
"""What will do for those that can be computed in chunks: a state of a fixed size."""


def _memory_of(config: TransformerConfig) -> Memory:
    return STATE if "chunked" in find_attention(config.attention).forms else TOKENS


def check_cached(
    config: TransformerConfig,
    mask: Array | None,
    dropout_key: Array | None,
    return_scores: bool,
    edited: bool = False,
) -> None:
    """Check that a model can go on from a cache, as asked.

    Raises:
        ConfigurationError: (a ValueError) if it can't.
    """
    if not config.causal or config.position != "rotary":
        raise ConfigurationError(
            f"causal={config.causal}, position={config.position!r} with a cache; expected True and 'rotary'"
        )
    given = {
        "mask": mask is not None,
        "dropout_key": dropout_key is not None,
        "return_scores": return_scores,
        "edit_codes": edited,
    }
    if any(given.values()):
        names = ", ".join(name for name, is_given in given.items() if is_given)
        raise ConfigurationError(f"{names} with a cache; expected tokens alone")


def start_cache(config: TransformerConfig, sequences: int) -> Cache:
    """Return the cache of one layer before the first token.

    Args:
        config: the transformer's.
        sequences: B.

    Returns:
        ``position``, int32 without axes: how many tokens are in the cache. And ``state``, float32
        ``[B, H, D, V]``, or ``keys`` and ``values``, ``[B, length, H, D]`` of the configuration's type.
    """
    memory = _memory_of(config)
    return {"position": jnp.zeros((), jnp.int32), **memory.start(config, sequences)}


def extend_cache(
    config: TransformerConfig, cache: Cache, query: Array, key: Array, value: Array, network: Network
) -> tuple[Array, Cache]:
    """Attend from the next tokens to those of a cache, themselves and one another.

    Args:
        config: the transformer's.
        cache: of one layer. Its position is traced, so nobody can check here that the tokens fit: it
            is the caller's to see that no more than ``config.length`` come in all. Beyond, the output
            is wrong, as the last tokens take the places of earlier ones; only a state knows no end.
        query: ``[B, T, H, D]``, not yet turned by positions.
        key: likewise.
        value: ``[B, T, H, V]``.
        network: φ and the attention's own weights.

    Returns:
        ``[B, T, H, V]``, and the cache with the tokens.

    Raises:
        ConfigurationError: (a ValueError) for a cache of another number of sequences.
    """
    memory = _memory_of(config)
    B, T = query.shape[:2]
    kept = {array.shape[0] for array in cache.values() if array.ndim}
    if kept != {B}:
        raise ConfigurationError(f"tokens of {B} sequences; the cache holds {', '.join(map(str, kept))}")
    angles = rotary_angles(_positions(cache, query), config.head_width)
    turned = rotate(query, angles), rotate(key, angles)
    out, arrays = memory.extend(config, cache, *turned, value, network)
    return out, {"position": cache["position"] + T, **arrays}
