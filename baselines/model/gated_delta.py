"""Gated DeltaNet (Yang, Kautz and Hatamizadeh, ICLR 2025, arXiv 2412.06464), in both directions.

A head reads the sequence token by token. Its state S maps keys to values; a token lets it decay, takes out
what it holds for the token's key, and writes the token's value there,

    S[t] = S[t-1] α[t] (I − β[t] k[t] k[t]ᵀ) + β[t] v[t] k[t]ᵀ        S: [V, D], 0 at first
    out[t] = RMSNorm(S[t] q[t])                                      its scale shared by heads

    q, k = x̂ / √(Σ x̂² + 1e-6) of x̂ = SiLU(W x + b)        v = SiLU(W x + b)
    β = sigmoid(w x + b)        α = exp(−exp(A) · softplus(w x + dt))        a number of each head

Boards aren't causal: half of the heads read from the left, half from the right, an odd one from the left. The
recurrence encodes positions, without a table, whatever ``config.position`` is; and as pairs have no weights,
``config.attention_dropout`` drops nothing.

Other than published: no short convolutions; no output gate, with which the network would have 12 % more
parameters than the transformer on SRAVEN; values no wider than keys; biases as in the transformer's
projections; A = 0 at first, so that a state holds all of a board, while dt is drawn as published.

What is computed are chunks of L tokens. In one, with γ[t] = α[1] ⋯ α[t] from its start on,

    S[t] = γ[t] S[0] + Σ_{i ≤ t} γ[t] / γ[i] u[i] k[i]ᵀ
    u[t] + Σ_{i < t} β[t] γ[t] / γ[i] (k[t] · k[i]) u[i] = β[t] (v[t] − γ[t] S[0] k[t])

of which the second line is a triangular system for all u.
"""

import math
from typing import ClassVar

import jax
import jax.numpy as jnp
from flax import linen as nn

from baselines.model.products import accumulator
from baselines.model.self_attention import SelfAttention
from sraven.core.errors import ConfigurationError

Array = jax.Array

CHUNK = 64
"""Tokens of a chunk at most."""


def gated_delta_rule(
    query_BTHD: Array,
    key_BTHD: Array,
    value_BTHV: Array,
    decay_BTH: Array,
    rate_BTH: Array,
    *,
    chunk: int = CHUNK,
) -> Array:
    """Return S[t] q[t] of all tokens, ``[B, T, H, V]``.

    Args:
        query_BTHD: q.
        key_BTHD: k, none longer than 1.
        value_BTHV: v.
        decay_BTH: log α, at most 0.
        rate_BTH: β, from 0 to 1.
        chunk: tokens of a chunk at most.
    """
    B, T, H, D = query_BTHD.shape
    L = min(chunk, T)
    seen_LL = jnp.tri(L, dtype=bool)

    def split(x_BTH: Array) -> Array:
        """Return ``[S, B, H, L, ...]``; tokens of 0, which change no state, fill the last chunk."""
        padded_BTH = jnp.pad(x_BTH, ((0, 0), (0, -T % L), *((0, 0),) * (x_BTH.ndim - 2)))
        return jnp.moveaxis(padded_BTH.reshape(B, -1, L, *x_BTH.shape[2:]), (1, 3), (0, 2))

    def read(state_BHDV: Array, chunk: tuple[Array, ...]) -> tuple[Array, Array]:
        """Return the state after a chunk, and its outputs ``[B, H, L, V]``."""
        query_BHLD, key_BHLD, value_BHLV, decay_BHL, rate_BHL = chunk
        total_BHL = decay_BHL.cumsum(axis=-1)
        between_BHLL = jnp.where(seen_LL, total_BHL[..., :, None] - total_BHL[..., None, :], -jnp.inf)
        left_BHLL, left_BHL1 = jnp.exp(between_BHLL), jnp.exp(total_BHL)[..., None]
        wanted_BHLV = rate_BHL[..., None] * (value_BHLV - left_BHL1 * (key_BHLD @ state_BHDV))
        # The solver takes what is below the diagonal alone, and 1 on it.
        system_BHLL = rate_BHL[..., None] * left_BHLL * (key_BHLD @ key_BHLD.mT)
        written_BHLV = jax.lax.linalg.triangular_solve(
            system_BHLL, wanted_BHLV, left_side=True, lower=True, unit_diagonal=True
        )
        out_BHLV = left_BHL1 * (query_BHLD @ state_BHDV)
        out_BHLV += (left_BHLL * (query_BHLD @ key_BHLD.mT)) @ written_BHLV
        kept_BHLD = left_BHLL[..., -1, :, None] * key_BHLD
        return left_BHL1[..., -1:, :] * state_BHDV + kept_BHLD.mT @ written_BHLV, out_BHLV

    start_BHDV = jnp.zeros((B, H, D, value_BTHV.shape[-1]), value_BTHV.dtype)
    parts = tuple(map(split, (query_BTHD, key_BTHD, value_BTHV, decay_BTH, rate_BTH)))
    _, out_SBHLV = jax.lax.scan(read, start_BHDV, parts)
    return jnp.moveaxis(out_SBHLV, (0, 2), (1, 3)).reshape(B, -1, H, value_BTHV.shape[-1])[:, :T]


