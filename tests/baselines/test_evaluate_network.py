"""Any Flax network by one call."""

import json

import pytest
from flax import linen as nn

from baselines.evaluate_network import evaluate_network
from baselines.model.networks import NETWORKS, OURS
from baselines.recipes import warmup_of
from helpers.refusals import assert_refused
from helpers.submissions import FUZZY_BOARD, SRAVEN_BOARD
from sraven import SRAVEN, OutputError, load_board, score_submission
from sraven.leaderboard.evaluation import BATCH

pytestmark = pytest.mark.usefixtures("small_boards")


def points(length, inputs, outputs):
    return nn.Dense(outputs)


def without_bias(length, inputs, outputs):
    return nn.Dense(outputs, use_bias=False)


def from_zero(length, inputs, outputs):
    return nn.Dense(outputs, kernel_init=nn.initializers.zeros)


class Halved(nn.Dense):
    """One that minimises half of the loss."""

    def training_loss(self, tokens, loss):
        return loss(self(tokens)) / 2


def evaluated(folder, boards, **options):
    return evaluate_network(points, boards, out=folder, on_progress=None, **options)


def test_a_network_is_trained_scored_and_ready_to_submit_and_goes_on(tmp_path):
    boards = [(SRAVEN_BOARD, 2 * BATCH), (FUZZY_BOARD, 2 * BATCH)]
    found = evaluated(tmp_path, boards, seeds=(0, 3))
    for result, (board, _) in zip(found.results, boards, strict=True):
        task = load_board(board).task
        filed = score_submission(result.folder)["splits"][load_board(board).primary_split]
        assert filed["seeds"] == [0, 3] and result.seeds == 2
        inputs = task.K if task.name == "sraven" else task.L + 1
        outputs, length = (task.K, 9 * task.M) if task.name == "sraven" else (1, task.N)
        assert result.cost.parameters == inputs * outputs + outputs
        assert result.cost.operations == 2 * length * inputs * outputs
    assert evaluated(tmp_path, boards, seeds=(0, 3)).results == found.results
    assert frozenset(NETWORKS) == OURS
    found.results[0].folder.rename(tmp_path / "aside")
    with pytest.raises(OutputError, match="choose another"):  # runs of another network aren't gone on with
        evaluate_network(without_bias, boards[:1], out=tmp_path, seeds=(0, 3), name="points")


def test_a_network_may_say_itself_what_it_minimises(tmp_path):
    boards, losses = [(SRAVEN_BOARD, BATCH)], []
    halved = lambda *shape: Halved(shape[2], kernel_init=nn.initializers.zeros)  # noqa: E731
    for make in (from_zero, halved):
        folder = tmp_path / str(len(losses))
        evaluate_network(make, boards, name="points", out=folder, on_progress=None)
        [log] = folder.rglob("log.jsonl")
        losses.append(json.loads(log.read_text().splitlines()[0])["loss"])
    assert losses[1] == pytest.approx(losses[0] / 2, rel=1e-3)  # a step of AdamW is the same


def test_names_of_the_baselines_are_taken(tmp_path):
    assert_refused("'mixer' is a network of the baselines", evaluated, tmp_path, "quick", name="mixer")


def test_the_warm_up_is_that_of_pytorch():
    pytest.importorskip("torch")
    for task in (SRAVEN(M=3), load_board(FUZZY_BOARD).task):
        for steps in (1, 3_906, 15_625, 39_062):
            assert warmup_of(task.name, steps) == max(1, round(task.sequences.warmup * steps))
    assert [warmup_of("sraven", steps) for steps in (3_906, 15_625, 39_062)] == [25, 100, 250]
