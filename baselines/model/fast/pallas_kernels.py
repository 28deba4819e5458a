"""The fused HYLA kernels, as a program runs them on a tile; `baselines.model.fast.pallas` calls them.

A program holds one tile of queries, or of keys, and goes over the tiles of the other that it sees, or holds
a tile of pairs and goes over the batch. Scores, RMSHead over heads and the value network of a pair are made
in registers. Sums over queries, keys and the batch are programs of their own, so nothing is added up
atomically, and results repeat.

Query and key are multiplied as tiles of each head. What the heads mix is multiplied value by value, in
float32, for `VALUES` numbers at a time. Lists are over heads; arguments that end in no axes are references.
"""

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

from baselines.model.attention import EPSILON
from baselines.model.products import Activation

Array = jax.Array

VALUES = 16
"""Numbers of a value that are mixed at a time: more would not fit into the registers."""


class KernelPlan(NamedTuple):
    """What is known before any array is.

    Attributes:
        activation: φ.
        normalise: whether RMSHead is applied.
        causal: whether query q sees keys 0 to q only.
        keys: K, before padding.
        tile: positions of a tile.
        interpret: whether JAX computes the kernels itself, as tests do.
    """

    activation: Activation
    normalise: bool
    causal: bool
    keys: int
    tile: int
    interpret: bool


# A tile of pairs, in registers ----------------------------------------------------------------------


class TileCodes(NamedTuple):
    """Latent codes of a tile: scores times a factor that the heads share.

    Attributes:
        scores: ``[Q, K]`` for each head, 0 where a query doesn't see a key.
        seen: bool ``[Q, K]``, or None if all is.
        rms: RMSHead's factor ``[Q, K]``, or None.
        scale: `rms` times dropout's, or None for 1.
    """

    scores: list[Array]
    seen: Array | None
    rms: Array | None
    scale: Array | None


Heads = Sequence[Array]


def _dot(left: Array, right: Array, contract: tuple[int, int]) -> Array:
    """Return a product of matrices in float32, exact for float32."""
    numbers = (((contract[0],), (contract[1],)), ((), ()))
    return jax.lax.dot_general(left, right, numbers, precision="highest", preferred_element_type=jnp.float32)


def _codes(
    plan: KernelPlan, i: Any, j: Any, query: Heads, key: Heads, bias: Any, gate: Any, at: tuple[Any, Any]
) -> TileCodes:
    """Return the latent codes of query tile i and key tile j; ``at`` is where bias and gate have theirs."""
    shape = plan.tile, plan.tile
    k_QK = j * plan.tile + jax.lax.broadcasted_iota(jnp.int32, shape, 1)
    seen = k_QK < plan.keys if plan.keys % plan.tile else None
    if plan.causal:
        earlier = k_QK <= i * plan.tile + jax.lax.broadcasted_iota(jnp.int32, shape, 0)
        seen = earlier if seen is None else seen & earlier
    scores = []
    for h, (query_QD, key_KD) in enumerate(zip(query, key, strict=True)):
        score_QK = _dot(query_QD, key_KD, (1, 1)) * query_QD.shape[-1] ** -0.5
        if bias is not None:
            score_QK = score_QK + bias[(h, *at)].astype(jnp.float32)
        scores.append(score_QK if seen is None else jnp.where(seen, score_QK, 0.0))
    rms = None
    if plan.normalise:
        rms = jax.lax.rsqrt(sum(score * score for score in scores) / len(scores) + EPSILON)
    gate_QK = None if gate is None else gate[at]
    scale = gate_QK if rms is None else rms if gate_QK is None else rms * gate_QK
    return TileCodes(scores, seen, rms, scale)


def _scaled(codes: TileCodes, x_QKV: Array) -> Array:
    return x_QKV if codes.scale is None else codes.scale[:, :, None] * x_QKV


def _over_heads(scores: Heads, factor: Heads, along: str) -> Array:
    """Return Σ_h a[h,q,k] x[h,·,v] as ``[Q, K, V]``; x lies along q or along k."""
    terms = (
        score[:, :, None] * (x[:, None] if along == "q" else x[None])
        for score, x in zip(scores, factor, strict=True)
    )
    return reduce(add, terms)


