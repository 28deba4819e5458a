"""Causal linear attention, chunk by chunk: what earlier chunks hold is one state, not their pairs.

Without a normalisation, scores may be summed in any order (Katharopoulos et al. 2020): with the state
S = Σ_{k < start} key_k ⊗ value_k, a chunk of queries from ``start`` on needs S and its own keys alone,

    out[q,h,·] = query_q · S_h / √D + Σ_{start <= k <= q} (query_q · key_k / √D) v[k,h,·].

Work and memory grow with T · (chunk + D), and a chunk of one token is the recurrent form. All chunks
are computed side by side, from states that are summed up first; so is the gradient, whose states come
from behind.
"""

import jax
import jax.numpy as jnp

from baselines.model.products import accumulator, keep_arguments, matmul

Array = jax.Array

CHUNK = 64
"""Tokens of a chunk, unless another number is given."""


def linear_chunked(
    query: Array, key: Array, value: Array, state: Array | None = None, *, chunk: int = CHUNK
) -> tuple[Array, Array]:
    """Return what ``ATTENTION["linear"]`` returns with a causal mask, and the state to go on from.

    Values and gradients (of query, key, value and state) are those of the reference up to rounding;
    gradients are by reverse mode only. Going on with the state that a call returns equals one call
    with all tokens.

    Args:
        query: floating ``[B, T, H, D]``.
        key: ``[B, T, H, D]`` of the same type.
        value: ``[B, T, H, V]`` of the same type.
        state: float32 or better ``[B, H, D, V]``, the sum over earlier tokens; None if there are none.
        chunk: tokens of a chunk, 1 or more; needs not divide T.

    Returns:
        ``[B, T, H, V]`` of the type of the values, and the state ``[B, H, D, V]`` after the last token.
    """
    B, T, H, D = query.shape
    V = value.shape[-1]
    if state is None:
        state = jnp.zeros((B, H, D, V), accumulator(query.dtype))
    parts = (_split(array, min(chunk, T)) for array in (query * D**-0.5, key, value))
    out_BHSLV, state = _attend_chunks(*parts, state)
    out_BTHV = out_BHSLV.reshape(B, H, -1, V).swapaxes(1, 2)[:, :T]
    return out_BTHV.astype(value.dtype), state


def _split(x_BTHD: Array, chunk: int) -> Array:
    """Return ``[B, H, S, L, D]``; tokens of 0, which change no state, fill the last chunk."""
    B, T, H, D = x_BTHD.shape
    padded_BTHD = jnp.pad(x_BTHD, ((0, 0), (0, -T % chunk), (0, 0), (0, 0)))
    return padded_BTHD.swapaxes(1, 2).reshape(B, H, -1, chunk, D)


def _running_sums(start_BHDV: Array, added_BHSDV: Array, *, backwards: bool = False) -> tuple[Array, Array]:
    """Return the sums of a start and what chunks add: before each ``[B, H, S, D, V]``, and after all."""

    def add(total_BHDV: Array, added_BHDV: Array) -> tuple[Array, Array]:
        return total_BHDV + added_BHDV, total_BHDV

    added_SBHDV = jnp.moveaxis(added_BHSDV, 2, 0)
    last_BHDV, before_SBHDV = jax.lax.scan(add, start_BHDV, added_SBHDV, reverse=backwards)
    return jnp.moveaxis(before_SBHDV, 0, 2), last_BHDV


def _states(key_BHSLD: Array, value_BHSLV: Array, state_BHDV: Array) -> tuple[Array, Array]:
    """Return the states before each chunk ``[B, H, S, D, V]``, and the one after all."""
    return _running_sums(state_BHDV, matmul(key_BHSLD.mT, value_BHSLV, key_BHSLD.dtype))


def _pairs(query_BHSLD: Array, key_BHSLD: Array) -> Array:
    """Return query · key for the pairs of each chunk, 0 for later keys: ``[B, H, S, L, L]``."""
    return jnp.tril(matmul(query_BHSLD, key_BHSLD.mT, query_BHSLD.dtype))


@jax.custom_vjp
def _attend_chunks(
    query_BHSLD: Array, key_BHSLD: Array, value_BHSLV: Array, state_BHDV: Array
) -> tuple[Array, Array]:
    """Return the output ``[B, H, S, L, V]`` and the last state, both float32 or better."""
    dtype = query_BHSLD.dtype
    before_BHSDV, last_BHDV = _states(key_BHSLD, value_BHSLV, state_BHDV)
    out_BHSLV = matmul(_pairs(query_BHSLD, key_BHSLD), value_BHSLV, dtype)
    return out_BHSLV + matmul(query_BHSLD, before_BHSDV, dtype), last_BHDV


def _backward(saved: tuple[Array, ...], grads: tuple[Array, Array]) -> tuple[Array, ...]:
    query, key, value, state_BHDV = saved
    grad, grad_state_BHDV = grads
    dtype = query.dtype
    before, _ = _states(key, value, state_BHDV)
    # The gradient of the state before a chunk is that of the state after it, and what its queries add.
    added_BHSDV = matmul(query.mT, grad, dtype)
    after, grad_first_BHDV = _running_sums(grad_state_BHDV, added_BHSDV, backwards=True)
    pairs, grad_pairs = _pairs(query, key), _pairs(grad.astype(dtype), value)
    grad_query = matmul(grad_pairs, key, dtype) + matmul(grad, before.mT, dtype)
    grad_key = matmul(grad_pairs.mT, query, dtype) + matmul(value, after.mT, dtype)
    grad_value = matmul(pairs.mT, grad, dtype) + matmul(key, after, dtype)
    return *(x.astype(dtype) for x in (grad_query, grad_key, grad_value)), grad_first_BHDV


_attend_chunks.defvjp(keep_arguments(_attend_chunks), _backward)
