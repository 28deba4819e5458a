"""Batches of a task as sequences: tokens in, outputs read, loss and score.

Letters in array names: B instances, T tokens, A with outputs, D token width, O output width, M features,
N points.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax

from sraven.core.errors import ConfigurationError
from sraven.core.roles import Task

Batch = Mapping[str, jax.Array]
"""Arrays of instances by name, with B along the first axis."""


class Encoding(NamedTuple):
    """How a sequence model sees a task.

    Attributes:
        fields: names of the arrays of a batch that it takes.
        length: tokens of a sequence, T.
        num_outputs: how many of them, the last ones, have an output that counts, A.
        width_in: width of a token, D.
        width_out: width of an output, O.
        tokens: returns float32 ``[B, T, D]``, given a batch.
        target: returns what is asked for, int32 ``[B, M]`` or float32 ``[B]``, given a batch.
        predict: returns predictions as the board wants them, given outputs ``[B, A, O]``, or of all tokens.
        loss: returns the mean loss, given outputs and the batch.
        score: returns the board's primary metric on the batch, given outputs and the batch.
        panel_tokens: tokens of a panel, which follow each other; 1 where each token is by itself.
        query_tokens: the last tokens, which ask, after those of the context: the third row, or a point.
    """

    fields: tuple[str, ...]
    length: int
    num_outputs: int
    width_in: int
    width_out: int
    tokens: Callable[[Batch], jax.Array]
    target: Callable[[Batch], jax.Array]
    predict: Callable[[jax.Array], jax.Array]
    loss: Callable[[jax.Array, Batch], jax.Array]
    score: Callable[[jax.Array, Batch], jax.Array]
    panel_tokens: int = 1
    query_tokens: int = 1


def encode_sraven(task: Any) -> Encoding:
    """One-hot symbols of the eight context panels, and M empty tokens whose outputs are the answer."""
    M, K = task.M, task.K

    def tokens(batch: Batch) -> jax.Array:
        symbols_BT = batch["context"].reshape(len(batch["context"]), 8 * M)
        return jnp.pad(jax.nn.one_hot(symbols_BT, K), ((0, 0), (0, M), (0, 0)))

    def target(batch: Batch) -> jax.Array:
        return batch["target"].astype(jnp.int32)

    def loss(out_BAO: jax.Array, batch: Batch) -> jax.Array:
        losses_BM = optax.softmax_cross_entropy_with_integer_labels(out_BAO[:, -M:], target(batch))
        return jnp.mean(losses_BM)

    def predict(out_BAO: jax.Array) -> jax.Array:
        return out_BAO[:, -M:].argmax(axis=-1).astype(jnp.uint8)

    def score(out_BAO: jax.Array, batch: Batch) -> jax.Array:
        return (predict(out_BAO) == batch["target"]).all(axis=-1).mean(dtype=jnp.float32)

    return Encoding(("context", "target"), 9 * M, M, K, K, tokens, target, predict, loss, score, M, 3 * M)


def encode_fuzzylogic(task: Any) -> Encoding:
    """A token for each point, its inputs and its target; the query's target is masked with 0."""

    def tokens(batch: Batch) -> jax.Array:
        targets_BN = batch["targets"].at[:, -1].set(0.0)
        return jnp.concatenate([batch["inputs"], targets_BN[..., None]], axis=-1)

    def target(batch: Batch) -> jax.Array:
        return batch["targets"][:, -1]

    def predict(out_BAO: jax.Array) -> jax.Array:
        return out_BAO[:, -1, 0]

    def loss(out_BAO: jax.Array, batch: Batch) -> jax.Array:
        return jnp.square(predict(out_BAO) - target(batch)).mean()

    def score(out_BAO: jax.Array, batch: Batch) -> jax.Array:
        errors_B = jnp.square(predict(out_BAO) - target(batch))
        variances_B = batch["targets"].var(axis=-1)
        varied_B = variances_B > 0
        return 1 - jnp.where(varied_B, errors_B / variances_B, 0.0).sum() / varied_B.sum()

    return Encoding(("inputs", "targets"), task.N, 1, task.L + 1, 1, tokens, target, predict, loss, score)


ENCODINGS: dict[str, Callable[[Any], Encoding]] = {
    "sraven": encode_sraven,
    "sraven-twins": encode_sraven,
    "fuzzylogic": encode_fuzzylogic,
}
"""How a sequence model sees the tasks of a family, by name of the family."""


def encoding_of(task: Task) -> Encoding:
    """Return the encoding of a task.

    Raises:
        ConfigurationError: if its family has none.
    """
    if task.name not in ENCODINGS:
        allowed = ", ".join(ENCODINGS)
        raise ConfigurationError(f"task {task.name!r} has no encoding; expected one of {allowed}")
    return ENCODINGS[task.name](task)
