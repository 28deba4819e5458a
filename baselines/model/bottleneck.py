"""The bottleneck of Kobayashi, Schug et al. (2024, arXiv 2407.12275): a task is inferred, then executed.

The first half of the blocks reads the context alone: the first two rows of a matrix, or all points but the
query. The mean of its tokens becomes the task's latent z, all that the second half sees of the context,

    h = blocks(x[context])
    z = W mean_t LayerNorm(h[t]) + b                                  Z = E / 2 numbers
    out = blocks([W z + b, x[query]])

Each block is the transformer's, so the parameters are a transformer's and those of the two projections. What
executes the task is a choice of ours: z is a token that the query's attend to, so that both halves have the
same kind of attention, whichever it is, where a hypernetwork may make weights of z.
"""

import jax.numpy as jnp

from baselines.model.fast.layers import LayerNorm
from baselines.model.sequence import Array, CallOptions, SequenceModel
from baselines.model.transformer import apply_blocks
from sraven.core.errors import ConfigurationError


class Bottleneck(SequenceModel):
    """A transformer in two halves, with a vector between them; only the query's tokens have outputs."""

    codes_by_token = False

    def layers(self, x_BTE: Array, options: CallOptions) -> tuple[Array, tuple[Array | None, ...]]:
        """Apply the first half to the context, the second to the latent and the query.

        Raises:
            ConfigurationError: for one layer, or a sequence without context.
        """
        config, Q, half = self.config, self.config.query_tokens, self.config.layers // 2
        if config.layers < 2 or x_BTE.shape[1] <= Q or config.causal:
            raise ConfigurationError(
                f"layers={config.layers}, causal={config.causal}, {x_BTE.shape[1]} tokens with {Q} of the "
                "query: a bottleneck needs two layers that see all, and a context"
            )
        options = options._replace(num_outputs=min(options.num_outputs, Q))
        context, codes = apply_blocks(config, range(half), x_BTE[:, :-Q], options)
        mean_B1E = LayerNorm(name="norm_latent")(context).mean(axis=1, keepdims=True)
        latent_B1Z = config.dense(max(1, config.width // 2), name="latent")(mean_B1E)
        task_B1E = config.dense(config.width, name="task")(latent_B1Z)
        asked = jnp.concatenate([task_B1E, x_BTE[:, -Q:]], axis=1)
        answer, more_codes = apply_blocks(config, range(half, config.layers), asked, options)
        return answer, codes + more_codes
