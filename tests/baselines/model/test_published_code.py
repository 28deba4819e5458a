"""The whole model agrees with the paper's published code: see ``published_code/README.md``."""

from functools import partial
from pathlib import Path

import jax
import numpy as np
import optax
import pytest
from flax.traverse_util import flatten_dict, unflatten_dict

from baselines.encode import encoding_of
from baselines.model.transformer import Transformer, TransformerConfig
from baselines.train.optim import Hyperparams, make_optimiser, no_vectors, warmup_cosine_paper_code
from sraven.board.board import read_board

SHAPE = {"layers": 2, "width": 24, "heads": 4, "qkv_width": 16, "mlp_width": 40}
UPDATES = 12


def read(attention):
    with np.load(Path(__file__).with_name("published_code") / f"{attention}.npz") as file:
        return dict(file)


def tree_of(numbers, kind):
    names = [name for name in numbers if name.startswith(kind)]
    return unflatten_dict({name.removeprefix(kind): numbers[name] for name in names}, sep="/")


def assert_same(found, expected, tolerance):
    """Compare parameters but for softmax attention's key biases, whose gradient is 0."""
    found, expected = flatten_dict(found, sep="/"), flatten_dict(expected, sep="/")
    assert found.keys() == expected.keys()
    for name in found:
        if not name.endswith("key/bias"):
            scale = np.abs(expected[name]).max()
            np.testing.assert_allclose(found[name] / scale, expected[name] / scale, rtol=0, atol=tolerance)


@pytest.mark.parametrize("attention", ["softmax", "linear", "hyla"])
def test_loss_logits_and_all_gradients_and_some_updates(attention):
    numbers, encoding = read(attention), encoding_of(read_board("sraven-v1").task)
    sizes = {"inputs": encoding.width_in, "outputs": encoding.width_out, "length": encoding.length}
    model = Transformer(TransformerConfig(**sizes, **SHAPE, attention=attention, position="relative_one_way"))
    batch = {name: numbers[name] for name in encoding.fields}
    optimiser = make_optimiser(
        Hyperparams(learning_rate=0.01, weight_decay=0.1, warmup=3),
        UPDATES,
        lr_schedule=warmup_cosine_paper_code,
        weight_decay_mask=no_vectors,
    )

    @jax.jit
    @partial(jax.value_and_grad, has_aux=True)
    def differentiate(params):
        out = model.apply({"params": params}, encoding.tokens(batch), num_outputs=encoding.num_outputs)
        return encoding.loss(out, batch), out

    @jax.jit
    def update(gradients, state, params):
        updates, state = optimiser.update(gradients, state, params)
        return optax.apply_updates(params, updates), state

    params = tree_of(numbers, "params/")
    state, losses = optimiser.init(params), []
    (_, logits), gradients = differentiate(params)
    np.testing.assert_allclose(logits, numbers["logits"], rtol=0, atol=2e-5)
    assert_same(gradients, tree_of(numbers, "gradients/"), 1e-4)
    for _ in range(UPDATES):
        (loss, _), gradients = differentiate(params)
        with jax.numpy_dtype_promotion("standard"):  # Optax counts in integers
            params, state = update(gradients, state, params)
        losses.append(loss)
    np.testing.assert_allclose(losses[0], numbers["loss"], rtol=1e-5)
    np.testing.assert_allclose(losses, numbers["losses"], rtol=1e-4)
    assert_same(params, tree_of(numbers, "updated/"), 2e-3)
