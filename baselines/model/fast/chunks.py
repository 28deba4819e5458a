"""Causal linear attention, chunk by chunk: what earlier chunks hold is one state, not their pairs.

Without a normalisation, scores may be summed in any order (Katharopoulos et al. 2020): with the state
S = Σ_{k < start} key_k ⊗ value_k, a chunk of queries from ``start`` on needs S and its own keys alone,

    out[q,h,·] = query_q · S_h / √D + Σ_{start <= k <= q} (query_q · key_k / √D) v[k,h,·].

Work and memory grow with T · (chunk + D). All chunks
are computed side by side, from states that are summed up first; so is the gradient, whose states come
from behind.
"""

import jax
import jax.numpy as jnp

from baselines.model.products import keep_arguments, matmul

Array = jax.Array


def linear_chunked(query: Array, key: Array, value: Array, *, chunk: int) -> Array:
    """Return what ``ATTENTION["linear"]`` returns with a causal mask.

    Values and gradients are those of the reference up to rounding; gradients are by reverse mode only.

    Args:
        query: floating ``[B, T, H, D]``.
        key: ``[B, T, H, D]`` of the same type.
        value: ``[B, T, H, V]`` of the same type.
        chunk: tokens of a chunk, 1 or more; needs not divide T.

    Returns:
        ``[B, T, H, V]`` of the type of the values.
    """
    B, T, H, D = query.shape
    out_BHSLV = _attend_chunks(*(_split(array, min(chunk, T)) for array in (query * D**-0.5, key, value)))
    return out_BHSLV.reshape(B, H, -1, value.shape[-1]).swapaxes(1, 2)[:, :T].astype(value.dtype)


def _split(x_BTHD: Array, chunk: int) -> Array:
    """Return ``[B, H, S, L, D]``; tokens of 0, which change no state, fill the last chunk."""
    B, T, H, D = x_BTHD.shape
    padded_BTHD = jnp.pad(x_BTHD, ((0, 0), (0, -T % chunk), (0, 0), (0, 0)))
    return padded_BTHD.swapaxes(1, 2).reshape(B, H, -1, chunk, D)


def _running_sums(added_BHSDV: Array, *, backwards: bool = False) -> Array:
    """Return the sums of what chunks add before each, or after: ``[B, H, S, D, V]``."""

    def add(total_BHDV: Array, added_BHDV: Array) -> tuple[Array, Array]:
        return total_BHDV + added_BHDV, total_BHDV

    added_SBHDV = jnp.moveaxis(added_BHSDV, 2, 0)
    sums_SBHDV = jax.lax.scan(add, jnp.zeros_like(added_SBHDV[0]), added_SBHDV, reverse=backwards)[1]
    return jnp.moveaxis(sums_SBHDV, 0, 2)


def _states(key_BHSLD: Array, value_BHSLV: Array) -> Array:
    """Return the states before each chunk, ``[B, H, S, D, V]``."""
    return _running_sums(matmul(key_BHSLD.mT, value_BHSLV, key_BHSLD.dtype))


def _pairs(query_BHSLD: Array, key_BHSLD: Array) -> Array:
    """Return query · key for the pairs of each chunk, 0 for later keys: ``[B, H, S, L, L]``."""
    return jnp.tril(matmul(query_BHSLD, key_BHSLD.mT, query_BHSLD.dtype))


@jax.custom_vjp
def _attend_chunks(query_BHSLD: Array, key_BHSLD: Array, value_BHSLV: Array) -> Array:
    """Return the output ``[B, H, S, L, V]``, float32 or better."""
    dtype = query_BHSLD.dtype
    out_BHSLV = matmul(_pairs(query_BHSLD, key_BHSLD), value_BHSLV, dtype)
    return out_BHSLV + matmul(query_BHSLD, _states(key_BHSLD, value_BHSLV), dtype)


def _backward(saved: tuple[Array, ...], grad: Array) -> tuple[Array, ...]:
    query, key, value = saved
    dtype = query.dtype
    before = _states(key, value)
    # The gradient of the state before a chunk is that of the state after it, and what its queries add.
    after = _running_sums(matmul(query.mT, grad, dtype), backwards=True)
    pairs, grad_pairs = _pairs(query, key), _pairs(grad.astype(dtype), value)
    grad_query = matmul(grad_pairs, key, dtype) + matmul(grad, before.mT, dtype)
    grad_key = matmul(grad_pairs.mT, query, dtype) + matmul(value, after.mT, dtype)
    grad_value = matmul(pairs.mT, grad, dtype) + matmul(key, after, dtype)
    return tuple(x.astype(dtype) for x in (grad_query, grad_key, grad_value))


_attend_chunks.defvjp(keep_arguments(_attend_chunks), _backward)
