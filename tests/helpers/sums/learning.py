"""The sums as a sequence model sees them, and a recipe to train one."""

import jax.numpy as jnp
import optax
from jax.nn import one_hot

from baselines.encode import Encoding

RECIPE = {
    "layers": 1,
    "width": 12,
    "heads": 3,
    "qkv_width": 6,
    "mlp_width": 16,
    "batch_size": 32,
    "learning_rate": 0.01,
    "weight_decay": 0.1,
    "warmup": 3,
}


def encode(task):
    """A token for each pair: both terms and the sum, which is empty for the last."""
    P = task.P

    def tokens(batch):
        shown = one_hot(batch["sums"], P).at[:, -1].set(0)
        pairs = one_hot(batch["pairs"], P)
        return jnp.concatenate([pairs[:, :, 0], pairs[:, :, 1], shown], axis=-1)

    def predict(out):
        return out[:, -1].argmax(axis=-1).astype(jnp.uint8)

    def loss(out, batch):
        targets = batch["sums"][:, -1].astype(jnp.int32)
        return optax.softmax_cross_entropy_with_integer_labels(out[:, -1], targets).mean()

    def score(out, batch):
        return (predict(out) == batch["sums"][:, -1]).mean(dtype=jnp.float32)

    return Encoding(("pairs", "sums"), task.N, 1, 3 * P, P, tokens, predict, loss, score)
