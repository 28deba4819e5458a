"""An attention of a user's own, with weights that no other file knows: trained and kept."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from baselines.encode import encoding_of
from baselines.model.attention import (
    ATTENTION,
    Attention,
    Weights,
    add_attention,
    mix_values,
    rms_head,
    weighted_sum,
)
from baselines.train.experiment import board_of, program_of
from baselines.train.train import train
from helpers.tiny_runs import leaves, tiny
from sraven import ConfigurationError

B, T, H, D = 2, 5, 3, 4


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


def test_it_trains_and_comes_back(compiled, tmp_path):
    """Its weights begin orthogonal, move, lie in the checkpoint and are read from it."""
    config = tiny("mixed_heads", steps=5, warmup=1)
    with jax.numpy_dtype_promotion("standard"):
        state = train(config, tmp_path / "run")
        program = program_of(config, encoding_of(board_of(config).task))
        restored = train(config, tmp_path / "run")  # of its last checkpoint
    [path] = [path for path in leaves(state.params) if "between" in path]
    trained, first = (
        leaves(state.params)[path],
        leaves(jax.jit(program.initialise)(np.uint32(config.seed)).params)[path],
    )
    np.testing.assert_allclose(first @ first.T, np.eye(config.heads), atol=1e-5)
    assert (trained != first).any()
    np.testing.assert_array_equal(leaves(restored.params)[path], trained)


def test_a_normalisation_that_returns_no_codes_is_told_in_one_line():
    def plain_softmax(scores_BHQK, mask):
        return jax.nn.softmax(scores_BHQK)

    arrays = [jnp.zeros((B, T, H, D))] * 3
    with pytest.raises(
        ConfigurationError, match=r"^plain_softmax returned .*; expected Codes\(scores, scale\)$"
    ):
        Attention(plain_softmax, weighted_sum)(*arrays)


@pytest.mark.parametrize("name", ["mixed_heads", "sparse_coding", "none"])
def test_names_that_are_taken(name):
    with pytest.raises(ConfigurationError, match=f"attention '{name}' is there already"):
        add_attention(name, Attention(rms_head, mixed_heads))
