"""The hook that edits latent codes after the normalisation: what it is given, what becomes of its codes."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from baselines.model.attention import ATTENTION, find_value_network
from baselines.model.looped import LoopedTransformer
from baselines.model.transformer import Transformer
from helpers.small_models import B, T, initialised, small, tokens_of
from sraven import ConfigurationError

H, Q, D = 3, 5, 2


@pytest.fixture
def arrays():
    rng = np.random.default_rng(0)
    return [jnp.asarray(rng.normal(size=(B, each, H, D)), jnp.float32) for each in (Q, T, T)]


def mixed_by_hand(name, codes_BHQK, value_BKHV):
    """Return the value network of Figure A1 for given codes, in float64."""
    codes_BHQK, value_BKHV = np.float64(codes_BHQK), np.float64(value_BKHV)
    if name != "hyla":
        return np.einsum("bhqk,bkhv->bqhv", codes_BHQK, value_BKHV)
    inner_BQKV = np.maximum(np.einsum("bhqk,bkhv->bqkv", codes_BHQK, value_BKHV), 0)
    return np.einsum("bhqk,bqkv->bqhv", codes_BHQK, inner_BQKV)


@pytest.mark.parametrize("name", ["softmax", "linear", "hyla"])
def test_edited_codes_are_what_values_are_mixed_with(name, arrays):
    other_BHQK = jnp.asarray(np.random.default_rng(1).normal(size=(B, H, Q, T)), jnp.float32)
    seen = []

    def replace(codes_BHQK):
        seen.append(codes_BHQK)
        return other_BHQK

    run = partial(ATTENTION[name], *arrays, None, None, find_value_network("relu"))
    out, codes = run(None, replace)
    np.testing.assert_array_equal(codes, other_BHQK)
    np.testing.assert_allclose(out, mixed_by_hand(name, other_BHQK, arrays[2]), rtol=1e-4, atol=1e-4)
    plain, before = run(None)
    np.testing.assert_array_equal(seen[0], before)  # after the normalisation
    same, _ = run(None, lambda codes: codes)
    np.testing.assert_allclose(same, plain, rtol=1e-5, atol=1e-5)
    gate_QK = jnp.full((Q, T), 2.0)  # dropout comes after
    np.testing.assert_allclose(
        run(gate_QK, replace)[0], mixed_by_hand(name, 2 * other_BHQK, arrays[2]), rtol=1e-4, atol=1e-4
    )


@pytest.mark.parametrize(
    ("name", "changes", "network"),
    [
        *((name, {}, Transformer) for name in ("linear", "dual")),
        *((name, {"rematerialise": True}, Transformer) for name in ("linear", "sparse_coding")),
        ("linear", {}, LoopedTransformer),
    ],
)
def test_each_layer_or_loop_of_a_model_has_its_own_codes_to_edit(name, changes, network):
    """An edit of one pair in the last one changes the output of its query alone."""
    config = small(attention=name, length=T, layers=2, **changes)
    model, (_, params), shapes = network(config), initialised(config), {}

    def edit(layer, codes):
        shapes[layer] = codes.shape
        return codes if layer == 0 else codes.at[:, :, 1, 4].add(10.0)

    run = jax.jit(partial(model.apply, num_outputs=3, return_codes=True), static_argnames="edit_codes")
    (plain, codes), (out, edited) = (run(params, tokens_of(config), edit_codes=each) for each in (None, edit))
    assert shapes == {0: (B, H, T, T), 1: (B, H, 3, T)}
    np.testing.assert_allclose(edited[1][:, :, 1, 4] - codes[1][:, :, 1, 4], 10.0, atol=1e-3)
    np.testing.assert_allclose(edited[0], codes[0], rtol=1e-4, atol=1e-4)
    differ = jnp.abs(out - plain).max(axis=(0, 2)) > 1e-3
    assert differ.tolist() == [False, True, False]


def test_tiles_have_no_codes_to_edit():
    config = small(attention="linear", tile=4)
    model, params = initialised(config)
    with pytest.raises(ConfigurationError, match="tile=4 with edit_codes; tiles keep no latent codes"):
        model.apply(params, tokens_of(config), edit_codes=lambda layer, codes: codes)
