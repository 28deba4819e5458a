"""The looped transformer: one block, applied again and again (Dehghani et al. 2019; arXiv 2512.14693).

With ``layers`` = r loops, h = 0 before the first,

    h ← block(h + x)        r times, x the embedded tokens,

so that each loop sees the input again, however far it has come. The block is the transformer's; its
parameters are those of a transformer of one layer, its operations those of r. As no loop has parameters of
its own, a trained network may be applied with any number of them.
"""

import jax.numpy as jnp

from baselines.model.sequence import Array, CallOptions, SequenceModel
from baselines.model.transformer import block_arguments, make_block


class LoopedTransformer(SequenceModel):
    """A block of the transformer that is applied ``config.layers`` times."""

    def layers(self, x_BTE: Array, options: CallOptions) -> tuple[Array, tuple[Array | None, ...]]:
        """Apply the block again and again, the last time to the tokens with outputs alone."""
        config, all_codes = self.config, []
        block = make_block(config)(config, options.return_codes, name="block_0")
        hidden_BTE = jnp.zeros_like(x_BTE)
        for loop in range(config.layers):
            hidden_BTE, codes = block(hidden_BTE + x_BTE, *block_arguments(config, options, loop))
            all_codes.append(codes)
        return hidden_BTE, tuple(all_codes)
