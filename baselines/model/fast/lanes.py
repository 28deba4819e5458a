"""Softmax attention and HYLA on a CPU without arrays of pairs, 16 instances at a time, one in each lane.

A pair of positions takes little arithmetic, but much memory as a part of ``[B, H, A, T]``: the reference
spends its time on moving such arrays. Here the scores of a pair are computed where they are used, and again
in the backward pass. A head's D numbers of 16 instances are one vector. A block of instances is
``[T, H, D, 16]`` where the heads of a pair go together, as in RMSHead, and ``[H, T, D, 16]`` where the keys
of a query do, as in a softmax.
"""

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from baselines.model.attention import EPSILON, Attention, hyla, rms_head, softmax
from baselines.model.fast.foreign import (
    ARGUMENTS,
    RESULTS,
    floats,
    is_known,
    next_block,
    njit,
    register,
    sizes,
    words,
)
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
from sraven.core.compute.jit import kernel

__all__ = ["LANES", "WIDEST", "attend_in_lanes", "is_known"]

Array = jax.Array
Parts = tuple[Callable[..., Any], Callable[..., Any]]
"""Normalisation and value network of an attention."""

WIDEST = 16
"""The widest head whose sums stay in registers."""

f4 = np.float32


@njit
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


def _hyla(H: int, D: int, *, rms_head: bool, relu: bool) -> tuple[Any, Any]:
    """HYLA (Eq. 6): out[h] = Σ_k g s[h] φ(m), m = Σ_h s[h] v[h] and g = gate² / (mean of s² over heads + ε).

    The codes are s · √g, and φ, ReLU or the identity, lets a positive factor pass; so √g is never needed.
    """
    N, W = H * D * LANES, D * LANES
    mean, eps, minus_two = f4(1 / H), f4(EPSILON), f4(-2 / H)

    @kernel
    def forward(Q, K, V, bias, gate, Y, A, T):
        scores = np.empty(H * LANES, np.float32)
        for i in range(A):
            for j in range(T):
                square, mixed = splat(f4(0), LANES), splat(f4(0), W)
                for h in range(H):
                    q, k = i * N + h * W, j * N + h * W
                    s = fold(load(Q, q, W) * load(K, k, W), D) + splat(bias[(h * A + i) * T + j], LANES)
                    store(scores, h * LANES, s)
                    square = square + s * s
                    mixed = mixed + tile(s, D) * load(V, k, W)
                g = splat(gate[i * T + j] * gate[i * T + j], LANES)
                if rms_head:
                    g = g / (square * splat(mean, LANES) + splat(eps, LANES))
                if relu:
                    mixed = where_positive(mixed, mixed)
                mixed = mixed * tile(g, D)
                for h in range(H):
                    q = i * N + h * W
                    store(Y, q, load(Y, q, W) + tile(load(scores, h * LANES, LANES), D) * mixed)

    @kernel
    def backward(Q, K, V, bias, gate, G, dQ, dK, dV, dbias, A, T):
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
                    inner = inner + tile(s, D) * load(G, q, W)  # the gradient of φ(m), but for g
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
                    ds = fold(load(G, q, W) * mixed + load(V, k, W) * inner, D)
                    if rms_head:
                        ds = ds + along * s
                    store(dQ, q, load(dQ, q, W) + tile(ds, D) * load(K, k, W))
                    store(dK, k, load(dK, k, W) + tile(ds, D) * load(Q, q, W))
                    store(dV, k, load(dV, k, W) + tile(s, D) * inner)
                    dbias[(h * A + i) * T + j] = total(ds)

    return forward, backward


def _softmax(H: int, D: int) -> tuple[Any, Any]:
    """Softmax attention: out = Σ_k gate p v, with p = exp(s - max) / sum."""
    W = D * LANES

    @kernel
    def forward(Q, K, V, bias, gate, Y, A, T):
        scores = np.empty(T * LANES, np.float32)
        for row in range(H * A):
            h, i = row // A, row % A
            q, top = load(Q, row * W, W), splat(f4(-np.inf), LANES)
            for j in range(T):
                s = fold(q * load(K, (h * T + j) * W, W), D) + splat(bias[row * T + j], LANES)
                store(scores, j * LANES, s)
                top = larger(s, top)
            sum_, out = splat(f4(0), LANES), splat(f4(0), W)
            for j in range(T):
                e = _exp(load(scores, j * LANES, LANES) - top)
                sum_ = sum_ + e
                out = out + tile(e * splat(gate[i * T + j], LANES), D) * load(V, (h * T + j) * W, W)
            store(Y, row * W, out * tile(splat(f4(1), LANES) / sum_, D))

    @kernel
    def backward(Q, K, V, bias, gate, G, dQ, dK, dV, dbias, A, T):
        scores, inner = np.empty(T * LANES, np.float32), np.empty(T * LANES, np.float32)
        for row in range(H * A):
            h, i = row // A, row % A
            q, g, top = load(Q, row * W, W), load(G, row * W, W), splat(f4(-np.inf), LANES)
            for j in range(T):
                s = fold(q * load(K, (h * T + j) * W, W), D) + splat(bias[row * T + j], LANES)
                store(scores, j * LANES, s)
                top = larger(s, top)
            sum_, along = splat(f4(0), LANES), splat(f4(0), LANES)
            for j in range(T):
                e = _exp(load(scores, j * LANES, LANES) - top)
                de = fold(g * load(V, (h * T + j) * W, W), D) * splat(gate[i * T + j], LANES)
                store(scores, j * LANES, e)
                store(inner, j * LANES, de)
                sum_, along = sum_ + e, along + e * de
            over, dq = splat(f4(1), LANES) / sum_, splat(f4(0), W)
            for j in range(T):
                k = (h * T + j) * W
                p = load(scores, j * LANES, LANES) * over
                ds = p * (load(inner, j * LANES, LANES) - along * over)
                dq = dq + tile(ds, D) * load(K, k, W)
                store(dK, k, load(dK, k, W) + tile(ds, D) * q)
                store(dV, k, load(dV, k, W) + tile(p * splat(gate[i * T + j], LANES), D) * g)
                dbias[row * T + j] = total(ds)
            store(dQ, row * W, dq)

    return forward, backward


