"""Transformers of a few parameters, and tokens for them; and the shapes of the paper's shallowest ones."""

import jax
import jax.numpy as jnp
import numpy as np

from baselines.model.attention import find_module
from baselines.model.transformer import Transformer, TransformerConfig
from helpers.derivatives import draw, drawn

TEXT = {"vocabulary": 23, "inputs": 0, "outputs": 0}
B, T = 2, 11

SRAVEN = TransformerConfig(inputs=8, outputs=8, length=36)
FUZZY_LOGIC = TransformerConfig(inputs=5, outputs=1, length=32, layers=2, heads=8, qkv_width=16)


def small(**changes):
    """Return a configuration whose axes are different primes but for D = 2."""
    shape = {"inputs": 7, "outputs": 5, "length": 13, "layers": 1, "width": 17, "heads": 3}
    return TransformerConfig(**{**shape, "qkv_width": 6, "mlp_width": 19, **changes})


def tokens_of(config, seed=0):
    rng = np.random.default_rng(seed)
    if config.vocabulary:
        return jnp.asarray(rng.integers(config.vocabulary, size=(B, T)), jnp.int32)
    return jnp.asarray(rng.normal(size=(B, T, config.inputs)), jnp.float32)


def initialised(config):
    """Return a model, and parameters drawn at random, biases too."""
    model = Transformer(config)
    params = drawn(model, tokens_of(config))
    return model, jax.tree.map(lambda leaf: jnp.asarray(leaf, jnp.float32), params)


def attention_of(config, tokens=T):
    """Return the module of an attention, with codes if it has some, parameters and an input, in float64."""
    make = find_module(config.attention)
    module, x_BTE = make(config, return_codes=make.has_codes), draw(B, tokens, config.width)
    return module, drawn(module, x_BTE, None)["params"], x_BTE


def parameters(config):
    """Return the shapes of all parameters."""
    T = config.length
    tokens = jnp.zeros((1, T), jnp.int32) if config.vocabulary else jnp.zeros((1, T, config.inputs))
    return jax.eval_shape(Transformer(config).init, jax.random.key(0), tokens)["params"]


def count(tree):
    return sum(leaf.size for leaf in jax.tree.leaves(tree))
