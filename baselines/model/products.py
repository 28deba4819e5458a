"""The sums of attention, with the gradients of the costly ones written out.

`baselines.model.attention.figure_a1` is what HYLA is; this file is how its sums, and those of the other
attentions, are made fast. What the compiler makes of an einsum and its derivative spends most of its time
copying ``[B, H, Q, K]`` arrays into the order that its matrix product likes, and, on a CPU, adding them up
over the batch. So products here are written in that order, the small factor is the one that is
transposed, and sums over a few heads or a narrow value are written as sums of slices, which fuse
into one pass. Before and after a change here, run ``tests/speed/training.py steps``.

Everything accumulates in float32 or better. Gradients are by reverse mode only.
"""

from collections.abc import Callable
from functools import partial, reduce
from operator import add
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.typing import DTypeLike

Array = jax.Array
Activation = Callable[[Array], Array]

NARROW = 4
"""Values up to this width are mixed by sums of slices; beyond, matrix products are as fast."""


def accumulator(dtype: DTypeLike) -> jnp.dtype:
    """Return the type in which products of a type are added up: float32, or float64 of itself."""
    return jnp.dtype(dtype if jnp.dtype(dtype).itemsize >= 4 else jnp.float32)


def multiply(product: Callable[..., Array], left: Array, right: Array, dtype: DTypeLike) -> Array:
    """Return the product of two arrays of a type, added up in its accumulator.

    Args:
        product: takes both and ``preferred_element_type``, as ``jnp.matmul`` does.
        left: first factor, cast to the type.
        right: second factor, cast to the type.
        dtype: what is multiplied.
    """
    wide = accumulator(dtype)
    left, right = left.astype(dtype), right.astype(dtype)
    if wide == dtype:
        return product(left, right)

    def multiply_wide(left: Array, right: Array) -> Array:
        return product(left.astype(wide), right.astype(wide))

    # Not all products of bfloat16 into float32 exist on the CPU.
    add_wide = partial(product, preferred_element_type=wide)
    return jax.lax.platform_dependent(left, right, cpu=multiply_wide, default=add_wide)


matmul = partial(multiply, jnp.matmul)
"""`multiply` by ``jnp.matmul``."""


