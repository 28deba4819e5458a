"""Which form computes a call, and that forms which differ only in how return the same.

Axes have different primes: B=2, H=3, D=8 (cuDNN's smallest) and T=11.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from baselines.model import forms
from baselines.model.attention import ATTENTION, find_attention, find_network
from baselines.model.devices import cudnn_applies, device_capability
from baselines.model.forms import Call, find_form
from baselines.model.softmax_cudnn import softmax_fused
from baselines.model.transformer import Transformer, TransformerConfig

B, H, D, T = 2, 3, 8, 11


def config_of(**changes):
    shape = {"inputs": 0, "outputs": 0, "vocabulary": 23, "length": 13, "layers": 1, "width": 17}
    rest = {"heads": H, "qkv_width": H * D, "mlp_width": 19, "causal": True, "position": "rotary"}
    return TransformerConfig(**{**shape, **rest, **changes})


def draw(*shape, dtype=jnp.float32):
    return jnp.asarray(np.random.default_rng(shape).normal(size=shape), dtype)


def call_of(config, bias=None, mask=None, dropout_key=None, return_scores=False):
    arrays = [draw(B, T, H, D, dtype=config.dtype)] * 3
    mask = None if mask is None else mask[None, None, None]
    dropout = (config.attention_dropout, dropout_key) if dropout_key is not None else (0.0, None)
    what = find_attention(config.attention), *arrays, bias, mask, find_network("relu")
    return Call(*what, config.causal, config.tile, *dropout, return_scores)


@pytest.fixture
def cudnn(monkeypatch):
    """Let cuDNN's form be chosen, and computed by the compiler; return the calls that it gets."""
    calls = []

    def fused(*arrays, causal):
        calls.append(causal)
        return softmax_fused(*arrays, causal=causal, implementation="xla")

    monkeypatch.setattr(forms, "cudnn_applies", lambda **_: True)
    monkeypatch.setattr(forms, "softmax_fused", fused)
    return calls


BIAS, MASK, KEY = jnp.zeros((H, T, T)), np.ones(T, bool), jax.random.key(0)


@pytest.mark.parametrize(
    ("changes", "asked", "name"),
    [
        ({"attention": "softmax"}, {}, "cudnn"),
        ({"attention": "softmax", "causal": False}, {}, "cudnn"),
        ({"attention": "softmax"}, {"bias": BIAS}, "plain"),
        ({"attention": "softmax"}, {"mask": MASK}, "plain"),
        ({"attention": "softmax"}, {"return_scores": True}, "plain"),
        ({"attention": "softmax"}, {"dropout_key": KEY}, "cudnn"),
        ({"attention": "softmax", "attention_dropout": 0.1}, {}, "cudnn"),
        ({"attention": "softmax", "attention_dropout": 0.1}, {"dropout_key": KEY}, "plain"),
        ({"attention": "hyla_softmax"}, {}, "plain"),
        ({"attention": "linear"}, {}, "plain"),
        ({"attention": "linear", "tile": 4}, {}, "chunked"),
        ({"attention": "linear", "tile": 4}, {"return_scores": True}, "chunked"),
        ({"attention": "linear", "tile": 4, "causal": False}, {}, "tiled"),
        ({"attention": "linear", "tile": 4}, {"bias": BIAS}, "tiled"),
        ({"attention": "linear", "tile": 4}, {"mask": MASK}, "tiled"),
        ({"attention": "linear", "tile": 4, "attention_dropout": 0.1}, {"dropout_key": KEY}, "tiled"),
        ({"attention": "hyla", "tile": 4}, {}, "tiled"),
    ],
)
def test_which_form_a_call_gets(changes, asked, name, cudnn):
    assert find_form(call_of(config_of(**changes), **asked)).__name__ == name


def test_this_machine_has_no_cudnn():
    """On a CPU nothing changes."""
    assert device_capability() == ""
    config = config_of(attention="softmax", dtype="bfloat16")
    assert find_form(call_of(config)).__name__ == "plain"


def test_latent_codes_come_when_asked_for():
    config = config_of(attention="hyla")
    for asked in (False, True):
        call = call_of(config, return_scores=asked)
        out, codes = find_form(call)(call)
        assert out.shape == (B, T, H, D)
        assert (codes is not None) == asked


