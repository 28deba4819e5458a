"""Dual attention (Altabaa and Lafferty, ICML 2025, arXiv 2405.16727): heads that send values, or relations.

All heads have weights α of keys, by queries and keys of their own, as ``softmax`` attention has them. The
first ones send values; the last R = ⌊H / 2⌋, the relational ones, relations of the two tokens, and a symbol
that says which one sends them,

    out[q,h] = Σ_k α[h,q,k] v[k,h]                                      values of each head
    out[q,h] = Σ_k α[h,q,k] (r[q,k] W_r[h] + s[k,h])                    relations, and symbols

    r[q,k] = (⟨W_q[l] x[q] + b_q[l], W_k[l] x[k] + b_k[l]⟩ / √d)_l      R numbers, the same ones for all heads

and one output projection sums over the heads. The relative bias of the scores is the other attentions'.

Symbols are the paper's positional ones, which it takes for relational games: learnt vectors of the positions.
There, layers share them, and each has a projection of its own, W_s[h]; here each layer has their products
s[k,h], which are any numbers as well, unless there are more tokens than the network is wide.

As in the published code, there are as many relations as relational heads, and they are over √d. Other than
published: d, the width of their queries and keys, is half of a head's, so that these have as many parameters
as the values that relational heads lack; biases as in the transformer's projections; an output projection of
all heads, of which the paper's two are a special case.
"""

import jax
import jax.numpy as jnp
from flax import linen as nn

from baselines.model.attention import Attention, Codes, ValueNetwork, softmax
from baselines.model.products import accumulator, dot_scores, mix_values
from baselines.model.self_attention import SelfAttention
from sraven.core.errors import ConfigurationError

Array = jax.Array


class DualAttention(SelfAttention):
    """Dual attention, with the parameters of `SelfAttention` but for what relational heads send."""

    @nn.compact
    def __call__(self, x_BTE: Array, dropout_key: Array | None) -> tuple[Array, Array | None]:
        """Return ``[B, A, E]``, and the weights of all heads ``[B, H, A, T]``: None unless returned."""
        config, (_, T, E) = self.config, x_BTE.shape
        H, R, D = config.heads, config.heads // 2, config.head_width
        if not R:
            raise ConfigurationError(f"heads={H}: dual attention has heads of two kinds, 2 at least")
        dtype, wide = jnp.dtype(config.dtype), accumulator(jnp.dtype(config.dtype))
        dense, A = config.dense, self.num_outputs or T
        query, key = dense((H, D), name="query")(x_BTE[:, -A:]), dense((H, D), name="key")(x_BTE)
        query_BAHD, key_BTHD, bias_HAT = self._positions(query, key)
        width = max(1, D // 2)
        of_query = dense((R, width), name="relation_query")(x_BTE[:, -A:])
        of_key = dense((R, width), name="relation_key")(x_BTE)
        projection_RRV = self.param("projection", nn.initializers.lecun_normal(0, (1, 2)), (R, R, D))
        symbols_TRV = self.param("symbols", nn.initializers.normal(1.0), (config.length, R, D))
        relation_BRAT = dot_scores(of_query * width**-0.5, of_key)

        def send(codes: Codes, value_BTHV: Array, network: ValueNetwork) -> Array:
            """Mix what heads send: values of the first ones, relations and symbols of the others."""
            weights_BHAT = codes.product()
            sensory_BHAT, relational_BRAT = weights_BHAT[:, : H - R], weights_BHAT[:, H - R :]
            related_BARR = jnp.einsum("bhat,brat->bahr", relational_BRAT, relation_BRAT)
            related_BARV = jnp.einsum("bahr,rhv->bahv", related_BARR, projection_RRV.astype(wide))
            symbols_BARV = jnp.einsum("bhat,thv->bahv", relational_BRAT, symbols_TRV[:T].astype(wide))
            values_BAHV = mix_values(sensory_BHAT, value_BTHV)
            return jnp.concatenate([values_BAHV, related_BARV + symbols_BARV], axis=2)

        value_BTHV, gate_AT = dense((H - R, D), name="value")(x_BTE), self._gate(dropout_key, A, T)
        attend = Attention(softmax, send)
        out_BAHV, codes_BHAT = attend(query_BAHD, key_BTHD, value_BTHV, bias_HAT, gate_QK=gate_AT)
        out_BAE = dense(E, axis=(-2, -1), name="out")(out_BAHV.astype(dtype))
        return out_BAE, codes_BHAT if self.return_codes else None
