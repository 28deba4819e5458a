"""HYLA's fused kernels, interpreted by JAX: values and gradients of the reference; and lowered for CUDA.

Axes have different primes: B=2, H=3, D=5, in tiles of 4 that divide no length but 8.
"""

from functools import partial
from inspect import signature

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AbstractDevice, AbstractMesh, use_abstract_mesh

from baselines.model.attention import ACTIVATIONS, ATTENTION, attend, find_value_network
from baselines.model.fast.pallas import hyla_pallas, key_tiles, query_tiles
from baselines.model.fast.pallas_kernels import VALUES
from baselines.model.implementations import AttentionCall, pallas
from helpers import derivatives
from helpers.derivatives import assert_runs_side_by_side, assert_same_values, values_and_gradients

B, H, D, TILE = 2, 3, 5, 4


def draw(*shape, dtype=jnp.float32):
    return jnp.asarray(derivatives.draw(*shape), dtype)


def compare(fused, plain, inputs, tolerance):
    found, wanted = (values_and_gradients(each, inputs) for each in (fused, plain))
    assert_same_values(found, wanted, tolerance)


@pytest.mark.parametrize(
    "changes",
    [
        {"queries": 8, "keys": 8, "phi": "silu"},
        {"queries": 3, "keys": 3, "bias": False, "name": "hyla_no_rmshead"},
        {"queries": 5, "width": VALUES + 3, "causal": False},
        {"keys": 5, "causal": False, "bias": False, "phi": "sigmoid"},
        {"causal": False, "bias": False, "gate": True},
        {"causal": False, "bias": False, "gate": True, "name": "hyla_no_rmshead"},
        {"bias": False, "width": D, "dtype": jnp.bfloat16, "tolerance": 0.03},
    ],
)
def test_values_and_gradients_of_the_plain_form(changes):
    """A gate, which is that of dropout, enters both mixes."""
    case = {"name": "hyla", "queries": 7, "keys": 7, "width": 3, "causal": True, "bias": True, "gate": False}
    case |= {"phi": "relu", "dtype": jnp.float32, "tolerance": 2e-5, **changes}
    name, causal, dtype, queries, keys = map(case.get, ("name", "causal", "dtype", "queries", "keys"))
    shapes = (B, queries, H, D), (B, keys, H, D), (B, keys, H, case["width"])
    bias = draw(H, queries, keys) if case["bias"] else None
    kept = np.random.default_rng(3).random((queries, keys)) < 0.6
    gate = jnp.asarray(kept, jnp.float32) / 0.6 if case["gate"] else None
    network = find_value_network(case["phi"])
    mask = jnp.asarray(np.tri(queries, keys, dtype=bool))[None, None] if causal else None
    options = {"activation": ACTIVATIONS[case["phi"]], "normalise": name == "hyla", "causal": causal}
    compare(
        lambda *arrays: hyla_pallas(*arrays, gate, **options, tile=TILE, interpret=True),
        lambda *arrays: attend(ATTENTION[name], *arrays, mask, network, gate)[0].astype(dtype),
        [*(draw(at, *each, dtype=dtype)[0] for at, each in enumerate(shapes, 1)), bias],
        case["tolerance"],
    )


def test_runs_side_by_side():
    runs = [[draw(at, run, B, 5, H, D)[0, 0] for at in (1, 2, 3)] for run in (1, 2)]
    assert_runs_side_by_side(partial(hyla_pallas, causal=True, tile=TILE, interpret=True), runs, 1e-5)


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize(("queries", "keys"), [(5, 5), (3, 5), (5, 3)])
def test_tiles_that_are_visited_are_those_that_see_one_another(queries, keys, causal):
    """By the pairs of positions of tiles of 3; by queries and by keys the same ones."""
    pairs = np.tri(3 * queries, 3 * keys) if causal else np.ones((3 * queries, 3 * keys))
    wanted = pairs.reshape(queries, 3, keys, 3).any(axis=(1, 3))
    by_query, by_key = np.zeros((2, queries, keys), bool)
    for i, (first, last) in enumerate(key_tiles(queries, keys, causal)):
        by_query[i, first:last] = True
    for j, (first, last) in enumerate(query_tiles(queries, keys, causal)):
        by_key[first:last, j] = True
    np.testing.assert_array_equal(by_query, wanted)
    np.testing.assert_array_equal(by_key, wanted)


# For a GPU ----------------------------------------------------------------------------------------------


def lowered_for_cuda(function, inputs):
    """Return what a function lowers to; where JAX calls CUDA's compiler next, which isn't here, nothing."""
    gpu = {"device_kind": "NVIDIA H100 80GB HBM3", "num_cores": 132, "platform": "gpu"}
    device = AbstractDevice(**{name: gpu[name] for name in signature(AbstractDevice).parameters})
    mesh = AbstractMesh((1,), ("x",), abstract_device=device)
    # JAX asks which GPU it is for, and its lowering promotes types.
    with use_abstract_mesh(mesh), jax.numpy_dtype_promotion("standard"):
        traced = jax.jit(function).trace(*inputs)
        try:
            return traced.lower(lowering_platforms=("cuda",)).as_text()
        except RuntimeError as error:
            if "does not have a Triton compilation handler" not in str(error):
                raise
            return ""


# JAX says so from 0.12 on, and so do the docs.
@pytest.mark.filterwarnings("ignore:The Pallas Triton backend is deprecated:DeprecationWarning")
@pytest.mark.parametrize(
    ("dtype", "heads", "width", "paired"), [(jnp.bfloat16, 3, 64, False), (jnp.float32, 2, 16, True)]
)
def test_kernels_lower_for_cuda(dtype, heads, width, paired):
    """To Triton's language, for which no GPU is needed: forward, and a kernel for each kind of gradient."""
    shape = jax.ShapeDtypeStruct((2, 50, heads, width), dtype)
    pairs = [jax.ShapeDtypeStruct((heads, 50, 50), dtype), jax.ShapeDtypeStruct((50, 50), jnp.float32)]
    inputs = [shape] * 3 + (pairs if paired else [])

    def total(query, key, value, *pairs):
        return hyla_pallas(query, key, value, *pairs, causal=True).sum()

    gradient = jax.grad(total, tuple(range(4 if paired else 3)))
    for function, kernels in ((total, 1), (gradient, 3 if paired else 2)):
        text = lowered_for_cuda(function, inputs)
        assert not text or text.count("@__gpu$xla.gpu.triton") == kernels
        assert f"tensor<2x{heads}x64x64x" not in text  # of scores of all pairs of 50 positions and padding


@pytest.mark.parametrize("name", ["hyla_linear", "hyla_no_rmshead"])
def test_normalisation_and_activation_are_those_of_the_entry(name, monkeypatch):
    interpreted = partial(hyla_pallas, tile=TILE, interpret=True)
    monkeypatch.setattr("baselines.model.fast.pallas.hyla_pallas", interpreted)
    arrays = [draw(at, B, 6, H, D)[0] for at in (1, 2, 3)]
    call = AttentionCall(ATTENTION[name], *arrays, None, None, find_value_network("silu"), None, causal=True)
    found, codes = pallas(call)
    assert codes is None
    wanted = ATTENTION[name](*arrays, mask=np.tri(6, dtype=bool), activation="silu")
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4 * np.abs(wanted).max())
