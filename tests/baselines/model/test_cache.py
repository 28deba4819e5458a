"""A sequence in pieces, each going on from a cache, gets the outputs of the whole sequence.

B=2 sequences of T=5 tokens in a cache of 7 positions; H=3, D=4.
"""

import functools
from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from baselines.model.transformer import Transformer
from helpers.small_models import TEXT, small
from sraven import ConfigurationError

B, T, H, D, LENGTH = 2, 5, 3, 4, 7


def model_of(**changes):
    shape = {"length": LENGTH, "qkv_width": H * D, "causal": True, "position": "rotary", **TEXT}
    return Transformer(small(**{**shape, **changes}))


def tokens_of(sequences=B, length=T):
    """On the host: JAX would compile a program for each part that is taken of them."""
    return np.random.default_rng(0).integers(23, size=(sequences, length), dtype=np.int32)


@functools.cache
def prepared(attention, **changes):
    """Return parameters, the outputs of the whole sequence, and a step that goes on from a cache."""
    model = model_of(attention=attention, **changes)
    shapes = jax.eval_shape(model.init, jax.random.key(0), tokens_of())
    assert set(shapes) == {"params"}
    rng = np.random.default_rng(1)
    params = jax.tree.map(lambda leaf: jnp.asarray(0.3 * rng.normal(size=leaf.shape), leaf.dtype), shapes)
    step = jax.jit(lambda variables, tokens: model.apply(variables, tokens, mutable=["cache"]))
    return params, jax.jit(model.apply)(params, tokens_of()), step


def in_pieces(attention, pieces, **changes):
    """Return the outputs of a sequence in pieces that end at some places, those wanted, and the cache."""
    params, wanted, step = prepared(attention, **changes)
    cache, outs = {}, []
    for start, end in pairwise((0, *pieces, T)):
        out, cache = step({**params, **cache}, tokens_of()[:, start:end])
        outs.append(out)
    return np.concatenate(outs, axis=1), wanted, cache["cache"]


@pytest.mark.parametrize("name", ["softmax", "hyla", "linear"])
@given(cuts=st.sets(st.integers(1, T - 1)))
@settings(max_examples=4, deadline=None)
def test_any_pieces(name, cuts):
    found, wanted, _ = in_pieces(name, sorted(cuts))
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        *((name, {}) for name in ("linear_rmshead_nonlinear", "hyla_deep")),
        ("linear", {"tile": 3}),
        ("hyla", {"tile": 3}),
        ("softmax", {"rematerialise": True, "feedforward": "moe", "layers": 2}),
        ("hyla", {"activation": "sigmoid"}),
    ],
)
def test_a_prompt_and_then_one_by_one(name, changes):
    found, wanted, cache = in_pieces(name, (3, 4), **changes)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)
    assert {int(layer["attention"]["position"]) for layer in cache.values()} == {T}


@pytest.mark.parametrize("name", ["softmax", "linear"])
def test_half_precision(name):
    found, wanted, cache = in_pieces(name, (3, 4), dtype="bfloat16")
    assert np.abs(found - wanted).max() < 0.05 * np.abs(wanted).max()
    kept = {key: array for key, array in cache["block_0"]["attention"].items() if key != "position"}
    keys = (B, LENGTH, H, D), "bfloat16"
    wanted = {"keys": keys, "values": keys} if name == "softmax" else {"state": ((B, H, D, D), "float32")}
    assert {key: (array.shape, array.dtype.name) for key, array in kept.items()} == wanted


@pytest.mark.parametrize(
    ("name", "first", "length"), [("softmax", T, LENGTH), ("linear", LENGTH, 2 * LENGTH)]
)
def test_the_last_position_is_as_good_as_the_others_and_a_state_has_no_end(name, first, length):
    """Linear attention goes on beyond what a cache of keys could hold."""
    params, _, step = prepared(name)
    tokens = tokens_of(length=length)
    wanted = jax.jit(model_of(attention=name, length=length).apply)(params, tokens)
    _, cache = step(params, tokens[:, :first])
    found, _ = step({**params, **cache}, tokens[:, first:])
    np.testing.assert_allclose(found, np.asarray(wanted)[:, first:], rtol=1e-4, atol=1e-4)


# Errors ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "options", "message"),
    [
        ({"causal": False}, {}, "causal=False, position='rotary' with a cache; expected True and 'rotary'"),
        ({"position": "relative_one_way"}, {}, "position='relative_one_way' with a cache; expected True and"),
        ({}, {"mask": np.ones(T, bool)}, "mask with a cache"),
        ({}, {"return_codes": True}, "return_codes with a cache"),
        ({}, {"edit_codes": lambda layer, codes: codes}, "edit_codes with a cache"),
        ({}, {"dropout_key": jax.random.key(0)}, "dropout_key with a cache"),
    ],
)
def test_what_a_cache_is_not_for(changes, options, message):
    model = model_of(**changes)
    params = jax.eval_shape(model.init, jax.random.key(0), tokens_of())
    with pytest.raises(ConfigurationError, match=message):
        jax.eval_shape(lambda params: model.apply(params, tokens_of(), mutable=["cache"], **options), params)
