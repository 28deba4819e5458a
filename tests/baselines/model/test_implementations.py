"""The choice of an implementation for a call.

Axes have different primes: B=17 (a block of lanes and an instance), H=3, A=7 of T=11 tokens, D=8.
"""

import jax
import jax.numpy as jnp
import pytest

from baselines.model.attention import ATTENTION, dropout_gate, find_value_network
from baselines.model.implementations import AttentionCall, find_implementation
from helpers.small_models import T

MANY, H, A, D, WIDE = 17, 3, 7, 8, 17
GATE = dropout_gate(0.1, jax.random.key(0), T, T, jnp.float32)


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
    ("name", "changes", "chosen"),
    [
        ("softmax", HALF, "reference"),
        ("hyla", TILES, "tiled"),
        ("linear", CAUSAL, "reference"),
        ("linear", TILES | {"return_codes": True}, "chunked"),
        ("linear", {"tile": 4}, "tiled"),
        *(("linear", TILES | each, "tiled") for each in (BIAS, DROPOUT)),
        ("linear", TILES | {"outputs": A}, "reference"),
        ("hyla_softmax", {}, "reference"),
        *((name, {}, "lanes") for name in ("softmax", "linear", "hyla")),
        *((name, {}, "lanes") for name in ("hyla_no_rmshead", "hyla_linear")),
        ("hyla", BIAS | DROPOUT | {"width": 16}, "lanes"),
        ("hyla", {"outputs": A}, "lanes"),
        *(("hyla", each, "reference") for each in (CAUSAL, HALF, {"return_codes": True})),
        ("hyla", {"width": WIDE}, "reference"),
        ("hyla", {"network": find_value_network("silu")}, "reference"),
        ("hyla", {"instances": 15}, "reference"),
    ],
)
def test_which_implementation_a_call_gets(name, changes, chosen):
    assert find_implementation(call_of(name, **changes)).__name__ == chosen
