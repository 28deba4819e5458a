"""Operations of a run: by hand, and by the products that the model makes."""

from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import pytest

from baselines.encode import encoding_of
from baselines.paper.devices import PROGRAMS_ON_A_GPU
from baselines.paper.plan import operations_of, parameters_of, rate_of
from baselines.recipes import make_config
from baselines.train.experiment import model_of
from baselines.train.flops import operations_in_products
from sraven.board.board import read_board


@pytest.mark.parametrize(
    ("board_id", "attention", "changes"),
    [
        ("fuzzylogic-v1", "softmax", {}),
        ("fuzzylogic-v1", "linear", {"feedforward": "moe"}),
        ("fuzzylogic-v1", "softmax", {"feedforward": "none"}),
        ("sraven-v1", "softmax", {"layers": 2}),
        ("fuzzylogic-v1", "hyla", {}),
        ("fuzzylogic-v1", "softmax", {"network": "looped"}),
        ("fuzzylogic-v1", "hyla", {"network": "looped"}),
        ("fuzzylogic-v1", "none", {"network": "mixer"}),
        ("fuzzylogic-v1", "gated_delta", {}),  # one chunk: a scan of length 1
    ],
)
def test_operations_are_the_products_that_the_model_makes(board_id, attention, changes):
    board = read_board(board_id)
    config = make_config(board, attention, steps=1, warmup=1, batch_size=2, **changes)
    encoding = encoding_of(board.task)
    model = model_of(config, encoding)
    tokens = jnp.zeros((config.batch_size, encoding.length, encoding.width_in))
    params = jax.eval_shape(model.init, jax.random.key(0), tokens)
    forward = partial(model.apply, num_outputs=encoding.num_outputs)
    assert operations_of(config) == 3 * operations_in_products(forward, params, tokens)


def test_a_looped_network_has_the_operations_of_its_control_and_the_parameters_of_a_layer():
    config = make_config(read_board("fuzzylogic-v1"), "softmax", network="looped")
    assert operations_of(config) == operations_of(replace(config, network="transformer"))
    assert parameters_of(config) == 76_209
    assert parameters_of(replace(config, network="transformer", layers=1)) == 76_209


def test_a_loop_counts_as_often_as_it_runs():
    loop = partial(jax.lax.scan, lambda x, _: (x @ x, None), length=5)
    assert operations_in_products(loop, jnp.ones((3, 3))) == 5 * 2 * 3 * 3 * 3


def test_of_branches_the_largest_counts():
    def branched(x):
        return jax.lax.cond(x.sum() > 0, lambda x: x @ x, lambda x: x @ x @ x, x)

    assert operations_in_products(branched, jnp.ones((3, 3))) == 2 * 2 * 3 * 3 * 3


def test_hyla_mixes_twice_and_its_deep_network_once_more():
    board, names = read_board("fuzzylogic-v1"), ("softmax", "hyla", "hyla_deep")
    softmax, hyla, deep = (operations_of(make_config(board, name)) for name in names)
    pairs = 3 * 50_000 * 128 * (32 + 1) * 32  # training, steps, batch, queries of both layers, keys
    assert hyla - softmax == pairs * 2 * 16
    assert deep - hyla == pairs * 2 * 8 * 2 * 2  # heads, and V = 2 twice


def test_a_rate_is_that_of_runs_on_the_same_kind_of_device():
    config = make_config(read_board("fuzzylogic-v1"), "softmax", steps=200, warmup=1)
    on = {"platform": "gpu", "device": "NVIDIA H200"}

    def record(seconds, machine=None, steps=200):
        return SimpleNamespace(config=config, steps=steps, seconds=seconds, machine=machine)

    records = [record(10.0), record(20.0, steps=100), record(None), record(3.0, on)]
    assert rate_of(records, None) == pytest.approx(1.5 * operations_of(config) / 30)
    assert rate_of(records, "h200") == pytest.approx(PROGRAMS_ON_A_GPU * operations_of(config) / 3)
    assert rate_of(records, "H100") is None
