"""Sparse-coding attention against loops written from its equations: values, gradients, dropout.

Axes have different sizes: B=2 instances, E=7 channels, H=3 heads, D=2, T=12 tokens.
"""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from baselines.model.attention import dropout_gate
from baselines.model.sparse_coding import THRESHOLD, SparseCodingAttention, add_context, soft_threshold
from baselines.model.transformer import Transformer, TransformerConfig
from helpers.derivatives import draw
from sraven import ConfigurationError

B, E, H, D, T, PANEL = 2, 7, 3, 2, 12, 3
ONE_WAY, BOTH_WAYS = "relative_one_way", "relative_both_ways"


def shape(panel_tokens=PANEL, **changes):
    sizes = {"inputs": 5, "outputs": 3, "length": T, "layers": 1, "width": E, "heads": H, "qkv_width": H * D}
    return TransformerConfig(
        **{**sizes, "mlp_width": 11, "attention": "sparse_coding", "panel_tokens": panel_tokens, **changes}
    )


def drawn(config, dtype=np.float64):
    """Return parameters, biases and λ too, and tokens; their coefficients fall on both sides of ξ."""
    shapes = jax.eval_shape(
        SparseCodingAttention(config).init, jax.random.key(0), jnp.zeros((1, T, E)), None, None
    )["params"]
    leaves, tree = jax.tree.flatten(shapes)
    params = [0.6 * draw(*leaf.shape, seed=at).astype(dtype) for at, leaf in enumerate(leaves)]
    return jax.tree.unflatten(tree, params), draw(B, T, E).astype(dtype)


# The oracle: plain loops -----------------------------------------------------------------------------


def bucket(query, key, position):
    """The bias's column: distances to earlier keys, large ones together; later ones apart, or as the own."""
    back, buckets = query - key, T
    if position == BOTH_WAYS:
        buckets //= 2
        return (buckets if back < 0 else 0) + bucket_of(abs(back), buckets)
    return bucket_of(max(0, back), buckets)


def bucket_of(distance, buckets):
    exact = buckets // 2
    if distance < exact:
        return distance
    return exact + int(math.log(distance / exact) / math.log(T / exact) * (buckets - exact) + 1e-9)


def relu(vector):
    return [max(x, 0.0) for x in vector]


def project(x_TE, layer, token, h):
    """A head's query, key or value of a token."""
    kernel, bias = layer["kernel"], layer["bias"]
    return [sum(x_TE[token, e] * kernel[e, h, d] for e in range(E)) + bias[h, d] for d in range(D)]


