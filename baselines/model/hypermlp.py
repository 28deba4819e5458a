"""HyperMLP (Lu and Yang 2026, arXiv 2602.12601): an attention head as an MLP whose weights the context makes.

A head's hidden layer are its scores, one for each token that it sees. They are mixed along the sequence
before the nonlinearity and after it, where softmax attention has a softmax,

    s[q,k] = (query[q] ⊙ σ(W x[q] + b)) · key[k] + relative bias
    h[q]   = ReLU(L2(mix₁(s[q])))                     L2(s) = s / √(Σ_k s² + 1e-6)
    a[q]   = mix₂(h[q])
    out[q] = σ(W x[q] + b) ⊙ Σ_k a[q,k] value[k]
    mix(s) = s ⊙ (1 + d) + V (c[q] ⊙ (Uᵀ s))          c[q] = σ(W x[q] + b)

of which each head has its own d ``[T]``, U and V ``[T, R]``. Their rows belong to lags, how far a key is from
its query. As published, queries and keys have a quarter of the values' width, which pays for the gates.

Other than published: boards aren't causal, so lags count modulo T, and a later key has one, too; no
convolution before keys and values; biases as in the transformer's projections; and, whatever
``config.position`` is, the other attentions' relative bias, without which the scores of an empty token would
all be 0 at first; R = 4 for some 30 tokens, where the published code has 16 for thousands.
"""

import jax
import jax.numpy as jnp
from flax import linen as nn

from baselines.model.attention import EPSILON
from baselines.model.products import accumulator, add_bias, dot_scores, mix_values
from baselines.model.self_attention import SelfAttention

Array = jax.Array

RANK = 4
"""R: of what is mixed along the sequence besides each lag with itself."""


def mix_lags(
    scores_BHQK: Array, scale_HQK: Array, read_HQKR: Array, write_HQKR: Array, gate_BHQR: Array
) -> Array:
    """Return s ⊙ (1 + d) + V (c ⊙ (Uᵀ s)) along the keys of each query, an array like the scores.

    Args:
        scores_BHQK: s.
        scale_HQK: d, by the lag of each pair.
        read_HQKR: U.
        write_HQKR: V.
        gate_BHQR: c.
    """
    read_BHQR = jnp.einsum("bhqk,hqkr->bhqr", scores_BHQK, read_HQKR) * gate_BHQR
    return scores_BHQK * (1 + scale_HQK) + jnp.einsum("bhqr,hqkr->bhqk", read_BHQR, write_HQKR)


class HyperMLPAttention(SelfAttention):
    """HyperMLP in place of `SelfAttention`: H heads, values of its width."""

    @nn.compact
    def __call__(self, x_BTE: Array, dropout_key: Array | None) -> tuple[Array, Array | None]:
        """Return ``[B, A, E]``, and a of all heads ``[B, H, A, T]``: None unless returned."""
        config, (_, T, E) = self.config, x_BTE.shape
        dtype, wide = jnp.dtype(config.dtype), accumulator(jnp.dtype(config.dtype))
        H, V, dense, A = config.heads, config.head_width, config.dense, self.num_outputs or T
        of_query, D = x_BTE[:, -A:], max(1, V // 4)
        lag_AT = (jnp.arange(T - A, T)[:, None] - jnp.arange(T)) % T

        def gate(width: int, name: str) -> Array:
            return nn.sigmoid(dense((H, width), name=name)(of_query))

        def mix(scores_BHAT: Array, name: str) -> Array:
            init = nn.initializers.normal(0.02)
            # d decays with the other weights, towards scores as they come.
            scale_HT = self.param(f"{name}_scale", nn.initializers.zeros_init(), (H, config.length))
            read, write = (
                self.param(f"{name}_{end}", init, (H, config.length, RANK)) for end in ("read", "write")
            )
            scale, read, write = (table[:, lag_AT].astype(wide) for table in (scale_HT, read, write))
            gate_BHAR = gate(RANK, f"{name}_gate").swapaxes(1, 2).astype(wide)
            return mix_lags(scores_BHAT, scale, read, write, gate_BHAR)

        query_BAHD = dense((H, D), name="query")(of_query) * gate(D, "query_gate")
        key_BTHD, value_BTHV = dense((H, D), name="key")(x_BTE), dense((H, V), name="value")(x_BTE)
        scores_BHAT = add_bias(dot_scores(query_BAHD, key_BTHD), self._relative_bias(A, T).astype(wide))
        scores_BHAT = mix(scores_BHAT, "before")
        norm = jax.lax.rsqrt(jnp.square(scores_BHAT).sum(axis=-1, keepdims=True) + EPSILON)
        codes_BHAT = mix(nn.relu(scores_BHAT * norm), "after")
        kept_AT = self._gate(dropout_key, A, T)
        kept_BHAT = codes_BHAT if kept_AT is None else codes_BHAT * kept_AT
        out_BAHV = mix_values(kept_BHAT, value_BTHV).astype(dtype) * gate(V, "value_gate")
        out_BAE = dense(E, axis=(-2, -1), name="out")(out_BAHV)
        return out_BAE, codes_BHAT if self.return_codes else None
