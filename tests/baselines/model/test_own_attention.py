"""An attention of a user's own, with weights that no other file knows."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from baselines.model.attention import (
    ATTENTION,
    Attention,
    Weights,
    add_attention,
    mix_values,
    rms_head,
    weighted_sum,
)
from baselines.model.transformer import Transformer
from helpers.refusals import assert_refused
from helpers.small_models import small, tokens_of


def mixed_heads(codes, value_BKHV, network):
    """Σ_k a·φ(v·W), W between the heads."""
    mixed_BKHV = jnp.einsum("bkhv,hg->bkgv", value_BKHV, network.weights["between"].astype(value_BKHV.dtype))
    return mix_values(codes.product(), network.activation(mixed_BKHV))


@pytest.fixture(autouse=True)
def _registered():
    between = Weights("HH", jax.nn.initializers.orthogonal())
    add_attention("mixed_heads", Attention(rms_head, mixed_heads, weights={"between": between}))
    yield
    del ATTENTION["mixed_heads"]


def test_its_weights_are_parameters_that_learn():
    """They begin as its entry says, and have gradients."""
    model = Transformer(small(attention="mixed_heads"))
    tokens = tokens_of(model.config)
    params = jax.jit(model.init)(jax.random.key(0), tokens)
    grads = jax.jit(jax.grad(lambda params: jnp.sin(model.apply(params, tokens)).sum()))(params)
    first, grad = (each["params"]["block_0"]["attention"]["between"] for each in (params, grads))
    np.testing.assert_allclose(first @ first.T, np.eye(model.config.heads), atol=1e-5)
    assert grad.any()


def test_a_normalisation_that_returns_no_codes_is_told_in_one_line():
    def plain_softmax(scores_BHQK, mask):
        return jax.nn.softmax(scores_BHQK)

    message = r"^plain_softmax returned .*; expected Codes\(scores, scale\)$"
    assert_refused(message, Attention(plain_softmax, weighted_sum), *[jnp.zeros((2, 5, 3, 4))] * 3)


@pytest.mark.parametrize("name", ["mixed_heads", "sparse_coding", "none"])
def test_names_that_are_taken(name):
    message = f"attention '{name}' is there already"
    assert_refused(message, add_attention, name, Attention(rms_head, mixed_heads))
