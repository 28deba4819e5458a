"""Any PyTorch network by one call: its submissions, how it goes on, its costs, the number of all boards."""

from pathlib import Path

import numpy as np
import pytest

from helpers.example import all_bytes
from helpers.refusals import assert_refused
from helpers.submissions import FUZZY_BOARD, SRAVEN_BOARD
from sraven import SRAVEN, OutputError, evaluate_network, load_board, score_submission
from sraven.board.board import read_board
from sraven.core.cost import Cost
from sraven.leaderboard.evaluation import BATCH, PICTURE, QUICK, Evaluation, Result, check_boards
from sraven.scoring.composing import Estimate

torch = pytest.importorskip("torch", reason="PyTorch isn't installed: pip install '.[torch]' in a checkout")

STEPS = 5


class Points(torch.nn.Module):
    """Each output from its own token alone."""

    state_size = 7

    def __init__(self, length, inputs, outputs):
        super().__init__()
        self.layer = torch.nn.Linear(inputs, outputs)

    def forward(self, tokens):
        return self.layer(tokens)


class Deeper(Points):
    """The same parameters, used otherwise."""

    def forward(self, tokens):
        return self.layer(tokens).tanh()


def evaluated(folder, make=Points, boards=((SRAVEN_BOARD, STEPS * BATCH),), **options):
    options = {"device": "cpu", "on_progress": None, "name": "points", "authors": ["A"], **options}
    return evaluate_network(make, boards, out=folder, **options)


@pytest.mark.usefixtures("small_boards")
def test_a_network_is_trained_scored_and_ready_to_submit(tmp_path):
    said, boards = [], [(SRAVEN_BOARD, STEPS * BATCH), (FUZZY_BOARD, STEPS * BATCH)]
    found = evaluated(tmp_path, boards=boards, seeds=(0, 4), on_progress=said.append)
    assert "seed 4, step 5 of 5: loss" in said[1] and "ood" in said[1]
    for result, (board, _) in zip(found.results, boards, strict=True):
        filed = score_submission(result.folder)
        primary = load_board(board).primary_split
        score = filed["splits"][primary]["metrics"][result.metric]
        assert result.held_out.value == pytest.approx(score["mean"], abs=1e-6)
        assert (result.seeds, result.instances, result.cost.state) == (2, STEPS * BATCH, 7)
        assert result.board in str(found) and f"{result.cost.parameters:,} parameters" in str(found)
    assert (tmp_path / PICTURE).read_text().startswith("<?xml")


@pytest.mark.usefixtures("small_boards")
def test_interrupted_the_same_call_ends_in_the_same_predictions(tmp_path, monkeypatch):
    monkeypatch.setattr("sraven.core.torch.training._SAVE_SECONDS", -1.0)
    whole = all_bytes(evaluated(tmp_path / "whole").results[0].folder / "predictions")
    forward, calls = Points.forward, []

    def ends_early(network, tokens):
        calls.append(tokens)
        if len(calls) == 2 + 3:  # of two, costs are counted
            raise KeyboardInterrupt
        return forward(network, tokens)

    monkeypatch.setattr(Points, "forward", ends_early)
    with pytest.raises(KeyboardInterrupt):
        evaluated(tmp_path / "again")
    trained = [each for each in calls if len(each) == BATCH][1:]
    assert len(trained) == 3
    again = evaluated(tmp_path / "again")
    assert all_bytes(again.results[0].folder / "predictions") == whole
    later = [each for each in calls[5:] if len(each) == BATCH and each.requires_grad is False]
    assert torch.equal(trained[-1], later[1])  # the step that didn't end, after the batch of the cost


@pytest.mark.usefixtures("small_boards")
def test_a_network_may_say_itself_what_it_minimises(tmp_path):
    class Own(Points):
        def training_loss(self, tokens, loss):
            return loss(self(tokens)) * 0  # so nothing is learnt, and a bias doesn't decay

    made = []

    def make(*shape):
        network = Own(*shape)
        made.append((network.layer.bias.detach().clone(), network))
        return network

    evaluated(tmp_path, make)
    [(before, network)] = made
    assert torch.equal(network.layer.bias, before)


