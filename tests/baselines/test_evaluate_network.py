"""Any Flax network by one call."""

import json
import math
from functools import partial

import jax.numpy as jnp
import pyarrow.parquet as pq
import pytest
from flax import linen as nn, nnx

from baselines.evaluate_network import _clipped, evaluate_network
from baselines.model.networks import NETWORKS, OURS
from baselines.recipes import warmup_of
from baselines.train.optim import OPTIMISERS
from helpers.refusals import assert_refused
from helpers.submissions import FUZZY_BOARD, SRAVEN_BOARD
from sraven import SRAVEN, ConfigurationError, OutputError, load_board, score_submission

BATCH = 128
pytestmark = pytest.mark.usefixtures("small_boards", "compiled")


def points(length, inputs, outputs):
    return nn.Dense(outputs)


def without_bias(length, inputs, outputs):
    return nn.Dense(outputs, use_bias=False)


ON_SRAVEN = [(SRAVEN_BOARD, BATCH)]
evaluated = partial(evaluate_network, on_progress=None)


def test_a_network_is_trained_scored_and_ready_to_submit_and_goes_on(tmp_path):
    boards = [*ON_SRAVEN, (FUZZY_BOARD, BATCH)]
    found = evaluated(points, boards, out=tmp_path, seeds=(0, 3))
    for result, (board, _) in zip(found.results, boards, strict=True):
        task = load_board(board).task
        filed = score_submission(result.folder)["splits"][load_board(board).primary_split]
        assert filed["seeds"] == [0, 3] and result.seeds == 2
        inputs = task.K if task.name == "sraven" else task.L + 1
        outputs, length = (task.K, 9 * task.M) if task.name == "sraven" else (1, task.N)
        assert result.cost.parameters == inputs * outputs + outputs
        assert result.cost.operations == 2 * length * inputs * outputs
    assert evaluated(points, boards, out=tmp_path, seeds=(0, 3)).results == found.results
    assert frozenset(NETWORKS) == OURS
    found.results[0].folder.rename(tmp_path / "aside")
    with pytest.raises(OutputError, match="choose another"):  # runs of another network aren't gone on with
        evaluated(without_bias, ON_SRAVEN, out=tmp_path, name="points")


