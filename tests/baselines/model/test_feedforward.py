"""The mixture of experts against a loop; the MLP is part of the mixer's loops. B=2, T=3, E=7, F=11, X=5."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from baselines.model.feedforward import MLP, Mixture, choose_experts, mixture
from helpers.derivatives import gelu

B, T, E, F, X = 2, 3, 7, 11, 5


def weights():
    rng = np.random.default_rng(0)
    shapes = {"x": (B, T, E), "gate": (E, X), "up": (X, E, F), "up_bias": (X, F)}
    shapes |= {"down": (X, F, E), "down_bias": (X, E)}
    return {name: rng.normal(size=shape) for name, shape in shapes.items()}


def loop(x, gate, up, up_bias, down, down_bias, chosen):
    out = np.zeros_like(x)
    for b in range(B):
        for t in range(T):
            logits = x[b, t] @ gate
            best = sorted(range(X), key=lambda expert: -logits[expert])[:chosen]
            total = sum(math.exp(logits[expert]) for expert in best)
            for i in best:
                hidden = gelu(x[b, t] @ up[i] + up_bias[i])
                out[b, t] += math.exp(logits[i]) / total * (hidden @ down[i] + down_bias[i])
    return out


def apply(x, gate, up, up_bias, down, down_bias, chosen):
    return mixture(x, gate, (up, up_bias), (down, down_bias), chosen)


@pytest.mark.parametrize("chosen", [1, 2, X])
def test_mixture_equals_a_loop(chosen, equals_loops):
    run, by_hand = (lambda arrays, of=of: of(**arrays, chosen=chosen) for of in (apply, loop))
    equals_loops(run, by_hand, weights())


def test_shares_by_hand():
    shares = choose_experts(jnp.array([[[0.0, math.log(3), -1.0, 0.0, -2.0]]]), 2)
    np.testing.assert_allclose(shares[0, 0], [0.25, 0.75, 0, 0, 0], rtol=1e-6)  # the first of equals wins


def test_experts_have_the_size_and_the_spread_of_the_mlp():
    wide = jnp.zeros((1, 1, 101))
    experts = jax.jit(Mixture(103).init)(jax.random.key(0), wide)["params"]
    single = jax.eval_shape(MLP(103).init, jax.random.key(0), wide)["params"]
    assert experts["gate"].shape == (101, X)
    for layer, fan_in in (("up", 101), ("down", 103)):
        for part in ("kernel", "bias"):
            assert experts[layer][part].shape == (X, *single[layer][part].shape)
        np.testing.assert_allclose(experts[layer]["kernel"].std(), fan_in**-0.5, rtol=0.03)