def prepared(model):
    """Return parameters and tokens."""
    tokens = jnp.asarray(np.random.default_rng(0).integers(23, size=(B, T)), jnp.int32)
    shapes = jax.eval_shape(model.init, jax.random.key(0), tokens)
    return jax.tree.map(lambda leaf: 0.3 * draw(*leaf.shape, dtype=leaf.dtype), shapes), tokens


def test_chunks_change_nothing():
    plain, chunked = (Transformer(config_of(attention="linear", tile=tile)) for tile in (0, 4))
    params, tokens = prepared(plain)

    def loss(params, model):
        return jnp.sin(model.apply(params, tokens)).sum()

    (wanted, grads), (found, other) = (
        jax.jit(jax.value_and_grad(partial(loss, model=model)))(params) for model in (plain, chunked)
    )
    np.testing.assert_allclose(found, wanted, rtol=1e-4)
    jax.tree.map(partial(np.testing.assert_allclose, rtol=1e-3, atol=1e-4), other, grads)


# cuDNN -----------------------------------------------------------------------------------------------

APPLIES = {"backend": "gpu", "capability": "9.0", "dtype": jnp.bfloat16, "tokens": 512, "width": 64}


@pytest.mark.parametrize(
    ("changes", "applies"),
    [
        ({}, True),
        ({"backend": "cpu", "capability": ""}, False),
        ({"backend": "tpu"}, False),
        ({"capability": "8.0"}, True),
        ({"capability": "10.3"}, True),
        ({"capability": "7.5"}, False),
        ({"capability": "gfx942"}, False),
        ({"capability": ""}, False),
        ({"dtype": jnp.float32}, False),
        ({"dtype": jnp.dtype("bfloat16")}, True),
        ({"tokens": 1}, False),
        ({"tokens": 37}, True),
        ({"width": 8}, True),
        ({"width": 60}, False),
        ({"width": 128}, True),
        ({"width": 136}, False),
    ],
)
def test_where_cudnn_applies(changes, applies):
    assert cudnn_applies(**{**APPLIES, **changes}) == applies


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize(("dtype", "tolerance"), [(jnp.float32, 1e-5), (jnp.bfloat16, 0.03)])
def test_the_fused_call_is_our_softmax(causal, dtype, tolerance):
    """Scale, causality and order of axes, by the compiler's implementation of the same call."""
    inputs = [draw(1 + at, B, T, H, D, dtype=dtype)[at] for at in range(3)]
    mask = np.tri(T, dtype=bool) if causal else None

    def values_and_gradients(attention):
        def weighted(*inputs):
            out = attention(*inputs)
            return (out * draw(*out.shape, dtype=dtype)[..., ::-1]).sum(), out

        (_, out), grads = jax.jit(jax.value_and_grad(weighted, (0, 1, 2), has_aux=True))(*inputs)
        return out, *grads

    with jax.numpy_dtype_promotion("standard"):  # JAX's own code promotes types
        found = values_and_gradients(partial(softmax_fused, causal=causal, implementation="xla"))
    wanted = values_and_gradients(partial(ATTENTION["softmax"], mask=mask))
    for array, expected in zip(found, wanted, strict=True):
        assert (array.shape, array.dtype) == (expected.shape, expected.dtype)
        error = np.abs(np.asarray(array, np.float64) - np.asarray(expected, np.float64)).max()
        assert error <= tolerance * np.abs(np.asarray(expected, np.float64)).max()


def test_a_model_with_the_fused_call(cudnn):
    """The model asks for it in each layer, and only where latent codes aren't asked for."""
    model = Transformer(config_of(attention="softmax", layers=2))
    params, tokens = prepared(model)
    cudnn.clear()
    wanted, codes = jax.jit(partial(model.apply, return_scores=True))(params, tokens)
    assert not cudnn
    assert [layer.shape for layer in codes] == [(B, H, T, T)] * 2
    np.testing.assert_allclose(jax.jit(model.apply)(params, tokens), wanted, rtol=1e-4, atol=1e-5)
    assert cudnn == [True, True]
