"""Softmax attention, linear attention and HYLA on a CPU without arrays of pairs, 16 instances in a vector.

A pair of positions takes little arithmetic, but much memory as a part of ``[B, H, A, T]``: the reference
spends its time on moving such arrays. Here the scores of a pair are computed where they are used, and again
in the backward pass. A head's D numbers of 16 instances are one vector. A block of instances is
``[T, H, D, 16]`` where the heads of a pair go together, as in RMSHead, and ``[H, T, D, 16]`` where the keys
of a query do, as in a softmax or a sum.
"""

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from baselines.model.attention import EPSILON, Attention, hyla, rms_head, softmax, weighted_sum
from baselines.model.fast.foreign import JOB, floats, next_block, register
from baselines.model.fast.vectors import (
    LANES,
    fold,
    larger,
    load,
    load_lanes,
    nearest,
    power_of_two,
    splat,
    store,
    store_lanes,
    tile,
    total,
    where_positive,
)
from sraven.core.jit import kernel

Array = jax.Array
WIDEST = 16
"""The widest head whose sums stay in registers."""

f4 = np.float32


@kernel
def _exp(x):
    """e^x of x up to 0: 2^n e^f, and a series of e^f with |f| up to ln 2 / 2; within 2 ulp."""
    x = larger(splat(f4(-87), LANES), x)  # NaN stays
    n = nearest(x * splat(f4(1.44269504), LANES))
    # ln 2 in two parts, the first of so few bits that n times it is exact.
    f = x - n * splat(f4(0.693359375), LANES) + n * splat(f4(2.12194440e-4), LANES)
    y = splat(f4(1 / 5040), LANES)
    for c in (1 / 720, 1 / 120, 1 / 24, 1 / 6, 1 / 2, 1.0, 1.0):
        y = y * f + splat(f4(c), LANES)
    return y * power_of_two(n)


def _hyla(H: int, D: int, backward: bool, *, rms_head: bool, relu: bool) -> Any:
    """HYLA (Eq. 6): out[h] = Σ_k g s[h] φ(m), m = Σ_h s[h] v[h] and g = gate² / (mean of s² over heads + ε).

    The codes are s · √g, and φ, ReLU or the identity, lets a positive factor pass; so √g is never needed.
    """
    N, W = H * D * LANES, D * LANES
    mean, eps, minus_two = f4(1 / H), f4(EPSILON), f4(-2 / H)

    @kernel
    def block(Q, K, V, bias, gate, Y, dQ, dK, dV, dbias, A, T):
        scores = np.empty(H * LANES, np.float32)
        for i in range(A):
            for j in range(T):
                square, mixed, inner = splat(f4(0), LANES), splat(f4(0), W), splat(f4(0), W)
                for h in range(H):
                    q, k = i * N + h * W, j * N + h * W
                    s = fold(load(Q, q, W) * load(K, k, W), D) + splat(bias[(h * A + i) * T + j], LANES)
                    store(scores, h * LANES, s)
                    square = square + s * s
                    mixed = mixed + tile(s, D) * load(V, k, W)
                    if backward:
                        inner = inner + tile(s, D) * load(Y, q, W)  # the gradient of φ(m), but for g
                r = splat(f4(1), LANES)
                if rms_head:
                    r = r / (square * splat(mean, LANES) + splat(eps, LANES))
                g = r * splat(gate[i * T + j] * gate[i * T + j], LANES)
                if relu:
                    inner = where_positive(mixed, inner)
                    mixed = where_positive(mixed, mixed)
                along = fold(mixed * inner, D) * g * r * splat(minus_two, LANES)  # through g, of s = 1
                mixed, inner = mixed * tile(g, D), inner * tile(g, D)
                for h in range(H):
                    q, k = i * N + h * W, j * N + h * W
                    s = load(scores, h * LANES, LANES)
                    if backward:
                        ds = fold(load(Y, q, W) * mixed + load(V, k, W) * inner, D)
                        if rms_head:
                            ds = ds + along * s
                        store(dQ, q, load(dQ, q, W) + tile(ds, D) * load(K, k, W))
                        store(dK, k, load(dK, k, W) + tile(ds, D) * load(Q, q, W))
                        store(dV, k, load(dV, k, W) + tile(s, D) * inner)
                        dbias[(h * A + i) * T + j] = total(ds)
                    else:
                        store(Y, q, load(Y, q, W) + tile(s, D) * mixed)

    return block