def _gradients(
    plan: KernelPlan, codes: TileCodes, value: Sequence[Heads], grad: Sequence[Heads]
) -> tuple[Heads, list[Array]]:
    """Return the gradient of the scores, for each head, and of what heads mix, by slices of V.

    Args:
        plan: as everywhere.
        codes: of the tile.
        value: slices of the values of each head, ``[K, V]``, float32.
        grad: slices of the output's gradient, ``[Q, V]``, float32.
    """
    total = [jnp.zeros_like(score) for score in codes.scores]
    grad_scale = jnp.zeros_like(codes.scores[0])
    all_before = []
    for value_part, grad_part in zip(value, grad, strict=True):
        mixed = _over_heads(codes.scores, value_part, "k")
        hidden, derivative = jax.vjp(plan.activation, _scaled(codes, mixed))
        after = _over_heads(codes.scores, grad_part, "q")
        (before,) = derivative(_scaled(codes, after))
        if plan.normalise:
            grad_scale = grad_scale + (before * mixed + hidden * after).sum(axis=2)
        before, hidden = _scaled(codes, before), _scaled(codes, hidden)
        for h, (value_KV, grad_QV) in enumerate(zip(value_part, grad_part, strict=True)):
            total[h] = total[h] + (before * value_KV[None] + hidden * grad_QV[:, None]).sum(axis=2)
        all_before.append(before)
    if codes.rms is not None and codes.scale is not None:
        # d rms / d a_h = -rms³ a_h / H, and dropout's factor rms² · scale in place of rms³.
        factor = grad_scale * codes.rms * codes.rms * codes.scale / len(total)
        total = [one - factor * score for one, score in zip(total, codes.scores, strict=True)]
    if codes.seen is not None:
        total = [jnp.where(codes.seen, one, 0.0) for one in total]
    return total, all_before


# Kernels --------------------------------------------------------------------------------------------


def _heads(ref: Any, at: Any = slice(None), of: tuple[Any, ...] = ()) -> list[Array]:
    """Read the heads of an array ``[T, H, D]`` at some positions, or of one of several such arrays."""
    return [ref[(*of, at, h, slice(None))] for h in range(ref.shape[-2])]


def _slices(ref: Any, at: Any = slice(None), of: tuple[Any, ...] = ()) -> list[list[Array]]:
    """Read the heads likewise, in float32, `VALUES` numbers at a time: a list of lists of ``[T, VALUES]``."""
    H, V = ref.shape[-2:]
    cuts = [pl.ds(v, min(VALUES, V - v)) for v in range(0, V, VALUES)]
    return [[ref[(*of, at, h, cut)].astype(jnp.float32) for h in range(H)] for cut in cuts]


def forward_kernel(
    plan: KernelPlan, seen: Any, query: Any, key: Any, value: Any, bias: Any, gate: Any, out: Any
) -> None:
    """Write the output of a tile of queries."""
    i, every = pl.program_id(1), slice(None)
    query_tile = _heads(query)

    def add(j: Any, total: list[list[Array]]) -> list[list[Array]]:
        at = pl.ds(j * plan.tile, plan.tile)
        codes = _codes(plan, i, j, query_tile, _heads(key, at), bias, gate, (every, at))
        sums = []
        for part, part_total in zip(_slices(value, at), total, strict=True):
            hidden = _scaled(codes, plan.activation(_scaled(codes, _over_heads(codes.scores, part, "k"))))
            pairs = zip(part_total, codes.scores, strict=True)
            sums.append([one + (score[:, :, None] * hidden).sum(axis=1) for one, score in pairs])
        return sums

    zeros = _zeros(plan, value)
    total = jax.lax.fori_loop(seen[i, 0], seen[i, 1], add, zeros)
    _write_slices(out, total)


def _zeros(plan: KernelPlan, ref: Any) -> list[list[Array]]:
    """Return zeros as `_slices` returns a tile of an array."""
    _, H, V = ref.shape
    widths = [min(VALUES, V - v) for v in range(0, V, VALUES)]
    return [[jnp.zeros((plan.tile, width), jnp.float32) for _ in range(H)] for width in widths]


