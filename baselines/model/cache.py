"""The cache of a causal model: what it keeps of the tokens so far, to go on from there.

A cache is a dict of arrays. Linear attention keeps its recurrent state, which has a fixed size; the others
keep the keys, turned by their positions, and values of ``config.length`` positions, of which a query sees
those up to its own.
"""

import jax
import jax.numpy as jnp

from baselines.model.attention import ValueNetwork, find_attention
from baselines.model.config import TransformerConfig
from baselines.model.fast.chunks import CHUNK, linear_chunked
from baselines.model.position import rotary_angles, rotate
from baselines.model.products import accumulator
from sraven.core.errors import ConfigurationError

Array = jax.Array
Cache = dict[str, Array]


def check_cached(config: TransformerConfig, **given: bool) -> None:
    """Check that a model can go on from a cache.

    Args:
        config: the transformer's.
        given: whether an argument is given that a cache doesn't take, by its name.

    Raises:
        ConfigurationError: (a ValueError) if it can't.
    """
    if not config.causal or config.position != "rotary":
        raise ConfigurationError(
            f"causal={config.causal}, position={config.position!r} with a cache; expected True and 'rotary'"
        )
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
    B, H, D, none = sequences, config.heads, config.head_width, jnp.zeros((), jnp.int32)
    if "chunked" in find_attention(config.attention).implementations:
        return {"position": none, "state": jnp.zeros((B, H, D, D), accumulator(config.dtype))}
    kept = {name: jnp.zeros((B, config.length, H, D), config.dtype) for name in ("keys", "values")}
    return {"position": none, **kept}


def extend_cache(
    config: TransformerConfig, cache: Cache, query: Array, key: Array, value: Array, network: ValueNetwork
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
    B, T = query.shape[:2]
    held = {array.shape[0] for array in cache.values() if array.ndim}
    if held != {B}:
        raise ConfigurationError(f"tokens of {B} sequences; the cache holds {', '.join(map(str, held))}")
    start = cache["position"]
    position_T = start + jnp.arange(T, dtype=jnp.int32)
    angles = rotary_angles(position_T, config.head_width)
    query, key = rotate(query, angles), rotate(key, angles)
    if "state" in cache:
        out, state = linear_chunked(query, key, value, cache["state"], chunk=config.tile or CHUNK)
        return out, {"position": start + T, "state": state}
    keys, values = (
        jax.lax.dynamic_update_slice_in_dim(cache[name], new, start, axis=1)
        for name, new in (("keys", key), ("values", value))
    )
    seen_TK = jnp.arange(config.length, dtype=jnp.int32) <= position_T[:, None]
    attention = find_attention(config.attention)
    out, _ = attention(query, keys, values, None, seen_TK[None, None], network)
    return out.astype(value.dtype), {"position": start + T, "keys": keys, "values": values}