def keep_arguments(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the forward pass of a `jax.custom_vjp` whose gradient needs the arguments alone."""
    return lambda *arguments: (function(*arguments), arguments)


def _einsum(subscripts: str) -> Callable[..., Array]:
    return partial(multiply, partial(jnp.einsum, subscripts))


def _sum_of_products(left: Array, right: Array, axis: int) -> Array:
    """Return the sum of ``left * right`` over an axis: terms that fuse, where ``jnp.sum`` wouldn't."""
    slices = (
        jax.lax.index_in_dim(left, at, axis, keepdims=False)
        * jax.lax.index_in_dim(right, at, axis, keepdims=False)
        for at in range(left.shape[axis])
    )
    return reduce(add, slices)


# Scores ---------------------------------------------------------------------------------------------


@jax.custom_vjp
def dot_scores(query_BQHD: Array, key_BKHD: Array) -> Array:
    """Return query · key for all pairs of positions: ``[B, H, Q, K]``, float32 or better."""
    return matmul(query_BQHD.transpose(0, 2, 1, 3), key_BKHD.transpose(0, 2, 3, 1), query_BQHD.dtype)


def _dot_scores_backward(saved: tuple[Array, Array], grad_BHQK: Array) -> tuple[Array, Array]:
    query_BQHD, key_BKHD = saved
    dtype = query_BQHD.dtype
    grad_BHQD = matmul(grad_BHQK, key_BKHD.transpose(0, 2, 1, 3), dtype)
    grad_BHDK = matmul(query_BQHD.transpose(0, 2, 3, 1), grad_BHQK, dtype)
    return grad_BHQD.transpose(0, 2, 1, 3).astype(dtype), grad_BHDK.transpose(0, 3, 1, 2).astype(dtype)


dot_scores.defvjp(keep_arguments(dot_scores), _dot_scores_backward)


@jax.custom_vjp
def add_bias(scores_BHQK: Array, bias_HQK: Array) -> Array:
    """Return scores plus a bias that the batch shares."""
    return scores_BHQK + bias_HQK


def _add_bias_backward(_: Any, grad_BHQK: Array) -> tuple[Array, Array]:
    # A sum over the leading axis takes 20 times as long as the same sum as a product with ones.
    ones_B = jnp.ones(grad_BHQK.shape[0], grad_BHQK.dtype)
    return grad_BHQK, jnp.tensordot(ones_B, grad_BHQK, 1, precision="highest")


add_bias.defvjp(keep_arguments(add_bias), _add_bias_backward)


# Softmax --------------------------------------------------------------------------------------------


@jax.custom_vjp
def softmax_over_keys(scores_BHQK: Array) -> Array:
    """Return the softmax over keys."""
    exponential_BHQK = jnp.exp(scores_BHQK - scores_BHQK.max(axis=-1, keepdims=True))
    return exponential_BHQK / exponential_BHQK.sum(axis=-1, keepdims=True)


def _softmax_forward(scores_BHQK: Array) -> tuple[Array, Array]:
    weights_BHQK = softmax_over_keys(scores_BHQK)
    return weights_BHQK, weights_BHQK


def _softmax_backward(weights_BHQK: Array, grad_BHQK: Array) -> tuple[Array]:
    return (weights_BHQK * (grad_BHQK - (weights_BHQK * grad_BHQK).sum(axis=-1, keepdims=True)),)


softmax_over_keys.defvjp(_softmax_forward, _softmax_backward)


# Weighted sum ---------------------------------------------------------------------------------------


@jax.custom_vjp
def mix_values(scores_BHQK: Array, value_BKHV: Array) -> Array:
    """Return Σ_k a[h,q,k] v[k,h,·] for each head: ``[B, Q, H, V]``, float32 or better."""
    value_BHKV = value_BKHV.transpose(0, 2, 1, 3)
    return matmul(scores_BHQK, value_BHKV, value_BKHV.dtype).transpose(0, 2, 1, 3)


def _mix_values_backward(saved: tuple[Array, Array], grad_BQHV: Array) -> tuple[Array, Array]:
    scores_BHQK, value_BKHV = saved
    dtype = value_BKHV.dtype
    grad_BHQK = matmul(grad_BQHV.transpose(0, 2, 1, 3), value_BKHV.transpose(0, 2, 3, 1), dtype)
    grad_BHVK = matmul(grad_BQHV.transpose(0, 2, 3, 1), scores_BHQK, dtype)
    return grad_BHQK, grad_BHVK.transpose(0, 3, 1, 2).astype(dtype)


mix_values.defvjp(keep_arguments(mix_values), _mix_values_backward)


# HYLA -----------------------------------------------------------------------------------------------
#
# Its inner arrays have the axes Q, K and V. For narrow values V comes first, so that sums of slices
# run along keys; for wide ones last, so that products and copies move rows of V.


class Sums(NamedTuple):
    """The four sums of HYLA and its gradient, for one place of the axis V in inner arrays z.

    Attributes:
        axis: of V in z.
        over_heads: Σ_h a[h,q,k] x[·,h,v] as z; x lies along "q" or along "k".
        over_values: Σ_v z[q,k,v] x[·,h,v] as ``[B, H, Q, K]``; x as before.
        over_keys: Σ_k a[h,q,k] z[q,k,v] as ``[B, Q, H, V]``, multiplied in the type given.
        over_queries: Σ_q a[h,q,k] z[q,k,v] as ``[B, K, H, V]``, likewise.
    """

    axis: int
    over_heads: Callable[[Array, Array, str], Array]
    over_values: Callable[[Array, Array, str], Array]
    over_keys: Callable[[Array, Array, DTypeLike], Array]
    over_queries: Callable[[Array, Array, DTypeLike], Array]


def _narrow_over_heads(scores_BHQK: Array, factor_BTHV: Array, along: str) -> Array:
    def by_slices(scores_BHQK: Array, factor_BTHV: Array) -> Array:
        factor_VBHT = factor_BTHV.transpose(3, 0, 2, 1).astype(scores_BHQK.dtype)
        # The loop over v keeps the compiler from computing this sum again at each of its uses.
        total_VBQK: Array = jax.lax.map(
            lambda factor_BHT: _sum_of_products(
                scores_BHQK, jnp.expand_dims(factor_BHT, 3 if along == "q" else 2), 1
            ),
            factor_VBHT,
        )
        return total_VBQK.transpose(1, 0, 2, 3)

    by_products = partial(_einsum(f"bhqk,b{along}hv->bvqk"), dtype=factor_BTHV.dtype)
    return jax.lax.platform_dependent(scores_BHQK, factor_BTHV, cpu=by_slices, default=by_products)


def _narrow_over_values(inner_BVQK: Array, factor_BTHV: Array, along: str) -> Array:
    factor_BHVT = factor_BTHV.transpose(0, 2, 3, 1).astype(inner_BVQK.dtype)
    return _sum_of_products(inner_BVQK[:, None], jnp.expand_dims(factor_BHVT, 4 if along == "q" else 3), 2)


def _narrow_over_keys(scores_BHQK: Array, inner_BVQK: Array, dtype: DTypeLike) -> Array:
    return matmul(scores_BHQK.transpose(0, 2, 1, 3), inner_BVQK.transpose(0, 2, 3, 1), dtype)


_NARROW = Sums(1, _narrow_over_heads, _narrow_over_values, _narrow_over_keys, _einsum("bhqk,bvqk->bkhv"))

_WIDE = Sums(
    3,
    lambda scores, factor, along: _einsum(f"bhqk,b{along}hv->bqkv")(scores, factor, factor.dtype),
    lambda inner, factor, along: _einsum(f"bqkv,b{along}hv->bhqk")(inner, factor, factor.dtype),
    _einsum("bhqk,bqkv->bqhv"),
    _einsum("bhqk,bqkv->bkhv"),
)


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def mix_hyla(activation: Activation, scores_BHQK: Array, scale_BQK: Array, value_BKHV: Array) -> Array:
    """Mix values as HYLA does (paper, Eq. 6), with latent codes a = scores · scale.

    The value network of a pair, z[q,k,·] = φ(Σ_h a[h,q,k] v[k,h,·]), then the sum over keys
    out[q,h,·] = Σ_k a[h,q,k] z[q,k,·].

    Args:
        activation: φ, elementwise.
        scores_BHQK: float32 or better, 0 where masked.
        scale_BQK: what normalisation and dropout multiply the scores of a pair by; same type.
        value_BKHV: any floating type.

    Returns:
        ``[B, Q, H, V]`` of the type of the scores.
    """
    return _mix_hyla_forward(activation, scores_BHQK, scale_BQK, value_BKHV)[0]


def _mix_hyla_forward(
    activation: Activation, scores_BHQK: Array, scale_BQK: Array, value_BKHV: Array
) -> tuple[Array, tuple[Array, ...]]:
    sums = _NARROW if value_BKHV.shape[-1] <= NARROW else _WIDE
    scale = jnp.expand_dims(scale_BQK, sums.axis)
    mixed = sums.over_heads(scores_BHQK, value_BKHV, "k")
    hidden = activation(scale * mixed)
    out_BQHV = sums.over_keys(scores_BHQK, scale * hidden, value_BKHV.dtype)
    return out_BQHV, (scores_BHQK, scale_BQK, value_BKHV, mixed)


def _mix_hyla_backward(
    activation: Activation, saved: tuple[Array, ...], grad_BQHV: Array
) -> tuple[Array, Array, Array]:
    scores_BHQK, scale_BQK, value_BKHV, mixed = saved
    sums = _NARROW if value_BKHV.shape[-1] <= NARROW else _WIDE
    scale = jnp.expand_dims(scale_BQK, sums.axis)
    hidden, derivative = jax.vjp(activation, scale * mixed)
    # Gradients after and before φ, but for the scale of the second and of the first mix.
    after = sums.over_heads(scores_BHQK, grad_BQHV.astype(value_BKHV.dtype), "q")
    (before,) = derivative(scale * after)
    grad_scores_BHQK = sums.over_values(scale * before, value_BKHV, "k")
    grad_scores_BHQK += sums.over_values(scale * hidden, grad_BQHV.astype(value_BKHV.dtype), "q")
    grad_scale_BQK = (before * mixed + hidden * after).sum(axis=sums.axis)
    grad_BKHV = sums.over_queries(scores_BHQK, scale * before, value_BKHV.dtype)
    return grad_scores_BHQK, grad_scale_BQK, grad_BKHV.astype(value_BKHV.dtype)


mix_hyla.defvjp(_mix_hyla_forward, _mix_hyla_backward)