def _write_slices(ref: Any, total: list[list[Array]]) -> None:
    for at, part in enumerate(total):
        for h, one in enumerate(part):
            ref[:, h, pl.ds(at * VALUES, one.shape[1])] = one.astype(ref.dtype)


def query_kernel(
    plan: KernelPlan, seen: Any, query: Any, key: Any, value: Any, bias: Any, gate: Any, grad: Any, out: Any
) -> None:
    """Write the gradient of a tile of queries."""
    i, every = pl.program_id(1), slice(None)
    query_tile, grad_tile = _heads(query), _slices(grad)

    def add(j: Any, total: list[Array]) -> list[Array]:
        at = pl.ds(j * plan.tile, plan.tile)
        keys = _heads(key, at)
        codes = _codes(plan, i, j, query_tile, keys, bias, gate, (every, at))
        scores, _ = _gradients(plan, codes, _slices(value, at), grad_tile)
        triples = zip(total, scores, keys, strict=True)
        return [one + _dot(score.astype(key_KD.dtype), key_KD, (1, 0)) for one, score, key_KD in triples]

    zeros = [jnp.zeros(query_QD.shape, jnp.float32) for query_QD in query_tile]
    total = jax.lax.fori_loop(seen[i, 0], seen[i, 1], add, zeros)
    for h, one in enumerate(total):
        out[:, h, :] = (one * one.shape[1] ** -0.5).astype(out.dtype)


def key_kernel(
    plan: KernelPlan,
    seen: Any,
    query: Any,
    key: Any,
    value: Any,
    bias: Any,
    gate: Any,
    grad: Any,
    out_key: Any,
    out: Any,
) -> None:
    """Write the gradients of a tile of keys and values."""
    j, every = pl.program_id(1), slice(None)
    keys, values = _heads(key), _slices(value)

    def add(i: Any, totals: tuple[list[Array], list[list[Array]]]) -> tuple[list[Array], list[list[Array]]]:
        at = pl.ds(i * plan.tile, plan.tile)
        query_tile = _heads(query, at)
        codes = _codes(plan, i, j, query_tile, keys, bias, gate, (at, every))
        scores, all_before = _gradients(plan, codes, values, _slices(grad, at))
        triples = zip(totals[0], scores, query_tile, strict=True)
        total_key = [one + _dot(score.astype(part.dtype), part, (0, 0)) for one, score, part in triples]
        total_value = [
            [
                one + (score[:, :, None] * before).sum(axis=0)
                for one, score in zip(part, codes.scores, strict=True)
            ]
            for part, before in zip(totals[1], all_before, strict=True)
        ]
        return total_key, total_value

    zeros = [jnp.zeros(key_KD.shape, jnp.float32) for key_KD in keys], _zeros(plan, value)
    total_key, total_value = jax.lax.fori_loop(seen[j, 0], seen[j, 1], add, zeros)
    for h, one in enumerate(total_key):
        out_key[:, h, :] = (one * one.shape[1] ** -0.5).astype(out_key.dtype)
    _write_slices(out, total_value)


def bias_kernel(
    plan: KernelPlan, query: Any, key: Any, value: Any, bias: Any, gate: Any, grad: Any, out: Any
) -> None:
    """Write the gradient of a tile of the bias, summed over the batch."""
    i, j, every = pl.program_id(0), pl.program_id(1), slice(None)

    def add(b: Any, total: list[Array]) -> list[Array]:
        query_tile, keys = _heads(query, every, (b,)), _heads(key, every, (b,))
        codes = _codes(plan, i, j, query_tile, keys, bias, gate, (every, every))
        scores, _ = _gradients(plan, codes, _slices(value, every, (b,)), _slices(grad, every, (b,)))
        return [left + right for left, right in zip(total, scores, strict=True)]

    zeros = [jnp.zeros((plan.tile, plan.tile), jnp.float32) for _ in range(query.shape[2])]
    for h, one in enumerate(jax.lax.fori_loop(0, query.shape[0], add, zeros)):
        out[h, :, :] = one.astype(out.dtype)