def oracle(params, x_TE, panel, position=ONE_WAY, gate_QK=None):
    """Return the output of one instance ``[T, E]``, and its coefficients ``[H, T, T]``."""
    out, table = params["out"], params["position"]
    codes = np.zeros((H, T, T))
    decoded = np.zeros((H, T, D))
    for h in range(H):
        for k in range(T):
            atom = relu(project(x_TE, params["key"], k, h))
            decoded[h, k] = relu(project(x_TE, params["value"], k, h))
            for q in range(T):
                query = project(x_TE, params["query"], q, h)
                score = sum(query[d] * atom[d] for d in range(D)) / D**0.5
                score += table[h, bucket(q, k, position)]
                codes[h, q, k] = math.copysign(max(abs(score) - THRESHOLD, 0.0), score)
    for h in range(H):
        for m in range(panel):
            for k in range(T):
                added = 0.0
                for i in range(T // panel - 1):
                    added += params["scale"][i] * codes[h, i * panel + m, k]
                codes[h, T - panel + m, k] += added
    result = np.zeros((T, E))
    for q in range(T):
        for h in range(H):
            for d in range(D):
                kept = codes[h, q] * (1 if gate_QK is None else gate_QK[q])
                summed = sum(kept[k] * decoded[h, k, d] for k in range(T))
                result[q] += summed * out["kernel"][h, d]
        result[q] += out["bias"]
    return result, codes


# Against them ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("position", [ONE_WAY, BOTH_WAYS])
@pytest.mark.parametrize("panel_tokens", [1, PANEL, T])
def test_values_are_those_of_plain_loops(panel_tokens, position, float64):
    config = shape(panel_tokens, dtype="float64", position=position)
    params, x_BTE = drawn(config)
    assert params["scale"].shape == (T // panel_tokens - 1,)
    module = SparseCodingAttention(config, return_codes=True)
    out, codes = jax.jit(module.apply)({"params": params}, jnp.asarray(x_BTE), None, None)
    wanted = [oracle(params, each, panel_tokens, position) for each in x_BTE]
    np.testing.assert_allclose(out, [each for each, _ in wanted], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(codes, [each for _, each in wanted], rtol=1e-12, atol=1e-12)
    if panel_tokens < T:
        assert (np.asarray(codes)[:, :, :-panel_tokens] == 0).any()  # ξ takes whole coefficients away


@pytest.mark.parametrize("panel_tokens", [1, PANEL])
def test_gradients_are_differences_of_values(panel_tokens, float64):
    """Along random directions, in all parameters and tokens at once; no kink is that near."""
    config = shape(panel_tokens, dtype="float64")
    arrays = drawn(config)
    weights = draw(B, T, E, seed=9)
    module = SparseCodingAttention(config)

    def total(arrays):
        params, x_BTE = arrays
        return (module.apply({"params": params}, x_BTE, None, None)[0] * weights).sum()

    arrays = jax.tree.map(jnp.asarray, arrays)
    gradient, total = jax.jit(jax.grad(total))(arrays), jax.jit(total)
    assert all(jnp.abs(leaf).max() > 1e-3 for leaf in jax.tree.leaves(gradient))
    step = 1e-7
    for seed in range(5):
        direction = jax.tree.map(lambda leaf, seed=seed: jnp.asarray(draw(*leaf.shape, seed=seed)), arrays)

        def moved(by, direction=direction):
            return total(jax.tree.map(lambda leaf, d: leaf + by * d, arrays, direction))

        products = jax.tree.map(lambda g, d: (g * d).sum(), gradient, direction)
        slope = (moved(step) - moved(-step)) / (2 * step)
        np.testing.assert_allclose(sum(jax.tree.leaves(products)), slope, rtol=1e-5)


def test_dropout_is_the_last_step(float64):
    config = shape(dtype="float64", attention_dropout=0.4)
    params, x_BTE = drawn(config)
    key = jax.random.key(3)
    module = SparseCodingAttention(config, return_codes=True)
    out, codes = jax.jit(module.apply)({"params": params}, jnp.asarray(x_BTE), None, key)
    gate_QK = np.asarray(dropout_gate(0.4, key, T, T, jnp.float64))
    assert 0.2 < (gate_QK == 0).mean() < 0.6
    for b in range(B):
        wanted, wanted_codes = oracle(params, x_BTE[b], PANEL, gate_QK=gate_QK)
        np.testing.assert_allclose(out[b], wanted, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(codes[b], wanted_codes, rtol=1e-12, atol=1e-12)


def test_the_context_counts_by_its_mean_at_first():
    initialise = jax.jit(SparseCodingAttention(shape()).init)
    params = initialise(jax.random.key(0), jnp.zeros((1, T, E)), None, None)["params"]
    np.testing.assert_allclose(params["scale"], 1 / 3)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"panel_tokens": 5}, "12 tokens: sparse-coding attention is for all 12, in panels of 5"),
        ({"length": 15}, "12 tokens: sparse-coding attention is for all 15, in panels of 3"),
    ],
)
def test_sequences_of_other_panels_are_refused(changes, message):
    with pytest.raises(ConfigurationError, match=message):
        jax.eval_shape(Transformer(shape(**changes)).init, jax.random.key(0), jnp.zeros((1, T, 5)))


# Its parts -------------------------------------------------------------------------------------------


def test_what_is_small_becomes_zero():
    found = soft_threshold(jnp.asarray([-1.0, -0.25, -0.1, 0.0, 0.25, 0.5]), 0.25)
    np.testing.assert_allclose(found, [-0.75, 0, 0, 0, 0, 0.25])


def test_the_context_is_added_token_by_token():
    """Three panels of two tokens: the last two get their own, and 10 and 100 times the others'."""
    codes = jnp.arange(6.0)[None, None, :, None] * jnp.ones((1, 1, 6, 6))
    found = add_context(codes, jnp.asarray([10.0, 100.0]), 2)
    assert found[0, 0, :, 0].tolist() == [0, 1, 2, 3, 4 + 200, 5 + 10 + 300]
