"""Normalisations of attention scores, which make latent codes of them (paper, section 2)."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

Array = jax.Array

EPSILON = 1e-6
"""What RMSHead adds to the mean square."""


class Codes(NamedTuple):
    """Latent codes: scores, times a factor that the heads share.

    RMSHead is such a factor and so is dropout; a value network may apply it to what it sums.

    Attributes:
        scores: float32 or better ``[B, H, Q, K]``, 0 where masked.
        scale: ``[B, Q, K]`` of the same type.
    """

    scores: Array
    scale: Array

    def product(self) -> Array:
        """Return the latent codes themselves, ``[B, H, Q, K]``."""
        return self.scores * self.scale[:, None]


def _mask_scores(scores_BHQK: Array, mask: Array | None) -> Array:
    return scores_BHQK if mask is None else jnp.where(mask, scores_BHQK, 0)


def as_they_are(scores_BHQK: Array, mask: Array | None) -> Codes:
    """Scores as they are, 0 where masked."""
    B, _, Q, K = scores_BHQK.shape
    return Codes(_mask_scores(scores_BHQK, mask), jnp.ones((B, Q, K), scores_BHQK.dtype))


def rms_head(scores_BHQK: Array, mask: Array | None) -> Codes:
    """RMSHead: a / √(mean of a² over heads + 1e-6), without a learnt scale."""
    scores_BHQK = _mask_scores(scores_BHQK, mask)
    return Codes(scores_BHQK, jax.lax.rsqrt(jnp.square(scores_BHQK).mean(axis=1) + EPSILON))


def softmax(scores_BHQK: Array, mask: Array | None) -> Codes:
    """Softmax over keys. Masked keys get 0, and all keys of a query that may see none."""
    if mask is None:
        return as_they_are(_over_keys(scores_BHQK), None)
    sees_any = mask.any(axis=-1, keepdims=True)
    # A row of -inf alone would be NaN, in its gradient too: rows without keys become rows of 0 first.
    fill = jnp.where(sees_any, -jnp.inf, 0).astype(scores_BHQK.dtype)
    weights_BHQK = _over_keys(jnp.where(mask, scores_BHQK, fill))
    return as_they_are(weights_BHQK, sees_any)


@jax.custom_vjp
def _over_keys(scores_BHQK: Array) -> Array:
    """Return the softmax; its gradient is written out, as the compiler's own takes more passes."""
    exponential_BHQK = jnp.exp(scores_BHQK - scores_BHQK.max(axis=-1, keepdims=True))
    return exponential_BHQK / exponential_BHQK.sum(axis=-1, keepdims=True)


def _over_keys_forward(scores_BHQK: Array) -> tuple[Array, Array]:
    weights_BHQK = _over_keys(scores_BHQK)
    return weights_BHQK, weights_BHQK


def _over_keys_backward(weights_BHQK: Array, grad_BHQK: Array) -> tuple[Array]:
    return (weights_BHQK * (grad_BHQK - (weights_BHQK * grad_BHQK).sum(axis=-1, keepdims=True)),)


_over_keys.defvjp(_over_keys_forward, _over_keys_backward)


def rms_head_softmax(scores_BHQK: Array, mask: Array | None) -> Codes:
    """RMSHead, then softmax: how we read "HYLA + softmax" of Table A1."""
    return softmax(rms_head(scores_BHQK, mask).product(), mask)