class Stubborn(nn.Dense):
    """One that minimises half of the loss, and answers 3 whatever it is asked."""

    def training_loss(self, tokens, target, loss):
        return loss(self(tokens)) / 2

    def predict(self, tokens):
        return jnp.full((len(tokens), tokens.shape[1] // 9), 3)


class Wrong(nn.Dense):
    """One whose answers lack an axis."""

    def predict(self, tokens):
        return jnp.zeros(len(tokens))


def test_a_network_may_say_itself_what_it_minimises_and_answers(tmp_path):
    """All symbols are equally likely to it at first."""
    symbols = load_board(SRAVEN_BOARD).task.K
    stubborn = lambda *shape: Stubborn(shape[2], kernel_init=nn.initializers.zeros)  # noqa: E731
    evaluated(stubborn, ON_SRAVEN, name="s", out=tmp_path)
    [log] = tmp_path.rglob("log.jsonl")
    assert json.loads(log.read_text().splitlines()[0])["loss"] == pytest.approx(math.log(symbols) / 2)
    runs = [pq.read_table(path)["prediction"].to_pylist() for path in tmp_path.rglob("seed-0.parquet")]
    assert len(runs) == 2 and {answer for run in runs for panel in run for answer in panel} == {3}
    wrong = lambda *shape: Wrong(shape[2])  # noqa: E731
    with pytest.raises(ConfigurationError, match="predict made"):
        evaluated(wrong, ON_SRAVEN, name="w", out=tmp_path / "w")


def test_names_of_the_baselines_are_taken(tmp_path):
    assert_refused("'mixer' is a network of the baselines", evaluated, points, out=tmp_path, name="mixer")


def test_the_warm_up_is_that_of_pytorch():
    pytest.importorskip("torch")
    for task in (SRAVEN(M=3), load_board(FUZZY_BOARD).task):
        for steps in (1, 3_906, 15_625, 39_062):
            assert warmup_of(task.name, steps) == max(1, round(task.sequences.warmup * steps))
    assert [warmup_of("sraven", steps) for steps in (3_906, 15_625, 39_062)] == [25, 100, 250]


class Inner(nn.Module):
    """A part of a network."""

    width: int
    scale: float = 1.0

    @nn.compact
    def __call__(self, tokens):
        gate = self.param("gate", nn.initializers.zeros, ())
        return nn.Dense(self.width)(tokens) * self.scale + gate * inner(tokens)


def inner(tokens):
    return tokens.sum(axis=-1, keepdims=True)


class Outer(nn.Module):
    """A network whose repr says nothing of its parts."""

    width: int

    @nn.compact
    def __call__(self, tokens):
        return Inner(self.width)(tokens)


def test_the_same_network_goes_on_and_with_a_changed_part_it_is_another(tmp_path, monkeypatch):
    outer, told = lambda length, inputs, outputs: Outer(outputs), []
    boards = [(SRAVEN_BOARD, 2 * BATCH)]
    again = partial(evaluate_network, outer, boards, name="outer", out=tmp_path, on_progress=told.append)
    first = again()
    assert (told[-1].step, told[-1].steps, told[-1].seed) == (2, 2, None) and told[-1].seconds_left == 0
    assert "step 2 of 2: loss" in str(told[-1])
    changes = ("Inner", partial(Inner, scale=0.9)), ("inner", lambda tokens: tokens[..., :1])
    for name, value in changes:  # the second one is behind a gate that begins at zero
        with monkeypatch.context() as patched:
            patched.setitem(globals(), name, value)
            with pytest.raises(OutputError, match=r"is of another network.*outputs"):
                again()
    for changed in ({"clip_norm": 1.0}, {"warmup": 2}, {"batch_size": 64}, {"weight_decay": 0.0}):
        with pytest.raises(OutputError, match=r"is of another network.*configuration"):
            again(**changed)
    results = []
    assert first.results == again(on_result=results.append).results == tuple(results)


def test_gradients_are_clipped_to_a_norm():
    def moved(norms, *, clipped):
        given = (lambda step: 1.0), 0.0, lambda params: True
        optimiser = _clipped(1.0, *given) if clipped else OPTIMISERS["adamw"].make(*given)
        params = jnp.zeros(2)
        state, updates = optimiser.init(params), []
        for norm in norms:
            update, state = optimiser.update(norm * jnp.array([0.6, 0.8]), state, params)
            updates.append(update)
        return jnp.stack(updates)

    assert jnp.allclose(moved([10.0, 0.5, 3.0], clipped=True), moved([1.0, 0.5, 1.0], clipped=False))
    assert not jnp.allclose(moved([10.0, 0.5, 3.0], clipped=False), moved([1.0, 0.5, 1.0], clipped=False))


def test_nnx_goes_by_its_bridge_and_what_is_no_module_is_refused(tmp_path):
    bridged = lambda length, inputs, outputs: nnx.bridge.to_linen(nnx.Linear, inputs, outputs)  # noqa: E731
    found = evaluated(bridged, ON_SRAVEN, name="nnx", out=tmp_path / "nnx")
    assert found.results[0].cost.parameters == 5 * 5 + 5
    plain = lambda length, inputs, outputs: nnx.Linear(inputs, outputs, rngs=nnx.Rngs(0))  # noqa: E731
    said = r"returned a Linear; expected a flax.linen.Module \(of NNX: flax.nnx.bridge.to_linen"
    assert_refused(said, evaluated, plain, ON_SRAVEN, name="plain", out=tmp_path)
    wide = lambda length, inputs, outputs: nn.Dense(outputs + 1)  # noqa: E731
    assert_refused(r"the network made \[4, 27, 6\] of tokens", evaluated, wide, ON_SRAVEN, out=tmp_path)
