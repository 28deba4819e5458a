"""Attention computed in lanes equals the plain form, in value and every gradient, on any number of threads.

Axes have different primes: B=17 (one block and an instance), H=3, D=5, A=7 asked of T=11 tokens.
"""

import os
import subprocess
import sys
from dataclasses import replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from baselines.model.attention import ATTENTION, attend, find_network
from baselines.model.fast.lanes import NAMES, attend_in_lanes, is_known
from baselines.model.forms import Call, find_form

B, H, D, A, T = 17, 3, 5, 7, 11


def draw(*shape, seed=0):
    return np.random.default_rng([seed, *shape]).normal(size=shape).astype(np.float32)


def arrays(instances=B):
    return draw(instances, A, H, D), draw(instances, T, H, D), draw(instances, T, H, D, seed=1), draw(H, A, T)


def gate():
    return np.random.default_rng(3).integers(2, size=(A, T)).astype(np.float32) / np.float32(0.5)


def values_and_gradients(compute, inputs):
    def weighted(*inputs):
        out = compute(*inputs)
        return (out * draw(*out.shape)).sum(), out

    (_, out), grads = jax.jit(jax.value_and_grad(weighted, (0, 1, 2, 3), has_aux=True))(*inputs)
    return out, *grads


def in_lanes(name, *inputs):
    return attend_in_lanes(name, *inputs, gate())


def plain(name, *inputs):
    return attend(ATTENTION[name], *inputs, None, find_network("relu"), gate())[0]


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


@pytest.mark.parametrize("instances", [1, B, 32])
def test_values_and_gradients_are_those_of_the_plain_form(name, instances):
    inputs = arrays(instances)
    found, wanted = (values_and_gradients(partial(form, name), inputs) for form in (in_lanes, plain))
    for array, expected in zip(found, wanted, strict=True):
        assert array.shape == expected.shape
        scale = np.abs(expected).max()
        np.testing.assert_allclose(array / scale, expected / scale, rtol=0, atol=1e-5)


def test_scores_so_large_that_most_weights_vanish():
    """What a softmax leaves of them is exact: e^x is 0 or 1 there."""
    query, key, value, bias = arrays()
    inputs = 300 * query, key, value, bias
    found, wanted = in_lanes("softmax", *inputs), plain("softmax", *inputs)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-3)


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_what_is_no_number_stays_so_in_its_instance_alone(name, number):
    query, *rest = arrays()
    query[2, 3, 1, 4] = number
    finite = np.isfinite(in_lanes(name, query, *rest)).all(axis=(1, 2, 3))
    assert not finite[2]
    assert finite[[*range(2), *range(3, B)]].all()


BITS = """
import os, sys
folder, count = sys.argv[1:]
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:int(count)])
sys.path.insert(0, folder)

from functools import partial
from hashlib import sha256
import numpy as np
from test_lanes import arrays, in_lanes, values_and_gradients

digest = sha256()
for name in ("softmax", "hyla"):
    for array in values_and_gradients(partial(in_lanes, name), arrays(16 * 11)):
        digest.update(np.asarray(array).tobytes())
print(digest.hexdigest())
"""


def test_the_number_of_threads_changes_no_bit():
    """JAX takes as many threads as it may use processors, so each number has a process of its own."""
    line = [sys.executable, "-c", BITS, os.path.dirname(__file__)]
    runs = [subprocess.run([*line, count], check=True, capture_output=True) for count in ("1", "64")]
    assert runs[0].stdout == runs[1].stdout


# Which calls are computed so -------------------------------------------------------------------------


def call_of(attention, **changes):
    query, key, value, bias = map(jnp.asarray, arrays())
    given = {"attention": attention, "query": query, "key": key, "value": value, "bias": bias, "mask": None}
    return Call(**{**given, "network": find_network("relu"), **changes})


def test_attentions_that_name_the_form():
    assert tuple(name for name, entry in ATTENTION.items() if "lanes" in entry.forms) == NAMES


def test_a_call_without_bias_and_one_with_dropout(name):
    assert is_known()
    for changes in ({"bias": None}, {"dropout_rate": 0.5, "dropout_key": jax.random.key(0)}):
        call = call_of(ATTENTION[name], **changes)
        assert find_form(call).__name__ == "lanes"
        expected = attend(call.attention, *call.arrays, call.bias, None, call.network, call.gate)[0]
        np.testing.assert_allclose(find_form(call)(call)[0], expected, rtol=0, atol=1e-4)


WIDE = jnp.asarray(draw(B, T, H, 17))


@pytest.mark.parametrize(
    "changes",
    [
        {"causal": True},
        {"mask": jnp.ones((1, 1, A, T), bool)},
        {"return_scores": True},
        {"value": WIDE},
        {"query": WIDE, "key": WIDE, "value": WIDE, "bias": None},
        {"query": jnp.zeros((B, A, H, D), jnp.bfloat16)},
        {"network": find_network("silu")},
        dict(zip(("query", "key", "value"), map(jnp.asarray, arrays(15)[:3]), strict=True)),
    ],
)
def test_what_is_not_computed_so(changes):
    assert find_form(call_of(ATTENTION["hyla"], **changes)).__name__ == "plain"


def test_an_attention_of_ones_own_is_not_computed_so():
    own = replace(ATTENTION["hyla"], forms=())
    assert find_form(call_of(own)).__name__ == "plain"
