"""The whole model: parameter counts, causality by gradient, latent codes, dropout, precision."""

import dataclasses
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from baselines.model.attention import ATTENTION
from baselines.model.mixing import multiply
from baselines.model.transformer import SelfAttention, Transformer, TransformerConfig
from sraven import ConfigurationError

SRAVEN = TransformerConfig(inputs=8, outputs=8, length=36, unidirectional_buckets=True)
FUZZY_LOGIC = TransformerConfig(
    inputs=5, outputs=1, length=32, layers=2, heads=8, qkv_width=16, unidirectional_buckets=True
)
LANGUAGE = TransformerConfig(
    inputs=0,
    outputs=0,
    vocabulary=32_000,
    length=1024,
    layers=6,
    width=512,
    heads=8,
    qkv_width=512,
    mlp_width=2048,
    position="rotary",
    causal=True,
)
TEXT = {"vocabulary": 23, "inputs": 0, "outputs": 0}
B, T = 2, 11


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
    shapes = jax.eval_shape(model.init, jax.random.key(0), tokens_of(config))
    rng = np.random.default_rng(1)
    return model, jax.tree.map(
        lambda leaf: jnp.asarray(0.3 * rng.normal(size=leaf.shape), leaf.dtype), shapes
    )


def parameters(config):
    """Return the shapes of all parameters."""
    tokens = jnp.zeros((1, 2), jnp.int32) if config.vocabulary else jnp.zeros((1, 2, config.inputs))
    return jax.eval_shape(Transformer(config).init, jax.random.key(0), tokens)["params"]


def count(tree):
    return sum(leaf.size for leaf in jax.tree.leaves(tree))


# Parameters ------------------------------------------------------------------------------------------


def expected_count(config, P, T):
    """Return the terms of the published code's count: P is the width over heads, T the positions."""
    E, F = 128, 256
    projections = 3 * (E * P + P) + (P * E + E)
    mlp, norms, table = (E * F + F) + (F * E + E), 2 * (E + E), config.heads * T
    ends = (config.inputs * E + E) + (E + E) + (E * config.outputs + config.outputs)
    return config.layers * (projections + table + mlp + norms) + ends


@pytest.mark.parametrize(
    ("config", "terms", "total"), [(SRAVEN, (64, 36), 402_824), (FUZZY_LOGIC, (16, 32), 151_265)]
)
def test_counts_of_the_published_code(config, terms, total):
    assert count(parameters(config)) == expected_count(config, *terms) == total


def test_count_of_the_language_model():
    """35.3 million, the table counted once."""
    block = 4 * (512 * 512 + 512) + (512 * 2048 + 2048) + (2048 * 512 + 512) + 4 * 512
    assert count(parameters(LANGUAGE)) == 32_000 * 512 + 6 * block + 2 * 512 == 35_299_328


@pytest.mark.parametrize("name", ATTENTION)
def test_attentions_have_the_same_parameters_but_for_deep_hyla(name):
    plain, other = parameters(small()), parameters(small(attention=name))
    extra = 3 * 2 * 2 if name == "hyla_deep" else 0
    assert count(other) == count(plain) + extra


def test_shapes():
    assert jax.tree.map(lambda leaf: leaf.shape, parameters(SRAVEN)["block_3"]) == {
        "attention": {
            **{name: {"kernel": (128, 16, 4), "bias": (16, 4)} for name in ("query", "key", "value")},
            "out": {"kernel": (16, 4, 128), "bias": (128,)},
            "position": (16, 36),
        },
        "feedforward": {
            "up": {"kernel": (128, 256), "bias": (256,)},
            "down": {"kernel": (256, 128), "bias": (128,)},
        },
        "norm_attention": {"scale": (128,), "bias": (128,)},
        "norm_feedforward": {"scale": (128,), "bias": (128,)},
    }


def test_initial_spread():
    """Kernels and tables have variance 1 / fan-in, biases are 0."""
    config = dataclasses.replace(SRAVEN, attention="hyla_deep")
    init = jax.jit(lambda key, x: SelfAttention(config).init(key, x, None, None))
    params = init(jax.random.key(0), jnp.zeros((1, 36, 128)))["params"]
    drawn = params["query"]["kernel"], params["out"]["kernel"], params["position"], params["deep"]
    for array, fan_in in zip(drawn, (128, 64, 36, 16 * 4), strict=True):
        np.testing.assert_allclose(array.std(), fan_in**-0.5, rtol=0.1)
    assert not any(params[name]["bias"].any() for name in ("query", "key", "value", "out"))