def _work(block: Any, H: int, D: int, *, by_head: bool, backward: bool) -> Any:
    """Return what does the blocks of a job: of query, key, value, bias, gate and the output's gradient."""
    N, W, rows, results = H * D, D * LANES, 7 if backward else 4, 3 if backward else 1

    @kernel
    def move(array, lanes, first, tokens, inwards):
        of_token, of_head = (W, tokens * W) if by_head else (N * LANES, W)
        for t in range(tokens):
            for h in range(H):
                place, at = (first * tokens + t) * N + h * D, t * of_token + h * of_head
                if inwards:
                    store(lanes, at, load_lanes(array, place, tokens * N, D))
                else:
                    store_lanes(array, place, tokens * N, load(lanes, at, W))

    def work(job):
        B, A, T = sizes(job)
        given, found, tokens = words(job + 8 * ARGUMENTS, 6), words(job + 8 * RESULTS, 4), (A, T, T, A)
        bias, gate = floats(given[3], H * A * T), floats(given[4], A * T)
        # Query, key, value and output, or in its place its gradient and those of query, key and value.
        length = max(A, T) * N * LANES
        memory = np.zeros(rows * length + LANES, np.float32)
        start = -memory.ctypes.data % 64 // 4  # a vector is a line of the cache
        x = memory[start : start + rows * length].reshape(rows, length)
        n = next_block(job)
        while n >= 0:
            for at in range(4 if backward else 3):
                array = floats(given[at if at < 3 else 5], B * tokens[at] * N)
                move(array, x[at], n * LANES, tokens[at], True)
            x[rows - results :] = 0
            if backward:
                dbias = floats(found[3] + 4 * n * H * A * T, H * A * T)
                block(x[0], x[1], x[2], bias, gate, x[3], x[4], x[5], x[6], dbias, A, T)
            else:
                block(x[0], x[1], x[2], bias, gate, x[3], A, T)
            for at in range(results):
                array = floats(found[at], B * tokens[at] * N)
                move(array, x[rows - results + at], n * LANES, tokens[at], False)
            n = next_block(job)

    return work


@cache
def _target(normalise: Callable[..., Any], mix: Callable[..., Any], H: int, D: int, backward: bool) -> str:
    """Return what programs call a pass of an attention with H heads of width D, compiled now."""
    by_head = normalise is softmax
    passes = _softmax(H, D) if by_head else _hyla(H, D, rms_head=normalise is rms_head, relu=mix is hyla)
    name = f"sraven_{normalise.__name__}_{mix.__name__}_{H}_{D}_{'backward' if backward else 'forward'}"
    register(name, _work(passes[backward], H, D, by_head=by_head, backward=backward), LANES)
    return name


def attend_in_lanes(
    attention: Attention,
    query_BAHD: Array,
    key_BTHD: Array,
    value_BTHD: Array,
    bias_HAT: Array,
    gate_AT: Array,
) -> Array:
    """Return an attention's output ``[B, A, H, D]``; all arrays are float32.

    Args:
        attention: softmax attention, or HYLA with or without RMSHead and ReLU.
        query_BAHD: queries.
        key_BTHD: keys.
        value_BTHD: values.
        bias_HAT: added to the scores.
        gate_AT: what dropout multiplies the latent codes by.
    """
    B, _, _, D = query_BAHD.shape
    whole = [(0, -B % LANES), (0, 0), (0, 0), (0, 0)]
    arrays = (jnp.pad(array, whole) for array in (query_BAHD * D**-0.5, key_BTHD, value_BTHD))
    return _attend((attention.normalise, attention.mix), *arrays, bias_HAT, gate_AT)[:B]


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def _attend(parts: Parts, *arrays: Array) -> Array:
    return _forward(parts, *arrays)[0]


def _forward(parts: Parts, *arrays: Array) -> tuple[Array, tuple[Array, ...]]:
    target = _target(*parts, *arrays[0].shape[2:], backward=False)
    return jax.ffi.ffi_call(target, _like(arrays[0]), vmap_method="sequential")(*arrays), arrays


def _backward(parts: Parts, arrays: tuple[Array, ...], grad_BAHD: Array) -> tuple[Array, ...]:
    query_BAHD, _, _, bias_HAT, gate_AT = arrays
    target = _target(*parts, *query_BAHD.shape[2:], backward=True)
    biases = jax.ShapeDtypeStruct((len(query_BAHD) // LANES, *bias_HAT.shape), bias_HAT.dtype)
    call = jax.ffi.ffi_call(target, (*map(_like, arrays[:3]), biases), vmap_method="sequential")
    *grads, grad_biases = call(*arrays, grad_BAHD)
    return (*grads, grad_biases.sum(axis=0), jnp.zeros_like(gate_AT))


_attend.defvjp(_forward, _backward)


def _like(array: Array) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(array.shape, array.dtype)