def turn(x_BTH: Array) -> Array:
    """Return an array ``[B, T, H, ...]`` in which the heads from the right see the last token first."""
    from_left = (x_BTH.shape[2] + 1) // 2
    return jnp.concatenate([x_BTH[:, :, :from_left], x_BTH[:, ::-1, from_left:]], axis=2)


def unit(x_BTHD: Array) -> Array:
    """Return vectors of length 1, or less where they were nearly 0."""
    return x_BTHD * jax.lax.rsqrt(jnp.square(x_BTHD).sum(axis=-1, keepdims=True) + 1e-6)


def draw_dt(key: Array, shape: tuple[int, ...], dtype: jnp.dtype = jnp.float32) -> Array:
    """Draw dt such that the logarithm of softplus(dt) is uniform, from 0.001 to 0.1."""
    step = jnp.exp(jax.random.uniform(key, shape, dtype, math.log(0.001), math.log(0.1)))
    return jnp.log(jnp.expm1(step))


class GatedDeltaAttention(SelfAttention):
    """Gated DeltaNet in place of attention."""

    has_codes: ClassVar[bool] = False

    @nn.compact
    def __call__(self, x_BTE: Array, dropout_key: Array | None) -> tuple[Array, None]:
        """Return ``[B, A, E]``, and None: there are no latent codes."""
        if self.return_codes:
            raise ConfigurationError("attention='gated_delta' has no latent codes to return")
        config, dtype = self.config, jnp.dtype(self.config.dtype)
        wide, heads, dense = accumulator(dtype), (config.heads, config.head_width), config.dense
        query, key, value = (
            nn.silu(dense(heads, name=name)(x_BTE).astype(wide)) for name in ("query", "key", "value")
        )
        rate_BTH = nn.sigmoid(dense(config.heads, name="rate")(x_BTE).astype(wide))
        step_BTH = nn.softplus(dense(config.heads, name="step", bias_init=draw_dt)(x_BTE).astype(wide))
        # A is called as LayerNorm's, so that it doesn't decay, as published; nor does dt, a bias.
        pace_H = jnp.exp(self.param("scale", nn.initializers.zeros_init(), (config.heads,)).astype(wide))
        parts = unit(query), unit(key), value, -pace_H * step_BTH, rate_BTH
        out_BTHV = turn(gated_delta_rule(*map(turn, parts)))[:, -(self.num_outputs or 0) :]
        # All in one type, as none is promoted unasked.
        norm = nn.RMSNorm(1e-5, wide, wide, force_float32_reductions=False, name="norm")
        return dense(x_BTE.shape[-1], axis=(-2, -1), name="out")(norm(out_BTHV).astype(dtype)), None