# What it computes --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changes",
    [
        {"attention": "softmax"},
        {"activation": "silu"},
        {"attention": "linear", "position": "rotary", "feedforward": "moe"},
        {"activation": "silu", "position": "rotary", "tile": 4},
    ],
)
def test_causality_by_gradient(changes):
    config = small(causal=True, **changes)
    model, params = initialised(config)
    at = 6

    @jax.jit
    def gradient(tokens):
        return jax.grad(lambda tokens: model.apply(params, tokens)[:, at].sum())(tokens)

    grad = gradient(tokens_of(config))
    assert grad[:, : at + 1].any(axis=(0, 2)).all()
    assert not grad[:, at + 1 :].any()


def test_all_tokens_see_all_without_causality():
    config = small(attention="linear")
    model, params = initialised(config)
    grad = jax.jit(jax.grad(lambda tokens: model.apply(params, tokens)[:, 6].sum()))(tokens_of(config))
    assert grad.any(axis=(0, 2)).all()


def test_masked_tokens_play_no_part():
    config = small(attention="softmax")
    model, params = initialised(config)
    tokens, mask = tokens_of(config), np.arange(T) != 3
    apply = jax.jit(lambda tokens: model.apply(params, tokens, mask=mask))
    other = apply(tokens.at[:, 3].add(1.0))
    assert (other == apply(tokens))[:, mask].all()


@pytest.mark.parametrize(
    "changes",
    [
        *({"attention": name, "attention_dropout": 0.3} for name in ATTENTION),
        {"causal": True, "position": "rotary"},
        {"causal": True, "tile": 4},
        {"tile": 4, "attention_dropout": 0.3, "layers": 2},
        {"attention": "linear", "causal": True, "tile": 4, **TEXT, "position": "rotary"},
        {"attention": "softmax", "feedforward": "moe", "rematerialise": True},
    ],
)
def test_what_is_asked_of_the_last_tokens_is_what_they_give_among_all(changes):
    """Outputs and gradients, with a mask of pairs, and with dropout where there is some."""
    config = small(**changes)
    model, params = initialised(config)
    tokens, key = tokens_of(config), jax.random.key(5)
    mask = np.random.default_rng(3).random((T, T)) < 0.8
    weights = jnp.asarray(np.random.default_rng(4).normal(size=(B, 3, config.vocabulary or 5)), jnp.float32)
    if config.vocabulary:  # this form takes no mask
        mask = None

    def loss(params, asked):
        out = model.apply(params, tokens, key, mask=mask, asked=asked)[:, -3:]
        return (jnp.sin(out) * weights).sum(), out

    (found, out), grads = jax.jit(jax.value_and_grad(partial(loss, asked=3), has_aux=True))(params)
    (wanted, whole), wanted_grads = jax.jit(jax.value_and_grad(partial(loss, asked=None), has_aux=True))(
        params
    )
    np.testing.assert_allclose(out, whole, rtol=1e-4, atol=1e-4 * np.abs(whole).max())
    np.testing.assert_allclose(found, wanted, rtol=1e-4)
    for grad, wanted_grad in zip(jax.tree.leaves(grads), jax.tree.leaves(wanted_grads), strict=True):
        np.testing.assert_allclose(grad, wanted_grad, rtol=0, atol=1e-4 * np.abs(wanted_grad).max() + 1e-6)


@pytest.mark.parametrize("asked", [0, T + 1, True])
def test_number_of_asked_tokens_is_checked(asked):
    config = small()
    with pytest.raises(ConfigurationError, match=f"asked={asked}: expected an integer from 1 to {T}"):
        Transformer(config).init(jax.random.key(0), tokens_of(config), asked=asked)


def test_tiles_change_nothing():
    plain, tiled = (small(attention="linear_rmshead", causal=True, tile=tile) for tile in (0, 4))
    model, params = initialised(plain)
    tokens, mask = tokens_of(plain), np.arange(T) != 3
    outs = [
        jax.jit(lambda tokens, model=model: model.apply(params, tokens, mask=mask))(tokens)
        for model in (model, Transformer(tiled))
    ]
    np.testing.assert_allclose(*outs, rtol=1e-4, atol=1e-4)


