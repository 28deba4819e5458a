"""Measure what RMSHead keeps at initialisation: the variance of generated weights, and of a layer's outputs.

    python tests/speed/initial_variance.py docs/results/initial-variance.json

A layer of self-attention of the recipe of ``sraven-v1`` (E = 128, H = 16, D = 4) as it is initialised, on
tokens of independent normal numbers of variance 1, as after LayerNorm. By attention, number of tokens T, and
a factor that queries are multiplied by:

- ``weights``: Σ_h a² / H, by which the variance of the weights that a latent code generates differs from H
  times that of the weights of a head (paper, section 2.2);
- ``outputs``: the variance of the layer's outputs over tokens, channels and instances.

Each is a mean over initialisations, with its standard error.
"""

import sys

import jax
import jax.numpy as jnp
import numpy as np
from record import keep

from baselines.model.config import TransformerConfig
from baselines.model.transformer import SelfAttention
from baselines.recipes import SRAVEN
from sraven.core.estimate import mean
from sraven.core.jsonable import as_json

ATTENTIONS = ("softmax", "linear", "linear_rmshead", "hyla", "hyla_no_rmshead")
TOKENS, FACTORS = (9, 36, 144), (0.5, 1.0, 2.0, 4.0)
SEEDS, INSTANCES = 16, 8


def measure(attention, tokens, factor):
    """Return both variances of a layer."""
    names = ("layers", "width", "heads", "qkv_width", "mlp_width")
    shape = {name: SRAVEN[name] for name in names}
    config = TransformerConfig(inputs=8, outputs=8, length=tokens, attention=attention, **shape)
    layer = SelfAttention(config, return_codes=True)

    def both(seed):
        drawn, first = jax.random.split(jax.random.key(seed))
        x_BTE = jax.random.normal(drawn, (INSTANCES, tokens, config.width))
        params = dict(layer.init(first, x_BTE, None, None)["params"])
        params["query"] = jax.tree.map(lambda weights: factor * weights, params["query"])
        out_BTE, codes_BHTT = layer.apply({"params": params}, x_BTE, None, None)
        return jnp.square(codes_BHTT).mean(), out_BTE.var()

    weights, outputs = jax.vmap(both)(jnp.arange(SEEDS, dtype=jnp.uint32))
    found = {"weights": weights, "outputs": outputs}
    return {name: as_json(mean(np.asarray(values, np.float64))) for name, values in found.items()}


def main(goal):
    """Measure all of it, and write it to ``goal``."""
    result = {
        attention: {
            str(tokens): {f"{factor:g}": measure(attention, tokens, factor) for factor in FACTORS}
            for tokens in TOKENS
        }
        for attention in ATTENTIONS
    }
    keep(goal, {"initialisations": SEEDS, "instances": INSTANCES, "result": result})


if __name__ == "__main__":
    main(sys.argv[1])
