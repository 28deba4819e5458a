"""Cross-entropy over a large vocabulary, some positions at a time: all logits never exist at once.

With B = 256, T = 512 and 32,101 pieces they would take 17 GB, and their gradient as much. Here a few
positions of every instance make logits, losses and, if they are wanted, gradients, one after the other. The
products are as many as without.

Letters: B instances, T positions, R rows at a time (C positions of each instance), E width, N pieces.
"""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from baselines.model.products import accumulator, matmul

Array = jax.Array

AT_ONCE, AT_ONCE_ON_CPU = 2048, 256
"""Tokens whose logits exist at a time on a device, over all instances; one position of each at least."""


class Losses(NamedTuple):
    """Of each token, ``[B, T]``.

    Attributes:
        loss: float32, in nats: -log of the target's probability.
        right: bool, whether no piece is likelier.
    """

    loss: Array
    right: Array


def _positions(targets_BT: Array, at_once: int) -> int:
    """Return how many positions of an instance are taken at a time: they divide T."""
    B, T = targets_BT.shape
    most = max(1, min(T, at_once // B))
    return max(count for count in range(1, most + 1) if T % count == 0)


def _cut(array: Array, positions: int) -> Array:
    """Return ``[B, T, ...]`` as ``[T / C, R, ...]``: rows, of C positions of each instance."""
    B, T = array.shape[:2]
    pieces = array.reshape(B, T // positions, positions, *array.shape[2:]).swapaxes(0, 1)
    return pieces.reshape(T // positions, B * positions, *array.shape[2:])


def _join(array: Array, like_BT: Array) -> Array:
    """Return ``[T / C, R, ...]`` as ``[B, T, ...]``."""
    B, T = like_BT.shape
    return array.reshape(len(array), B, -1, *array.shape[2:]).swapaxes(0, 1).reshape(B, T, *array.shape[2:])


def _losses(logits_RN: Array, targets_R: Array) -> tuple[Losses, Array]:
    """Return the losses of some rows, and the logarithms of the sums of their exponentials."""
    highest_R = logits_RN.max(axis=-1)
    log_sum_R = highest_R + jnp.log(jnp.exp(logits_RN - highest_R[:, None]).sum(axis=-1))
    chosen_R = jnp.take_along_axis(logits_RN, targets_R[:, None], axis=-1)[:, 0]
    return Losses(log_sum_R - chosen_R, chosen_R >= highest_R), log_sum_R


def token_losses(hidden_BTE: Array, table_NE: Array, targets_BT: Array, at_once: int = AT_ONCE) -> Losses:
    """Return the cross-entropy of each token: for evaluation, without gradients.

    Args:
        hidden_BTE: last hidden states; their type is what logits are multiplied in.
        table_NE: float32, of the embedding: logits are hidden · table.
        targets_BT: integers below N.
        at_once: tokens whose logits exist at a time.
    """
    positions, table_EN = _positions(targets_BT, at_once), table_NE.T

    def losses(piece: tuple[Array, Array]) -> Losses:
        hidden_RE, targets_R = piece
        return _losses(matmul(hidden_RE, table_EN, hidden_RE.dtype), targets_R)[0]

    pieces = jax.lax.map(losses, (_cut(hidden_BTE, positions), _cut(targets_BT, positions)))
    return Losses(*(_join(array, targets_BT) for array in pieces))


@partial(jax.custom_vjp, nondiff_argnums=(3,))
def mean_loss(
    hidden_BTE: Array, table_NE: Array, targets_BT: Array, at_once: int = AT_ONCE
) -> tuple[Array, Array]:
    """Return the mean cross-entropy of all tokens and the share that are right: float32 scalars.

    Its gradients, added up in float32 or better, are computed along with it, since the logits are there.

    Args:
        hidden_BTE: last hidden states; their type is what is multiplied in.
        table_NE: float32, of the embedding: logits are hidden · table.
        targets_BT: integers below N.
        at_once: tokens whose logits exist at a time.
    """
    losses = token_losses(hidden_BTE, table_NE, targets_BT, at_once)
    return losses.loss.mean(), losses.right.mean(dtype=jnp.float32)


def _mean_loss_forward(
    hidden_BTE: Array, table_NE: Array, targets_BT: Array, at_once: int
) -> tuple[tuple[Array, Array], Any]:
    dtype, tokens = hidden_BTE.dtype, targets_BT.size
    positions = _positions(targets_BT, at_once)
    # Products below never turn the large factor round: hence the table in both orders, its gradient in one.
    table_EN = table_NE.T

    def add_piece(grad_EN: Array, piece: tuple[Array, Array]) -> tuple[Array, Any]:
        hidden_RE, targets_R = piece
        logits_RN = matmul(hidden_RE, table_EN, dtype)
        losses, log_sum_R = _losses(logits_RN, targets_R)
        hits_RN = jnp.arange(logits_RN.shape[-1]) == targets_R[:, None]
        grad_RN = ((jnp.exp(logits_RN - log_sum_R[:, None]) - hits_RN) / tokens).astype(dtype)
        grad_RE = matmul(grad_RN, table_NE, dtype).astype(dtype)
        return grad_EN + matmul(hidden_RE.T, grad_RN, dtype), (losses, grad_RE)

    pieces = _cut(hidden_BTE, positions), _cut(targets_BT, positions)
    zeros_EN = jnp.zeros(table_EN.shape, accumulator(dtype))
    grad_EN, (losses, grads) = jax.lax.scan(add_piece, zeros_EN, pieces)
    means = losses.loss.mean(), losses.right.mean(dtype=jnp.float32)
    return means, (_join(grads, targets_BT), grad_EN.T.astype(table_NE.dtype))


def _mean_loss_backward(at_once: int, saved: tuple[Array, Array], grads: tuple[Array, Array]) -> Any:
    grad_BTE, grad_NE = saved
    by_loss = grads[0]
    return by_loss.astype(grad_BTE.dtype) * grad_BTE, by_loss * grad_NE, None


mean_loss.defvjp(_mean_loss_forward, _mean_loss_backward)
