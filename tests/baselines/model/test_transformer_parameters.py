"""The whole model: its parameters and their spread, and what it refuses."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from baselines.model.attention import ATTENTION
from baselines.model.self_attention import SelfAttention
from baselines.model.transformer import Transformer
from helpers.refusals import assert_refused
from helpers.small_models import FUZZY_LOGIC, SRAVEN, TEXT, B, T, count, parameters, small, tokens_of


@pytest.mark.parametrize(
    ("name", "totals"),
    [
        ("hyla", (402_824, 151_265)),
        ("dual", (408_456, 151_841)),
        ("gated_delta", (417_112, 154_901)),
        ("hypermlp", (422_504, 150_505)),
        ("sparse_coding", (402_856, 151_327)),
    ],
)
def test_parameters_are_as_many_as_in_the_published_code_or_nearly(name, totals):
    """Within 5 % of those of attentions that are functions; sparse coding has a λ for each context panel.

    HyperMLP has half of the heads, as each has gates and weights along the sequence, and a narrower MLP.
    """
    for config, panel_tokens, total in zip((SRAVEN, FUZZY_LOGIC), (4, 1), totals, strict=True):
        changes = {"heads": config.heads // 2, "mlp_width": 232} if name == "hypermlp" else {}
        found = parameters(replace(config, attention=name, panel_tokens=panel_tokens, **changes))
        assert count(found) == total


@pytest.mark.parametrize("name", ATTENTION)
def test_attentions_have_the_same_parameters_but_for_weights_of_their_own(name):
    """By name and shape, so that a seed draws the same ones."""
    plain, other = (jax.tree.map(jnp.shape, parameters(small(**each))) for each in ({}, {"attention": name}))
    for own, kind in ATTENTION[name].weights.items():
        assert other["block_0"]["attention"].pop(own) == kind.shape(3, 2, 2)
    assert other == plain


def test_initial_spread():
    """Kernels and tables have variance 1 / fan-in, biases are 0."""
    config = replace(SRAVEN, attention="hyla_deep")
    init = jax.jit(lambda key, x: SelfAttention(config).init(key, x, None))
    params = init(jax.random.key(0), jnp.zeros((1, 36, 128)))["params"]
    drawn = params["query"]["kernel"], params["out"]["kernel"], params["position"], params["deep"]
    for array, fan_in in zip(drawn, (128, 64, 36, 16 * 4), strict=True):
        np.testing.assert_allclose(array.std(), fan_in**-0.5, rtol=0.1)
    assert not any(params[name]["bias"].any() for name in ("query", "key", "value", "out"))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"attention": "hyla2"}, "attention='hyla2': .*'hyla'"),
        ({"attention": "softmax", "tile": 4}, "attention='softmax': .*linear, hyla"),
        ({"attention": "dual", "tile": 4}, "attention='dual': .*linear, hyla"),
        ({"attention": "dual", "causal": True}, "attention='dual' with causal=True: its tokens all see each"),
        ({"activation": "swish"}, "activation='swish': .*relu, silu"),
        ({"feedforward": "mole"}, "feedforward='mole': .*'moe'"),
        ({"position": "absolute"}, "position='absolute': .*'relative_one_way'"),
        ({"qkv_width": 14}, "qkv_width=14: .*heads=3"),
        ({"qkv_width": 3, "position": "rotary"}, "head width 1: rotary encoding turns pairs"),
        ({"length": 1}, "buckets=1: .* 2 "),
        ({"length": 3, "position": "relative_both_ways"}, "buckets=3: .* 4 "),
        ({"layers": 0}, "layers=0: .* 1 "),
        ({"vocabulary": 23}, "inputs=7: .* 0 .* 0; with vocabulary=23"),
        ({"attention_dropout": 1}, "attention_dropout=1: .*share"),
        ({"dtype": "float16"}, "dtype='float16': .*'float32', 'bfloat16'"),
    ],
)
def test_configurations_are_checked(changes, message):
    assert_refused(message, small, **changes)


SHAPE = rf"\[{B}, {T}, 4\] and dtype float32; expected \[B, T up to 13, 7\]"
HIDDEN = "return_hidden=True with .*; expected a vocab"


@pytest.mark.parametrize(
    ("changes", "given", "message"),
    [
        ({}, {"tokens": jnp.zeros((B, T, 4))}, f"tokens have shape {SHAPE}"),
        ({}, {"tokens": jnp.zeros((B, 14, 7))}, r"shape \[2, 14, 7\]"),
        ({}, {"tokens": jnp.zeros((B, T, 7), jnp.int32)}, "dtype int32; .*of type floating"),
        *(({}, {"num_outputs": each}, f"num_outputs={each}: .* from 1 to {T}") for each in (0, T + 1, True)),
        ({}, {"return_hidden": True}, HIDDEN),
        (TEXT, {"return_hidden": True, "return_codes": True}, HIDDEN),
    ],
)
def test_calls_are_checked(changes, given, message):
    config = small(**changes)
    call = {"tokens": tokens_of(config), **given}
    assert_refused(message, Transformer(config).init, jax.random.key(0), **call)
