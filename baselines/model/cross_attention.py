"""A transformer whose query attends to the context alone: attention across sequences (footnote 1).

The query's tokens are those of the ninth panel, which is empty, or of the last point; all others are the
context. The first half of the blocks reads the context. In the second half, the query's tokens have queries,
the context that was read has keys and values:

    c = blocks(x[context])
    z ← z + attention(LayerNorm(z), LayerNorm(c)), then z + feedforward(LayerNorm(z)), from z = x[query] on

The query's tokens don't see each other. The parameters are those of a transformer.
"""

import jax.numpy as jnp

from baselines.model.attention import MODULES
from baselines.model.sequence import Array, CallOptions, SequenceModel
from baselines.model.transformer import apply_blocks, block_arguments, make_block
from sraven.core.errors import ConfigurationError


class CrossTransformer(SequenceModel):
    """A transformer in two halves, the second of cross-attention; only the query's tokens have outputs."""

    codes_by_token = False

    def layers(self, x_BTE: Array, options: CallOptions) -> tuple[Array, tuple[Array | None, ...]]:
        """Apply the first half to the context, the second to the query's tokens.

        Raises:
            ConfigurationError: for one layer, a sequence without context, or an attention that is a module.
        """
        config, Q, half = self.config, self.config.panel_tokens, self.config.layers // 2
        if config.layers < 2 or x_BTE.shape[1] <= Q or config.causal or config.attention in MODULES:
            raise ConfigurationError(
                f"layers={config.layers}, causal={config.causal}, attention={config.attention!r}, "
                f"{x_BTE.shape[1]} tokens with {Q} of the query: cross-attention needs two layers that see "
                "all, a function of queries, keys and values, and a context"
            )
        context, all_codes = apply_blocks(config, range(half), x_BTE[:, :-Q], options)
        query = x_BTE[:, -Q:]
        for layer in range(half, config.layers):
            block = make_block(config)(config, options.return_codes, True, name=f"block_{layer}")
            key, _ = block_arguments(config, options, layer)
            query, codes = block(jnp.concatenate([context, query], axis=1), key, Q)
            all_codes += (codes,)
        return query[:, -options.num_outputs :], all_codes
