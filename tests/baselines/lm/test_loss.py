"""Cross-entropy in pieces is that of all logits at once, worked out in float64 by NumPy."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from baselines.lm.loss import mean_loss, token_losses
from helpers.compiling import quick_compilation

with_gradients = jax.value_and_grad(mean_loss, argnums=(0, 1), has_aux=True)


@partial(jax.value_and_grad, argnums=(0, 1), has_aux=True)
def of_thrice(*arrays):
    """Three times the mean loss, whose gradients are three times as large; and what there is."""
    loss, share = mean_loss(*arrays)
    return 3 * loss, (loss, share)


@pytest.fixture(scope="module", autouse=True)
def _quick_compilation():
    with quick_compilation():
        yield


def drawn(B, T, E, N, seed=0):
    rng = np.random.default_rng(seed)
    hidden, table = rng.normal(size=(B, T, E)), rng.normal(size=(N, E))
    return hidden.astype(np.float32), table.astype(np.float32), rng.integers(0, N, (B, T)).astype(np.int32)


def oracle(hidden, table, targets):
    """Loss and whether it is right, of each token; gradients of the mean loss."""
    hidden, table = hidden.astype(np.float64), table.astype(np.float64)
    logits_BTN, is_target_BTN = hidden @ table.T, np.eye(len(table), dtype=bool)[targets]
    shares_BTN = np.exp(logits_BTN - logits_BTN.max(axis=-1, keepdims=True))
    shares_BTN /= shares_BTN.sum(axis=-1, keepdims=True)
    of_targets = [each[is_target_BTN].reshape(targets.shape) for each in (shares_BTN, logits_BTN)]
    errors_BTN = (shares_BTN - is_target_BTN) / targets.size
    grads = errors_BTN @ table, np.einsum("btn,bte->ne", errors_BTN, hidden)
    return -np.log(of_targets[0]), of_targets[1] == logits_BTN.max(axis=-1), *grads


@settings(deadline=None, max_examples=6)
@given(st.integers(1, 3), st.integers(1, 6), st.integers(1, 20), st.integers(0, 5))
def test_losses_and_gradients_are_those_of_all_logits_at_once(B, T, at_once, seed):
    hidden, table, targets = drawn(B, T, 3, 5, seed)
    losses, right, grad_hidden, grad_table = oracle(hidden, table, targets)
    found, ((_, (loss, share)), grads), (mean, _) = jax.jit(
        lambda *arrays: [each(*arrays, at_once) for each in (token_losses, of_thrice, mean_loss)]
    )(hidden, table, targets)
    np.testing.assert_allclose(found.loss, losses, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(found.right, right)
    assert (loss, share) == (pytest.approx(losses.mean(), rel=1e-5), pytest.approx(right.mean()))
    np.testing.assert_allclose(grads[0], 3 * grad_hidden, rtol=1e-4, atol=3e-6)
    np.testing.assert_allclose(grads[1], 3 * grad_table, rtol=1e-4, atol=3e-6)
    assert mean == pytest.approx(losses.mean(), rel=1e-5)


def test_a_loss_worked_by_hand_and_of_large_logits():
    hidden, table = jnp.array([[[1.0], [0.0]]]), jnp.array([[0.0], [np.log(3.0)]])
    losses = jax.jit(token_losses)(hidden, table, jnp.array([[0, 1]]))
    np.testing.assert_allclose(losses.loss, [[np.log(4), np.log(2)]], rtol=1e-6)
    assert losses.right.tolist() == [[False, True]]  # of equally likely pieces, each is right
    large, table = jnp.full((1, 2, 1), 1e4), jnp.array([[1.0], [-1.0]])
    assert jax.jit(token_losses)(large, table, jnp.array([[0, 1]])).loss.tolist() == [[0, 2e4]]


def test_bfloat16_multiplies_and_float32_adds_up():
    hidden, table, targets = drawn(4, 16, 32, 100)
    exact = jax.jit(with_gradients)(0.2 * hidden, table, targets)
    half = jnp.asarray(0.2 * hidden, jnp.bfloat16)
    found = jax.jit(partial(with_gradients, at_once=8))(half, table, targets)
    assert found[0][0].dtype == found[1][1].dtype == jnp.float32
    assert found[1][0].dtype == jnp.bfloat16
    assert float(found[0][0]) == pytest.approx(float(exact[0][0]), rel=1e-2)
    np.testing.assert_allclose(found[1][1], exact[1][1], atol=2e-4)


@pytest.mark.parametrize(("rows", "at_once"), [(4, 64), (4, 256)])
def test_memory_grows_with_the_tokens_at_a_time_and_not_with_all(rows, at_once):
    pieces, width = 4096, 8
    hidden = jax.ShapeDtypeStruct((rows, 512, width), jnp.float32)
    table = jax.ShapeDtypeStruct((pieces, width), jnp.float32)
    targets = jax.ShapeDtypeStruct((rows, 512), jnp.int32)
    grad = jax.jit(jax.grad(lambda x, w, y: mean_loss(x, w, y, at_once)[0], argnums=(0, 1)))
    used = grad.lower(hidden, table, targets).compile().memory_analysis().temp_size_in_bytes
    assert used < 4 * at_once * pieces * 4 + (1 << 20) < rows * 512 * pieces * 4
