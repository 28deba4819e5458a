"""Attention of instances side by side equals the reference, values and gradients, on any number of threads.

Axes have different primes: B=17 (one block and an instance), H=2, D=3, A=7 outputs of T=11 tokens.
"""

from functools import partial
from hashlib import sha256
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from baselines.model.attention import ATTENTION, RELU
from baselines.model.fast.lanes import lane_attention
from baselines.model.implementations import IMPLEMENTATIONS, AttentionCall
from helpers.derivatives import assert_same_values, draw, values_and_gradients
from helpers.python import python

B, H, D, A, T = 17, 2, 3, 7, 11
APART = ("softmax", "linear", "hyla", "hyla_linear_no_rmshead")
"""Of those that are computed in lanes, some that share neither normalisation nor activation."""


draw = partial(draw, dtype=np.float32)


def arrays(instances=B):
    return draw(instances, A, H, D), draw(instances, T, H, D), draw(instances, T, H, D, seed=1), draw(H, A, T)


def gate():
    return np.random.default_rng(3).integers(2, size=(A, T)).astype(np.float32) / np.float32(0.5)


def in_lanes(name, *inputs):
    return lane_attention(ATTENTION[name], *inputs, gate())


def reference(name, *inputs):
    return ATTENTION[name](*inputs, gate_QK=gate())[0]


@pytest.mark.parametrize(("name", "instances"), [*((name, B) for name in APART), ("hyla", 32)])
def test_values_and_gradients_are_those_of_the_reference(name, instances):
    inputs = arrays(instances)
    found, wanted = (values_and_gradients(partial(each, name), inputs) for each in (in_lanes, reference))
    assert_same_values(found, wanted, 1e-5)


@pytest.mark.parametrize(("name", "wide"), [("softmax", False), ("hyla", False), ("hyla", True)])
def test_a_call_without_bias_and_dropout(name, wide):
    """Also where JAX makes arrays float64 unless told otherwise."""
    *given, _ = map(jnp.asarray, arrays())
    with jax.enable_x64(wide):
        found = IMPLEMENTATIONS["lanes"].compute(AttentionCall(ATTENTION[name], *given, None, RELU, None))
    wanted, _ = ATTENTION[name](*given)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-4)


@pytest.mark.parametrize("name", ["softmax", "hyla"])
def test_types_and_shapes_that_differ_are_made_alike_before_addresses_count(name):
    """Compiled code would read beyond what is shorter: keys of 16 bits, one bias or gate for all."""
    query, key, value, bias = arrays()
    halves = [jnp.asarray(array, jnp.bfloat16) for array in (key, value)]
    found = lane_attention(ATTENTION[name], query, *halves, bias[:, :1, :1], np.float32(2))
    whole = [np.asarray(array, np.float32) for array in halves]
    biases = np.broadcast_to(bias[:, :1, :1], bias.shape)
    wanted = lane_attention(ATTENTION[name], query, *whole, biases, np.full((A, T), 2, np.float32))
    np.testing.assert_array_equal(found, wanted)
    with pytest.raises(ValueError, match="expected"):
        lane_attention(ATTENTION[name], query, key[:, :-1], value, bias, gate())


def test_scores_so_large_that_most_weights_vanish():
    """What a softmax leaves of them is exact: e^x is 0 or 1 there."""
    query, key, value, bias = arrays()
    inputs = 300 * query, key, value, bias
    found, wanted = in_lanes("softmax", *inputs), reference("softmax", *inputs)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-3)


@pytest.mark.parametrize("name", APART)
@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_what_is_no_number_stays_so_in_its_instance_alone(name, number):
    query, *rest = arrays()
    query[2, 3, 1, 2] = number
    finite = np.isfinite(in_lanes(name, query, *rest)).all(axis=(1, 2, 3))
    assert not finite[2]
    assert finite[[*range(2), *range(3, B)]].all()


ON_ONE_PROCESSOR = """
import os, sys
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])
sys.path[:0] = sys.argv[1:]
from test_lanes import digest_of_many
print(digest_of_many())
"""


def digest_of_many():
    """Return a digest of HYLA's output for eleven blocks and its gradients, but the bias's: XLA sums it."""
    *found, _ = values_and_gradients(partial(in_lanes, "hyla"), arrays(16 * 11))
    return sha256(b"".join(np.asarray(array).tobytes() for array in found)).hexdigest()


@pytest.mark.long
def test_the_number_of_threads_changes_no_bit():
    """JAX takes as many threads as it may use processors, so another number has a process of its own."""
    run = python("-c", ON_ONE_PROCESSOR, Path(__file__).parent, Path(__file__).parents[2], check=True)
    assert run.stdout.strip() == digest_of_many()