def _linear(H: int, D: int, backward: bool) -> Any:
    """Linear attention: out = Σ_k gate s v."""
    W = D * LANES

    @kernel
    def block(Q, K, V, bias, gate, Y, dQ, dK, dV, dbias, A, T):
        for row in range(H * A):
            h, i = row // A, row % A
            q, y, out = load(Q, row * W, W), load(Y, row * W, W), splat(f4(0), W)
            for j in range(T):
                k, g = (h * T + j) * W, splat(gate[i * T + j], LANES)
                s = (fold(q * load(K, k, W), D) + splat(bias[row * T + j], LANES)) * g
                if backward:
                    ds = fold(y * load(V, k, W), D) * g
                    out = out + tile(ds, D) * load(K, k, W)
                    store(dK, k, load(dK, k, W) + tile(ds, D) * q)
                    store(dV, k, load(dV, k, W) + tile(s, D) * y)
                    dbias[row * T + j] = total(ds)
                else:
                    out = out + tile(s, D) * load(V, k, W)
            store(dQ if backward else Y, row * W, out)

    return block


def _softmax(H: int, D: int, backward: bool) -> Any:
    """Softmax attention: out = Σ_k gate p v, with p = exp(s - max) / sum."""
    W = D * LANES

    @kernel
    def block(Q, K, V, bias, gate, Y, dQ, dK, dV, dbias, A, T):
        scores, inner = np.empty(T * LANES, np.float32), np.empty(T * LANES, np.float32)
        for row in range(H * A):
            h, i = row // A, row % A
            q, y, top = load(Q, row * W, W), load(Y, row * W, W), splat(f4(-np.inf), LANES)
            for j in range(T):
                s = fold(q * load(K, (h * T + j) * W, W), D) + splat(bias[row * T + j], LANES)
                store(scores, j * LANES, s)
                top = larger(s, top)
            sum_, along, out = splat(f4(0), LANES), splat(f4(0), LANES), splat(f4(0), W)
            for j in range(T):
                e, g = _exp(load(scores, j * LANES, LANES) - top), splat(gate[i * T + j], LANES)
                sum_ = sum_ + e
                if backward:
                    de = fold(y * load(V, (h * T + j) * W, W), D) * g
                    store(scores, j * LANES, e)
                    store(inner, j * LANES, de)
                    along = along + e * de
                else:
                    out = out + tile(e * g, D) * load(V, (h * T + j) * W, W)
            over = splat(f4(1), LANES) / sum_
            if backward:
                for j in range(T):
                    k = (h * T + j) * W
                    p = load(scores, j * LANES, LANES) * over
                    ds = p * (load(inner, j * LANES, LANES) - along * over)
                    out = out + tile(ds, D) * load(K, k, W)
                    store(dK, k, load(dK, k, W) + tile(ds, D) * q)
                    store(dV, k, load(dV, k, W) + tile(p * splat(gate[i * T + j], LANES), D) * y)
                    dbias[row * T + j] = total(ds)
                store(dQ, row * W, out)
            else:
                store(Y, row * W, out * tile(over, D))

    return block


def _work(block: Any, H: int, D: int, *, by_head: bool, backward: bool) -> Any:
    """Return what does the blocks of a job: of query, key, value, bias, gate and the output's gradient."""
    N, W = H * D, D * LANES
    first, last = (4, 7) if backward else (3, 4)  # rows of results; before them, what is read

    @kernel
    def move(array, lanes, tokens, inwards):
        of_token, of_head = (W, tokens * W) if by_head else (N * LANES, W)
        for t in range(tokens):
            for h in range(H):
                place, at = t * N + h * D, t * of_token + h * of_head
                if inwards:
                    store(lanes, at, load_lanes(array, place, tokens * N, D))
                else:
                    store_lanes(array, place, tokens * N, load(lanes, at, W))

    def work(job, A, T, given, found):
        bias, gate = floats(given[3], H * A * T, 0), floats(given[4], A * T, 0)
        # Query, key, value and output, or in its place its gradient and those of query, key and value.
        tokens, length = (A, T, T, A, A, T, T), max(A, T) * N * LANES
        memory = np.zeros(last * length + LANES, np.float32)
        start = -memory.ctypes.data % 64 // 4  # a vector is a line of the cache
        x = memory[start : start + last * length].reshape(last, length)
        n = next_block(job)
        while n >= 0:
            for at in range(first):
                array = floats(given[at if at < 3 else 5], LANES * tokens[at] * N, n)
                move(array, x[at], tokens[at], True)
            x[first:] = 0
            if backward:
                dbias = floats(found[3], H * A * T, n)
                block(x[0], x[1], x[2], bias, gate, x[3], x[4], x[5], x[6], dbias, A, T)
            else:
                block(x[0], x[1], x[2], bias, gate, x[3], x[0], x[1], x[2], bias, A, T)
            for at in range(first, last):
                array = floats(found[at - first], LANES * tokens[at] * N, n)
                move(array, x[at], tokens[at], False)
            n = next_block(job)

    return work


