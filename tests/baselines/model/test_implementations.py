"""The choice of an implementation for a call.

Axes have different primes: B=17 (a block of lanes and an instance), H=3, A=7 of T=11 tokens, D=8.
"""

import jax
import jax.numpy as jnp
import pytest

from baselines.model.attention import ATTENTION, RELU, ValueNetwork
from baselines.model.implementations import IMPLEMENTATIONS, AttentionCall, find_implementation
from helpers.small_models import T

MANY, H, A, D, WIDE = 17, 3, 7, 8, 17


def call_of(name, outputs=T, width=D, dtype=jnp.float32, instances=MANY, **changes):
    query, key = (jnp.zeros((instances, tokens, H, width), dtype) for tokens in (outputs, T))
    rest = {"bias": None, "network": RELU, "gate": None}
    return AttentionCall(ATTENTION[name], query, key, key, **{**rest, **changes})


BIAS, DROPOUT = {"bias": jnp.zeros((H, T, T))}, {"gate": jnp.ones((T, T))}
CAUSAL, TILES, HALF = {"causal": True}, {"causal": True, "tile": 4}, {"dtype": jnp.bfloat16}


@pytest.mark.parametrize(
    ("name", "changes", "chosen"),
    [
        ("softmax", HALF, None),
        ("hyla", TILES, "tiled"),
        ("linear", CAUSAL, None),
        ("linear", TILES | {"return_codes": True}, "chunked"),
        ("linear", {"tile": 4}, "tiled"),
        *(("linear", TILES | each, "tiled") for each in (BIAS, DROPOUT)),
        ("linear", TILES | {"outputs": A}, None),
        ("hyla_softmax", {}, None),
        *((name, {}, "lanes") for name in ("softmax", "linear", "hyla")),
        *((name, {}, "lanes") for name in ("hyla_no_rmshead", "hyla_linear")),
        ("hyla", BIAS | DROPOUT | {"width": 16}, "lanes"),
        ("hyla", {"outputs": A}, "lanes"),
        *(("hyla", each, None) for each in (CAUSAL, HALF, {"return_codes": True})),
        ("hyla", {"width": WIDE}, None),
        ("hyla", {"network": ValueNetwork(jax.nn.silu)}, None),
        ("hyla", {"instances": 15}, None),
    ],
)
def test_which_implementation_a_call_gets(name, changes, chosen):
    assert find_implementation(call_of(name, **changes)) is IMPLEMENTATIONS.get(chosen)