def test_latent_codes_of_all_layers():
    """Each layer's codes are normalised scores: their mean square over heads is 1."""
    config = small(layers=2)
    model, params = initialised(config)
    out, codes = jax.jit(lambda tokens: model.apply(params, tokens, return_scores=True))(tokens_of(config))
    assert out.shape == (B, T, 5)
    assert [layer.shape for layer in codes] == [(B, 3, T, T)] * 2
    for layer in codes:
        np.testing.assert_allclose(jnp.square(layer).mean(axis=1), 1, rtol=1e-2)


def test_buckets_of_the_published_code_hide_the_order_of_later_tokens():
    """Its buckets tell no two later keys apart: then swapping them changes nothing before them."""
    for changes, differs in (({}, True), ({"unidirectional_buckets": True}, False)):
        config = small(attention="linear", **changes)
        model, params = initialised(config)
        tokens, apply = tokens_of(config), jax.jit(model.apply)
        first, swapped = (
            apply(params, given)[:, :4] for given in (tokens, tokens.at[:, [8, 9]].set(tokens[:, [9, 8]]))
        )
        assert np.allclose(first, swapped, rtol=1e-4, atol=1e-5) != differs


def test_dropout_needs_a_key_and_follows_it():
    config = small(attention="linear", attention_dropout=0.5)
    model, params = initialised(config)
    apply = jax.jit(model.apply)
    tokens, keys = tokens_of(config), jax.random.split(jax.random.key(0))
    plain, *dropped = (apply(params, tokens, key) for key in (None, *keys, keys[0]))
    assert not np.allclose(dropped[0], plain)
    assert not np.allclose(dropped[0], dropped[1])
    assert (dropped[0] == dropped[2]).all()
    without = Transformer(small(attention="linear"))
    assert (jax.jit(without.apply)(params, tokens, keys[0]) == plain).all()


@pytest.mark.parametrize("changes", [{}, {**TEXT, "attention": "linear", "feedforward": "moe"}])
def test_half_precision(changes):
    """Parameters and outputs stay float32, and outputs near those of full precision."""
    full, half = small(**changes), small(dtype="bfloat16", **changes)
    model, params = initialised(full)
    tokens = tokens_of(full)
    wanted, found = (jax.jit(m.apply)(params, tokens) for m in (model, Transformer(half)))
    assert wanted.dtype == found.dtype == jnp.float32
    assert {leaf.dtype for leaf in jax.tree.leaves(parameters(half))} == {jnp.dtype(jnp.float32)}
    assert np.abs(found - wanted).max() < 0.1 * np.abs(wanted).max()


def test_half_precision_adds_up_the_gradient_of_a_frequent_token_in_full():
    """In bfloat16 a sum of equal numbers stops growing at 256 of them."""
    tokens = jnp.full((512, 5), 3, jnp.int32)

    def gradient(dtype):
        config = small(dtype=dtype, attention="linear", causal=True, position="rotary", **TEXT)
        model = Transformer(config)
        _, params = initialised(config)

        def loss(params):
            hidden = model.apply(params, tokens, return_hidden=True)
            return hidden[..., 0].sum(dtype=jnp.float32)

        return jax.jit(jax.grad(loss))(params)["params"]["embedding"][3]

    full, half = gradient("float32"), gradient("bfloat16")
    assert np.abs(half - full).max() < 0.05 * np.abs(full).max()


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_hidden_states_are_what_the_outputs_are_made_of(dtype):
    """Of the configuration's type, after the last LayerNorm: times the table, they are the outputs."""
    config = small(attention="linear", causal=True, dtype=dtype, **TEXT)
    model, params = initialised(config)
    tokens = tokens_of(config)
    hidden = jax.jit(partial(model.apply, return_hidden=True))(params, tokens)
    assert (hidden.shape, hidden.dtype) == ((B, T, 17), dtype)
    found = multiply(jnp.matmul, hidden, params["params"]["embedding"].T, dtype)
    wanted = jax.jit(model.apply)(params, tokens)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=0.05 if dtype == "bfloat16" else 1e-4)