@cache
def _target(normalise: Callable[..., Any], mix: Callable[..., Any], H: int, D: int, backward: bool) -> str:
    """Return what programs call a pass of an attention with H heads of width D, compiled now."""
    by_head = mix is weighted_sum
    if by_head:
        block = (_softmax if normalise is softmax else _linear)(H, D, backward)
    else:
        block = _hyla(H, D, backward, rms_head=normalise is rms_head, relu=mix is hyla)
    name = f"sraven_{normalise.__name__}_{mix.__name__}_{H}_{D}_{'backward' if backward else 'forward'}"
    register(name, _work(block, H, D, by_head=by_head, backward=backward))
    return name


def lane_attention(
    attention: Attention,
    query_BAHD: Array,
    key_BTHD: Array,
    value_BTHD: Array,
    bias_HAT: Array | float,
    gate_AT: Array | float,
) -> Array:
    """Return an attention's output ``[B, A, H, D]``; it computes in float32, whatever the types are.

    Compiled code takes addresses alone, so all arrays get their type and shape here.

    Args:
        attention: softmax or linear attention, or HYLA with or without RMSHead and ReLU.
        query_BAHD: queries.
        key_BTHD: keys.
        value_BTHD: values.
        bias_HAT: added to the scores.
        gate_AT: what dropout multiplies the latent codes by; both may be of what broadcasts to their shape.

    Raises:
        ValueError: if keys or values don't belong to the queries, or bias or gate doesn't broadcast.
    """
    (B, A, H, D), T = query_BAHD.shape, key_BTHD.shape[1]
    if not key_BTHD.shape == value_BTHD.shape == (B, T, H, D):
        raise ValueError(
            f"keys {key_BTHD.shape} and values {value_BTHD.shape}: expected {(B, T, H, D)} of both, as "
            f"queries are {query_BAHD.shape}"
        )
    whole, dtype = [(0, -B % LANES), (0, 0), (0, 0), (0, 0)], query_BAHD.dtype
    given = (jnp.asarray(array, f4) for array in (query_BAHD, key_BTHD, value_BTHD))
    query, key, value = (jnp.pad(array, whole) for array in given)
    bias = jnp.broadcast_to(jnp.asarray(bias_HAT, f4), (H, A, T))
    gate = jnp.broadcast_to(jnp.asarray(gate_AT, f4), (A, T))
    return _attend(attention, query * f4(D**-0.5), key, value, bias, gate)[:B].astype(dtype)


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def _attend(attention: Attention, *arrays: Array) -> Array:
    return jnp.asarray(_call(attention, arrays, (arrays[0],))[0])


def _backward(attention: Attention, arrays: tuple[Array, ...], grad_BAHD: Array) -> tuple[Array, ...]:
    bias_HAT, gate_AT = arrays[3:]
    biases = jax.ShapeDtypeStruct((len(grad_BAHD) // LANES, *bias_HAT.shape), bias_HAT.dtype)
    *grads, grad_biases = _call(attention, (*arrays, grad_BAHD), (*arrays[:3], biases))
    return (*grads, grad_biases.sum(axis=0), jnp.zeros_like(gate_AT))


_attend.defvjp(lambda attention, *arrays: (_attend(attention, *arrays), arrays), _backward)


def _call(attention: Attention, arrays: tuple[Array, ...], results: tuple[Any, ...]) -> Any:
    """Return what a pass makes of its arguments: arrays like the results that are given."""
    sizes, backward = arrays[0].shape[2:], len(results) > 1
    target = _target(attention.normalise, attention.mix, *sizes, backward)
    like = (*(jax.ShapeDtypeStruct(each.shape, each.dtype) for each in results), JOB)
    return jax.ffi.ffi_call(target, like, vmap_method="sequential")(*arrays)[:-1]
