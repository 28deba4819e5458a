"""Operations of a run: by hand, and by the products that the model makes."""

from dataclasses import replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from baselines.encode import encoding_of
from baselines.recipes import make_config
from baselines.reproduction import plan
from baselines.reproduction.plan import (
    Throughput,
    measure_rate,
    median_cell,
    operations_in,
    operations_of,
    parameters_of,
)
from baselines.training.experiment import model_of
from baselines.training.flops import operations_in_products
from helpers.reproduction import STEPS, cell, figure, record
from sraven.board.board import read_board


def products_of(jaxpr):
    """Return the operations of all matrix products in a program."""
    total = 0
    for equation in jaxpr.eqns:
        if equation.primitive.name == "dot_general":
            (contracted, _), _ = equation.params["dimension_numbers"]
            left = equation.invars[0].aval.shape
            length = np.prod([left[axis] for axis in contracted])
            total += 2 * np.prod(equation.outvars[0].aval.shape) * length
        for value in equation.params.values():
            inner = getattr(value, "jaxpr", value)
            total += products_of(inner) if hasattr(inner, "eqns") else 0
    return total


@pytest.mark.parametrize(
    ("board_id", "attention", "changes"),
    [
        ("fuzzylogic-v1", "softmax", {}),
        ("fuzzylogic-v1", "linear", {"feedforward": "moe"}),
        ("fuzzylogic-v1", "softmax", {"feedforward": "none"}),
        ("sraven-v1", "softmax", {}),
        ("fuzzylogic-v1", "softmax", {"network": "looped"}),
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

    def counted(num_outputs):
        program = jax.make_jaxpr(partial(model.apply, num_outputs=num_outputs))(params, tokens)
        return 3 * products_of(program.jaxpr)

    found = operations_of(config)
    assert found.computed == counted(encoding.num_outputs)
    if attention != "gated_delta" and changes in ({}, {"feedforward": "none"}):  # the others count otherwise
        assert found.nominal == counted(encoding.length)
    if config.network == "looped":
        assert found.computed == operations_of(replace(config, network="transformer")).computed
    assert parameters_of(config) == sum(leaf.size for leaf in jax.tree.leaves(params))


def test_a_loop_counts_as_often_as_it_runs():
    loop = partial(jax.lax.scan, lambda x, _: (x @ x, None), length=5)
    assert operations_in_products(loop, jnp.ones((3, 3))) == 5 * 2 * 3 * 3 * 3


def test_hyla_mixes_twice_and_its_deep_network_once_more():
    board, names = read_board("fuzzylogic-v1"), ("softmax", "hyla", "hyla_deep")
    softmax, hyla, deep = (operations_of(make_config(board, name)).nominal for name in names)
    pairs = 3 * 50_000 * 128 * 2 * 32 * 32  # training, steps, batch, layers, queries, keys
    assert hyla - softmax == pairs * 2 * 16
    assert deep - hyla == pairs * 2 * 8 * 2 * 2  # heads, and V = 2 twice


def test_what_is_computed_has_all_experts():
    """A mixture of experts computes all of them; the nominal count has one."""
    config = make_config(read_board("fuzzylogic-v1"), "softmax", feedforward="moe")
    found = operations_of(config)
    assert found.computed > 2 * found.nominal


def test_a_rate_is_measured_on_real_steps_of_the_cell_in_the_middle(compiled):
    tiny = figure(attentions=("softmax", "linear", "hyla"))
    middle = median_cell([cell(tiny, attention) for attention in ("hyla", "softmax", "linear")])
    assert middle.config.attention == "linear"
    assert 0 < measure_rate(middle.config) < float("inf")


def test_hours_are_those_of_records_of_the_same_kind_and_else_at_the_rate_of_this_machine(monkeypatch):
    monkeypatch.setattr(plan, "measure_rate", lambda config: operations_of(config).computed / config.steps)
    tiny = figure()
    trained, wider = record(cell(tiny, "softmax"), 0.9, 0.6), figure(width=24)
    left = [cell(tiny, "softmax", seed, learning_rate=0.003) for seed in (1, 2)]
    rates = Throughput(records=[trained])
    assert rates.hours(tiny, left) == pytest.approx(2 * trained.seconds / 3600)
    assert rates.hours(wider, [cell(wider, "softmax")]) == pytest.approx(STEPS / 3600)  # a step a second
    assert rates.hours(tiny, []) == 0
    assert Throughput(1.0, [trained]).hours(tiny, left) == operations_in(left).computed / 1e9 / 3600
    assert set(rates.notes) == {"records", "fuzzylogic"}