@pytest.mark.parametrize(
    "changes", [{"attention_dropout": 0.2, "feedforward": "moe"}, {"causal": True, "tile": 4, **TEXT}]
)
def test_recomputing_blocks_changes_nothing(changes):
    """Neither parameters, as they are drawn, nor outputs nor gradients."""
    plain, anew = (small(rematerialise=rematerialise, **changes) for rematerialise in (False, True))
    model, other = Transformer(plain), Transformer(anew)
    tokens, key = tokens_of(plain), jax.random.key(5)
    params, same = (jax.jit(each.init)(key, tokens) for each in (model, other))
    jax.tree.map(np.testing.assert_array_equal, params, same)

    def loss(params, model):
        out, codes = model.apply(params, tokens, key, return_scores=True)
        return jnp.sin(out).sum() + sum(jnp.sin(layer).sum() for layer in codes if layer is not None)

    (wanted, grads), (found, grads_anew) = (
        jax.jit(jax.value_and_grad(partial(loss, model=each)))(params) for each in (model, other)
    )
    np.testing.assert_allclose(found, wanted, rtol=1e-5)
    jax.tree.map(partial(np.testing.assert_allclose, rtol=1e-4, atol=1e-4), grads_anew, grads)


def test_recomputing_blocks_keeps_less():
    """What is kept for the backward pass is the parameters and, of each block, its input.

    Told without the compiler: that for CPUs puts the recomputation where it saves nothing.
    """

    def bytes_of(layers, rematerialise):
        config = small(layers=layers, rematerialise=rematerialise, **TEXT)
        model, tokens = Transformer(config), tokens_of(config)
        params = jax.eval_shape(model.init, jax.random.key(0), tokens)
        back = jax.eval_shape(lambda params: jax.vjp(lambda p: model.apply(p, tokens), params)[1], params)
        return sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(back)) - 4 * count(params)

    one_input = 4 * B * T * 17
    of_a_layer, of_a_layer_anew = (bytes_of(3, anew) - bytes_of(2, anew) for anew in (False, True))
    assert of_a_layer > 15 * one_input
    assert of_a_layer_anew < 1.5 * one_input  # with what positions and masks are made of


def test_a_vocabulary_shares_its_table_with_the_output():
    config = small(attention="linear", causal=True, **TEXT)
    model, params = initialised(config)
    tokens = tokens_of(config)
    out = jax.jit(model.apply)(params, tokens)
    assert out.shape == (B, T, 23)
    assert params["params"]["embedding"].shape == (23, 17)
    assert "out" not in params["params"]


# Errors ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"attention": "hyla2"}, "attention='hyla2': did you mean 'hyla'"),
        ({"attention": "softmax", "tile": 4}, "attention='softmax': .*expected one of linear, hyla"),
        ({"activation": "swish"}, "activation='swish': .*expected one of relu, silu"),
        ({"feedforward": "mole"}, "feedforward='mole': did you mean 'moe'"),
        ({"position": "absolute"}, "position='absolute': expected one of 'relative', 'rotary'"),
        ({"qkv_width": 14}, "qkv_width=14: expected a multiple of heads=3"),
        ({"qkv_width": 3, "position": "rotary"}, "head width 1: rotary encoding turns pairs"),
        ({"length": 3}, "buckets=3: expected an integer from 4"),
        ({"layers": 0}, "layers=0: expected an integer from 1"),
        ({"vocabulary": 23}, "inputs=7: expected an integer from 0 to 0; with vocabulary=23"),
        ({"attention_dropout": 1}, "attention_dropout=1: expected a share"),
        ({"dtype": "float16"}, "dtype='float16': expected one of 'float32', 'bfloat16'"),
    ],
)
def test_configurations_are_checked(changes, message):
    with pytest.raises(ConfigurationError, match=message):
        small(**changes)


@pytest.mark.parametrize(("changes", "asked"), [({}, {}), (TEXT, {"return_scores": True})])
def test_hidden_states_need_a_vocabulary_and_come_alone(changes, asked):
    config = small(**changes)
    with pytest.raises(ConfigurationError, match=r"return_hidden=True with .*; expected a vocab"):
        Transformer(config).init(jax.random.key(0), tokens_of(config), return_hidden=True, **asked)


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        (
            jnp.zeros((B, T, 4)),
            r"tokens have shape \[2, 11, 4\] and dtype float32; expected \[B, T up to 13, 7\]",
        ),
        (jnp.zeros((B, 14, 7)), r"shape \[2, 14, 7\]"),
        (jnp.zeros((B, T, 7), jnp.int32), "dtype int32; .*of type floating"),
    ],
)
def test_tokens_are_checked(tokens, message):
    with pytest.raises(ConfigurationError, match=message):
        Transformer(small()).init(jax.random.key(0), tokens)
