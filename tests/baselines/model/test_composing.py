"""The network that composes, held against loops over permutations and triples in NumPy.

Axes have different sizes where they can: B=2 instances, M=2, 3 or 4 positions, K=5 symbols, E=6 channels,
codes of C=3.
"""

from functools import partial
from itertools import permutations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from baselines.encode import encoding_of
from baselines.model.composing import COMPOSING, Composing, mix_pairs
from baselines.model.config import TransformerConfig
from baselines.model.networks import make_network
from baselines.recipes import make_config
from baselines.train.experiment import program_of
from helpers.derivatives import draw, drawn, gelu
from helpers.refusals import assert_refused
from sraven.board.board import read_board

B, K, E, C = 2, 5, 6, 3
NAMES = tuple(COMPOSING)


def shape(M=3, **changes):
    sizes = {"inputs": K, "outputs": K, "length": 9 * M, "panel_tokens": M, "query_tokens": 3 * M}
    return TransformerConfig(**{**sizes, "width": E, "attention": "none", "dtype": "float64", **changes})


def panels(M):
    """Symbols of eight panels, ``[B, 8, M]``."""
    return np.random.default_rng(M).integers(0, K, (B, 8, M))


def one_hot(symbols_B8M):
    """Return them as the network takes them, with the empty panel after them."""
    tokens = np.eye(K)[symbols_B8M.reshape(len(symbols_B8M), -1)]
    return jnp.asarray(np.pad(tokens, ((0, 0), (0, symbols_B8M.shape[2]), (0, 0))))


def apply(model, params, symbols, **options):
    return np.asarray(jax.jit(partial(model.apply, **options))(params, one_hot(symbols)))


# By loops ----------------------------------------------------------------------------------------------


def dense(vector, params):
    return vector @ params["kernel"] + params["bias"]


def symbols_layer(symbols, params):
    return sum((params["kernel"][at, symbol] for at, symbol in enumerate(symbols)), params["bias"])


def layers(vector, params):
    for name in sorted(params):
        vector = dense(gelu(vector), params[name])
    return vector


def code_of(rows, params):
    if "rows" in params:
        first, second = (symbols_layer(row, params[f"row_{at}_symbols"]) for at, row in enumerate(rows, 1))
        return layers(first + second, params["rows"])
    return sum(layers(symbols_layer(row, params["row_symbols"]), params["row"]) for row in rows)


def read_triple(x, y, z, params):
    """Return a score, and a probability of each symbol, given three symbols of x and y and two of z."""
    code = code_of([(x[0], y[0], z[0]), (x[1], y[1], z[1])], params)
    inferred = layers(dense(code, params["infer_code"]), params["infer"])
    hidden = dense(inferred[:C], params["answer_rule"]) + symbols_layer(
        (x[2], y[2]), params["answer_symbols"]
    )
    logits = layers(hidden, params["answer"])
    return inferred[C], np.exp(logits) / np.exp(logits).sum()


def by_hand(name, params, panels_8M):
    """Return the answer's probabilities ``[M, K]`` of an instance."""
    M, params = panels_8M.shape[1], params["params"]["position"]
    column = [panels_8M[at::3] for at in range(3)]
    triples = {}
    for p, i, j in np.ndindex(M, M, M):
        own = jax.tree.map(lambda leaf: leaf[p], params) if name == "composing_rules_apart" else params  # noqa: B023
        triples[p, i, j] = read_triple(column[0][:, i], column[1][:, j], column[2][:, p], own)
    probabilities, total = np.zeros((M, K)), np.zeros((M, 1))
    if name == "composing_each_alone":
        for (p, _, _), (score, of_symbols) in triples.items():
            probabilities[p] += np.exp(score) * of_symbols
            total[p] += np.exp(score)
        return probabilities / total
    for first in permutations(range(M)):
        for second in permutations(range(M)):
            chosen = [triples[p, first[p], second[p]] for p in range(M)]
            weight = np.exp(sum(score for score, _ in chosen))
            total += weight
            probabilities += weight * np.array([of_symbols for _, of_symbols in chosen])
    return probabilities / total


@pytest.mark.parametrize(
    ("name", "M"), [*((name, 3) for name in NAMES), ("composing", 2), ("composing", 4), (NAMES[1], 5)]
)
def test_outputs_are_a_loop_over_permutations(name, M, float64):
    model, symbols = COMPOSING[name](shape(M)), panels(M)
    params = drawn(model, one_hot(symbols))
    assert ("rows" in params["params"]["position"]) == (name == "composing_one_mlp")
    wanted = np.log([by_hand(name, params, instance) for instance in symbols])
    found = apply(model, params, symbols)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-11)


def test_gradients_are_those_of_the_loop(equals_loops):
    """And the last outputs are what they are among all."""
    model, symbols = Composing(shape()), panels(3)[:1]
    params = drawn(model, one_hot(symbols))
    found = equals_loops(
        lambda params: model.apply(params, one_hot(symbols)),
        lambda params: np.log([by_hand("composing", params, instance) for instance in symbols]),
        params,
    )
    np.testing.assert_array_equal(apply(model, params, symbols, num_outputs=1), found[:, -1:])


def test_scores_that_leave_no_doubt_have_finite_gradients():
    sure = 200 * jnp.asarray(draw(B, 3, 9), jnp.float32)
    found, grad = jax.jit(jax.value_and_grad(lambda score: mix_pairs(score).min()))(sure)
    assert np.isfinite(found) and np.isfinite(grad).all()


# In the table, in training -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"attention": "hyla"}, "attention='hyla': Composing has none; leave it out"),
        ({"M": 5}, "M=5: Composing sums over all permutations of up to 4.*composing_each_alone takes more"),
        ({"inputs": K + 1}, "27 tokens of 6 numbers for 5.*SRAVEN's nine panels of one-hot symbols"),
        ({"panel_tokens": 1, "query_tokens": 1}, "27 tokens of 5 .* 1 a panel.*SRAVEN's nine panels"),
        ({"causal": True}, "causal=True: Composing reads"),
    ],
)
def test_what_it_cant_read_is_refused(changes, message):
    assert_refused(message, make_network, "composing", shape(**{"dtype": "float32", **changes}))


def test_other_tokens_are_refused():
    model = Composing(shape(dtype="float32"))
    assert_refused(
        r"shape \[1, 26, 5\]; expected \[B, 27, 5\]", model.init, jax.random.key(0), jnp.zeros((1, 26, K))
    )


def test_all_parameters_of_a_run_have_gradients():
    board = read_board("sraven-blocks3-v1")
    program = program_of(make_config(board, "none", network="composing", width=8), encoding_of(board.task))
    symbols = np.random.default_rng(0).integers(0, 8, (9, 9, 3), np.uint8)
    batch = {"context": jnp.asarray(symbols[:, :8]), "target": jnp.asarray(symbols[:, 8])}
    params = jax.jit(program.initialise_params)(jax.random.key(0))
    look = jax.jit(jax.value_and_grad(program.loss, has_aux=True))
    (loss, score), grads = look(params, batch, jax.random.key(1))
    assert np.isfinite(loss) and 0 <= score <= 1
    assert all(np.abs(grad).max() > 0 for grad in jax.tree.leaves(grads))
