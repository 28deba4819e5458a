"""The choice of an implementation for a call; cuDNN's call is our softmax.

Axes have different primes: B=17 (a block of lanes and an instance), H=3, A=7 of T=11 tokens, D=8.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from baselines.model import implementations
from baselines.model.attention import ATTENTION, dropout_gate, find_value_network
from baselines.model.fast.gpu import Device, cudnn_applies, fused_softmax
from baselines.model.implementations import AttentionCall, find_implementation
from helpers.derivatives import assert_same_values, draw, values_and_gradients
from helpers.small_models import TEXT, B, T, initialised, small, tokens_of

MANY, H, A, D, WIDE = 17, 3, 7, 8, 17
GATE = dropout_gate(0.1, jax.random.key(0), T, T, jnp.float32)
CPU, GPU = Device("cpu", ""), Device("gpu", "9.0")


def zeros(tokens=T, width=D, dtype=jnp.float32, instances=MANY):
    return jnp.zeros((instances, tokens, H, width), dtype)


def call_of(name, outputs=T, width=D, dtype=jnp.float32, instances=MANY, **changes):
    sizes = {"width": width, "dtype": dtype, "instances": instances}
    given = {"query": zeros(outputs, **sizes), "key": zeros(**sizes), "value": zeros(**sizes)}
    rest = {"bias": None, "network": find_value_network("relu"), "gate": None}
    return AttentionCall(ATTENTION[name], **{**given, **rest, **changes})


BIAS = {"bias": jnp.zeros((H, T, T))}
DROPOUT, CAUSAL, TILES = {"gate": GATE}, {"causal": True}, {"causal": True, "tile": 4}
HALF = {"dtype": jnp.bfloat16}


@pytest.mark.parametrize(
    ("device", "name", "changes", "chosen"),
    [
        (GPU, "softmax", HALF, "cudnn"),
        (GPU, "softmax", HALF | CAUSAL, "cudnn"),
        *((GPU, "softmax", HALF | each, "reference") for each in (BIAS, DROPOUT)),
        (GPU, "softmax", HALF | {"return_codes": True}, "reference"),
        (GPU, "hyla", TILES | {"tile": 0}, "reference"),
        (CPU, "softmax", HALF, "reference"),
        (CPU, "hyla", TILES, "tiled"),
        (CPU, "linear", CAUSAL, "reference"),
        (CPU, "linear", TILES | {"return_codes": True}, "chunked"),
        (CPU, "linear", {"tile": 4}, "tiled"),
        *((CPU, "linear", TILES | each, "tiled") for each in (BIAS, DROPOUT)),
        (CPU, "linear", TILES | {"outputs": A}, "reference"),
        (CPU, "hyla_softmax", {}, "reference"),
        *((CPU, name, {}, "lanes") for name in ("softmax", "linear", "hyla")),
        *((CPU, name, {}, "lanes") for name in ("hyla_no_rmshead", "hyla_linear")),
        (CPU, "hyla", BIAS | DROPOUT | {"width": 16}, "lanes"),
        (CPU, "hyla", {"outputs": A}, "lanes"),
        *((CPU, "hyla", each, "reference") for each in (CAUSAL, HALF, {"return_codes": True})),
        (CPU, "hyla", {"width": WIDE}, "reference"),
        (CPU, "hyla", {"network": find_value_network("silu")}, "reference"),
        (CPU, "hyla", {"instances": 15}, "reference"),
    ],
)
def test_which_implementation_a_call_gets(device, name, changes, chosen, monkeypatch):
    monkeypatch.setattr(implementations, "this_device", lambda: device)
    assert find_implementation(call_of(name, **changes)).__name__ == chosen


@pytest.mark.parametrize(
    ("arguments", "applies"),
    [
        ((jnp.float32, 512, 64), False),
        ((jnp.dtype("bfloat16"), 512, 64), True),
        ((jnp.bfloat16, 1, 64), False),
        *(((jnp.bfloat16, 37, D), D != 60 and D < 136) for D in (8, 60, 128, 136)),
    ],
)
def test_arrays_that_cudnn_takes(arguments, applies):
    assert cudnn_applies(GPU, *arguments) == applies


@pytest.mark.parametrize(
    ("causal", "dtype", "tolerance"), [(True, jnp.float32, 1e-5), (False, jnp.bfloat16, 0.03)]
)
def test_the_fused_call_is_our_softmax(causal, dtype, tolerance):
    """Scale, causality and order of axes, by the compiler's implementation of the same call."""
    inputs = [jnp.asarray(draw(B, T, H, D, seed=seed), dtype) for seed in range(3)]
    mask = np.tri(T, dtype=bool) if causal else None
    with jax.numpy_dtype_promotion("standard"):  # JAX's own code promotes types
        found = values_and_gradients(partial(fused_softmax, causal=causal, implementation="xla"), inputs)
    wanted = values_and_gradients(
        lambda *each: ATTENTION["softmax"](*each, mask=mask)[0].astype(dtype), inputs
    )
    assert_same_values(found, wanted, tolerance)


def test_a_model_asks_for_the_fused_call_in_each_layer(monkeypatch):
    """And only where latent codes aren't returned."""
    calls = []

    def fused(*arrays, causal):
        calls.append(causal)
        return fused_softmax(*arrays, causal=causal, implementation="xla")

    config = small(attention="softmax", layers=2, causal=True, position="rotary", **TEXT)
    model, params = initialised(config)
    monkeypatch.setattr(implementations, "cudnn_applies", lambda *_: True)
    monkeypatch.setattr(implementations, "fused_softmax", fused)
    wanted, codes = jax.jit(partial(model.apply, return_codes=True))(params, tokens_of(config))
    assert not calls
    assert [layer.shape for layer in codes] == [(B, H, T, T)] * 2
    np.testing.assert_allclose(jax.jit(model.apply)(params, tokens_of(config)), wanted, rtol=1e-4, atol=1e-5)
    assert calls == [True, True]
