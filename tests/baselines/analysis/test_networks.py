"""Value networks by Eqs. 4 to 7 are what attention computes, with biases; axes are different primes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from baselines.analysis.networks import hyla_networks, value_networks
from baselines.model.transformer import SelfAttention
from helpers.refusals import assert_refused
from helpers.small_models import B, T, initialised, small
from sraven import ConfigurationError

H, E = 3, 17


def layer_of(config):
    """Return parameters of a model, inputs of its second layer, and that layer's output and codes."""
    _, variables = initialised(config)
    params = variables["params"]
    x_BTE = jnp.asarray(np.random.default_rng(2).normal(size=(B, T, E)), jnp.float32)
    attend = SelfAttention(config, return_codes=True)
    out_BTE, codes_BHQK = jax.jit(
        lambda x: attend.apply({"params": params["block_1"]["attention"]}, x, None, None)
    )(x_BTE)
    return params, x_BTE, out_BTE, jnp.moveaxis(codes_BHQK, 1, -1)


@pytest.mark.parametrize("attention", ["softmax", "linear", "hyla"])
def test_value_networks_give_a_layers_output(attention):
    params, x_BTE, out_BTE, codes_BQKH = layer_of(small(attention=attention, layers=2))
    x_BTE = np.float64(x_BTE)
    if attention == "hyla":
        before, bias, after = (np.float64(each) for each in hyla_networks(params, 1, codes_BQKH))
        hidden = np.maximum(np.einsum("bqkvi,bki->bqkv", before, x_BTE) + bias, 0)
        mixed = np.einsum("bqkov,bqkv->bqo", after, hidden)
    else:
        W, b = (np.float64(each) for each in value_networks(params, 1, codes_BQKH))
        assert W.shape == (B, T, T, E, E) and b.shape == (B, T, T, E)
        mixed = np.einsum("bqkoi,bki->bqo", W, x_BTE) + b.sum(axis=2)
    mixed += params["block_1"]["attention"]["out"]["bias"]
    np.testing.assert_allclose(mixed, out_BTE, rtol=1e-4, atol=1e-4)


def test_what_has_no_value_network():
    params = initialised(small(layers=2))[1]["params"]
    assert_refused("layer=2: expected 0 to 1", value_networks, params, 2, np.zeros(H, np.float32))
    with pytest.raises(ConfigurationError, match=r"shape \[4\] and dtype float32; expected \[..., 3\]"):
        hyla_networks(params, 0, np.zeros(4, np.float32))