@pytest.mark.usefixtures("small_boards")
def test_what_is_refused(tmp_path):
    evaluated(tmp_path)
    with pytest.raises(OutputError, match="is of 'points'; choose another folder for 'other'"):
        evaluated(tmp_path, name="other")
    with pytest.raises(OutputError, match=r"has seeds \[0\]; remove it for \[0, 1\]"):
        evaluated(tmp_path, seeds=[1, 0])
    assert_refused(r"seeds=\[\]: expected one or more", evaluated, tmp_path, seeds=[])
    (tmp_path / f"{SRAVEN_BOARD}-{STEPS * BATCH}").rename(tmp_path / "aside")
    for other in ({"learning_rate": 0.5}, {"make": lambda *shape: Deeper(*shape)}):
        with pytest.raises(OutputError, match="another network, or was trained otherwise"):
            evaluated(tmp_path, **other)
    flat = lambda *shape: torch.nn.Sequential(Points(*shape), torch.nn.Flatten())  # noqa: E731
    assert_refused("the network made .*; expected", evaluated, tmp_path / "flat", flat)
    assert not list((tmp_path / "flat").glob("sraven*"))


def test_what_boards_may_be(monkeypatch):
    monkeypatch.setattr("sraven.leaderboard.evaluation.load_board", read_board)  # instances aren't checked
    assert [(board.id, instances) for board, instances in check_boards("quick")] == list(QUICK)
    [(board, instances)] = check_boards("fuzzylogic-v1")
    assert instances == board.train_budget
    assert_refused("has no training split", check_boards, "sraven-text-v2")
    assert_refused("instances=5: expected", check_boards, [("sraven-v1", 5)])


def test_costs_are_those_of_a_linear_layer():
    from sraven.core.torch.training import measure_cost

    task = SRAVEN(M=2, K=5)
    of, network = task.sequences, Points(18, 5, 5)
    small, large = (measure_cost(network, task, of, batch) for batch in (8, 16))
    assert small[:2] == (5 * 5 + 5, 2 * 18 * 5 * 5) and small.state == 7
    fixed = 4 * 4 * small.parameters
    assert 8 * 18 * 5 * 4 <= small.memory - fixed < 3 * 8 * 18 * 5 * 4  # tokens, and what the loss keeps
    assert large.memory - fixed == pytest.approx(2 * (small.memory - fixed), rel=0.01)


def result(board, instances, kept, interval):
    nothing, cost = Estimate(None, None), Cost(1, 1.0, 1, None)
    estimate = Estimate(kept, interval)
    unknown = (None,) * 4  # features, answers as the sibling, floor and ceiling
    return Result(board, instances, "r2", 1, Path(), nothing, nothing, estimate, *unknown, {}, cost, ())


def test_the_number_of_all_is_the_mean_over_boards_at_their_largest_budgets():
    found = Evaluation(
        "x",
        (
            result("a", 10, 0.1, (0.0, 0.2)),
            result("a", 20, 0.4, (0.34, 0.44)),
            result("b", 10, 0.8, (0.72, 0.83)),
        ),
    )
    assert found.kept == Estimate(0.6, (0.55, pytest.approx(0.6 + np.hypot(0.04, 0.03) / 2)))
    assert Evaluation("x", (result("a", 1, None, None),)).kept == Estimate(None, None)


def test_the_schedule_is_the_baselines():
    from baselines.train.optim import warmup_cosine
    from sraven.core.torch.training import rate_at

    for step in (0, 10, 999, 1000, 5000, 19_999):
        assert rate_at(step, 20_000, 1000) == pytest.approx(
            float(warmup_cosine(step, 20_000, 1000)), rel=1e-5
        )
