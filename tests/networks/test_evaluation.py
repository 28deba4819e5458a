"""Any PyTorch network by one call: its submissions, how it goes on, its costs, the number of all boards."""

import shutil
import signal
import sys
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

from helpers.example import all_bytes
from helpers.refusals import assert_refused
from helpers.submissions import FUZZY_BOARD, SRAVEN_BOARD, only_boards
from sraven import SRAVEN, ConfigurationError, OutputError, evaluate_network, load_board, score_submission
from sraven.board.board import read_board
from sraven.leaderboard.submissions.submission import read_submission
from sraven.networks.cost import Cost
from sraven.networks.evaluation import PICTURE, QUICK, check_boards
from sraven.networks.identity import IDENTITY, digest_of_classes
from sraven.networks.recipe import Progress, Recipe
from sraven.networks.results import Evaluation, Result
from sraven.networks.stopping import Stop
from sraven.scoring.composing import Estimate

torch = pytest.importorskip("torch", reason="PyTorch isn't installed: pip install '.[torch]' in a checkout")

BATCH, STEPS = 128, 5

FOLDER = f"{SRAVEN_BOARD}-{STEPS * BATCH}"
"""Name of a submission's folder."""


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


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """What is left of points that were evaluated; tests only read it."""
    folder = tmp_path_factory.mktemp("made")
    with only_boards(folder / "boards"):
        evaluated(folder / "out")
    return folder / "out"


@pytest.fixture
def quick(small_boards, monkeypatch):
    """The small boards, and no pictures, which take as long as all else."""
    monkeypatch.setattr("sraven.networks.evaluation.find_spec", lambda name: None)


def refused(message, *arguments, error=OutputError, **options):
    assert_refused(message, evaluated, *arguments, error=error, **options)


@pytest.mark.usefixtures("small_boards")
def test_a_network_is_trained_scored_and_ready_to_submit(tmp_path):
    said, boards = [], [(SRAVEN_BOARD, STEPS * BATCH), (FUZZY_BOARD, STEPS * BATCH)]
    found = evaluated(tmp_path, boards=boards, seeds=(0, 4), on_progress=said.append)
    assert (said[1].seed, said[1].step, said[1].steps) == (4, STEPS, STEPS)
    assert said[1].scores.keys() == {"test", "ood"} and said[1].seconds_left == 0
    assert "seed 4, step 5 of 5: loss" in str(said[1]) and "ood" in str(said[1])
    for result, (board, _) in zip(found.results, boards, strict=True):
        filed = score_submission(result.folder)
        primary = load_board(board).primary_split
        score = filed["splits"][primary]["metrics"][result.metric]
        assert result.held_out.value == pytest.approx(score["mean"], abs=1e-6)
        assert (result.seeds, result.instances, result.cost.state) == (2, STEPS * BATCH, 7)
        assert result.board in str(found) and f"{result.cost.parameters:,} parameters" in str(found)
    said = read_submission(found.results[0].folder).content["method"]
    assert "Not by" not in said["description"] and said["authors"] == ["A"]
    assert (tmp_path / PICTURE).read_text().startswith("<?xml")


@pytest.mark.usefixtures("quick")
def test_interrupted_the_same_call_ends_in_the_same_predictions(tmp_path, made, monkeypatch):
    monkeypatch.setattr("sraven.networks.training._SAVE_SECONDS", -1.0)
    forward, calls = Points.forward, []

    def ends_early(network, tokens):
        calls.append(tokens)
        batches = sum(len(each) == BATCH for each in calls)  # costs are counted on the first
        if len(tokens) == BATCH and batches == 1 + 3:
            raise KeyboardInterrupt
        return forward(network, tokens)

    monkeypatch.setattr(Points, "forward", ends_early)
    with pytest.raises(KeyboardInterrupt):
        evaluated(tmp_path)
    last, count = calls[-1], len(calls)
    evaluated(tmp_path)
    assert all_bytes(tmp_path / FOLDER / "predictions") == all_bytes(made / FOLDER / "predictions")
    later = [each for each in calls[count:] if len(each) == BATCH]
    assert torch.equal(last, later[1])  # the step that didn't end, after the batch of the cost


@pytest.mark.usefixtures("quick")
def test_what_is_refused(tmp_path, made):
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    refused("is of 'points'; choose another folder for 'other'", tmp_path, name="other")
    refused(r"has seeds \[0\]; remove it for \[0, 1\]", tmp_path, seeds=[1, 0])
    (tmp_path / FOLDER).rename(tmp_path / "aside")
    refused(r"is of another network.*classes", tmp_path, Deeper)
    flat = lambda *shape: torch.nn.Sequential(Points(*shape), torch.nn.Flatten())  # noqa: E731
    wrong = {
        "the network made .*; expected": {"make": flat},
        "make_network returned a int; expected a torch.nn.Module": {"make": lambda *shape: 5},
        r"seeds=\[\]: expected one or more": {"seeds": []},
        "a seed=-1: expected": {"seeds": [-1]},
        "learning_rate=nan: expected a number above 0": {"learning_rate": float("nan")},
        "'rate' isn't of the recipe; expected learning_rate, batch_size": {"rate": 1.0},
        "authors": {"authors": [5]},
    }
    for said, options in wrong.items():
        refused(said, tmp_path / "refused", error=ConfigurationError, **options)
    assert not (tmp_path / "refused").exists()


class Scaled(torch.nn.Module):
    """What neither a repr, nor the source of a class, nor shapes of parameters tell."""

    def __init__(self, shape, scale=1.0, hidden=0.0):
        super().__init__()
        self.layer, self.scale, self.hidden = Points(*shape), scale, hidden
        self.gate = torch.nn.Parameter(torch.zeros(1))

    def forward(self, tokens):
        return helper(self.layer(tokens)) * self.scale + self.gate * self.hidden


def helper(outputs):
    return outputs


def scaled(**options):
    return lambda *shape: Scaled(shape, **options)


@pytest.mark.usefixtures("quick")
def test_scores_of_another_network_are_never_printed(tmp_path, monkeypatch):
    evaluated(tmp_path, scaled())
    for change in ({"scale": 0.9}, {"hidden": 3.0}):  # the second one counts once the gate has moved
        refused(r"is of another network.*\(outputs\); choose another folder", tmp_path, scaled(**change))
    with monkeypatch.context() as patched:
        patched.setitem(globals(), "helper", torch.tanh)
        refused(r"is of another network.*\(outputs\)", tmp_path, scaled())
    for name, value in {"learning_rate": 0.5, "batch_size": 64, "clip_norm": 1.0, "warmup": 3}.items():
        refused(f"is of another network.*{name}", tmp_path, scaled(), **{name: value})
    evaluated(tmp_path, scaled())  # all is as it was


@pytest.mark.usefixtures("quick")
def test_a_submission_and_its_checkpoints_belong_together(tmp_path, made):
    shutil.copytree(made, tmp_path / "one")
    evaluated(tmp_path / "two", seeds=[1])
    checkpoints = tmp_path / "one/checkpoints" / FOLDER
    kept = (checkpoints / "seed-0.pt").read_bytes()
    other = torch.load(tmp_path / "two/checkpoints" / FOLDER / "seed-1.pt")
    other[0]["seed"] = 0
    torch.save(other, checkpoints / "seed-0.pt")
    refused("has other predictions of test, seed 0, than the network", tmp_path / "one")
    for damaged in (b"", b"PK\x03\x04", kept[:-100], b"no checkpoint"):
        (checkpoints / "seed-0.pt").write_bytes(damaged)
        refused(r"seed-0\.pt is damaged .*remove it, and its seed", tmp_path / "one")
    foreign = evaluated(tmp_path / "three", boards=[(FUZZY_BOARD, STEPS * BATCH)]).results[0].folder.name
    copied = tmp_path / "three/checkpoints" / foreign / "seed-0.pt"
    (checkpoints / "seed-0.pt").write_bytes(copied.read_bytes())
    refused(r"seed-0\.pt is of another network", tmp_path / "one")
    (checkpoints / IDENTITY).write_text("{")
    refused("is damaged; remove", tmp_path / "one")
    (checkpoints / IDENTITY).unlink()
    refused(r"is a submission, but .* isn't there", tmp_path / "one")
    (tmp_path / "one" / FOLDER).rename(tmp_path / "aside")
    refused("doesn't say of what network it is", tmp_path / "one")


def test_classes_are_known_by_their_source_in_whatever_module(monkeypatch):
    before = digest_of_classes([Points])
    assert digest_of_classes([Deeper]) != before
    monkeypatch.setattr(Points, "__module__", "elsewhere")
    monkeypatch.setitem(sys.modules, "elsewhere", sys.modules[__name__])
    assert digest_of_classes([Points]) == before


@pytest.mark.usefixtures("quick")
def test_a_network_may_say_itself_what_it_minimises_and_answers(tmp_path):
    made, seen = [], []

    class Joint(Points):
        def __init__(self, *shape):
            super().__init__(*shape)
            made.append((self.layer.bias.detach().clone(), self))

        def training_loss(self, tokens, target, loss):
            seen.append(target)
            return loss(self(tokens).bfloat16()) * 0  # so nothing is learnt, and a bias doesn't decay

        def predict(self, tokens):
            return torch.full((len(tokens), 3), 3)

    found = evaluated(tmp_path, Joint).results[0]
    before, network = made[-1]
    assert torch.equal(network.layer.bias, before)
    assert seen[-1].shape == (BATCH, 3) and seen[-1].dtype == torch.int64
    [run] = read_submission(found.folder).runs["ood"]
    assert (run.predictions == 3).all()

    class Half(Points):
        def forward(self, tokens):
            return self.layer(tokens.bfloat16())

    boards = [(SRAVEN_BOARD, BATCH), (FUZZY_BOARD, BATCH)]
    evaluated(tmp_path / "half", lambda *shape: Half(*shape).bfloat16(), boards=boards)

    class Short(Points):
        def predict(self, tokens):
            return tokens[:, 0, 0]

    wanted = r"predict made \[1\] of tokens .*; expected \[1, 3\]"
    refused(wanted, tmp_path / "short", Short, error=ConfigurationError)


@pytest.mark.usefixtures("quick")
def test_changes_to_the_recipe_count_and_are_named(tmp_path):
    changed = evaluated(tmp_path, batch_size=64, clip_norm=0.1, authors="Me").results[0].folder
    said = read_submission(changed).content
    assert said["method"]["description"].endswith("Not by the recipe: batch_size 64, clip_norm 0.1.")
    assert said["training"]["instances"] == STEPS * BATCH and said["method"]["authors"] == ["Me"]


def test_what_is_marked_does_not_decay():
    from sraven.networks.training import _optimiser

    network = Points(9, 5, 5)
    decayed = lambda: [len(each["params"]) for each in _optimiser(network, Recipe()).param_groups]  # noqa: E731
    assert decayed() == [1, 1]
    network.layer.weight._no_weight_decay = True
    assert decayed() == [0, 2]


@pytest.mark.usefixtures("quick")
def test_asked_to_end_it_leaves_a_checkpoint_and_the_same_call_goes_on(tmp_path, made, monkeypatch):
    class After(Stop):
        """Is asked to end after three steps."""

        steps = 3

        def __call__(self):
            self.steps -= 1
            self.received = signal.SIGTERM if self.steps <= 0 else None
            return super().__call__()

    with monkeypatch.context() as patched:
        patched.setattr("sraven.networks.evaluation.stoppable", lambda note: nullcontext(After()))
        with pytest.raises(SystemExit) as ended:
            evaluated(tmp_path)
    assert ended.value.code == 128 + signal.SIGTERM
    assert torch.load(tmp_path / "checkpoints" / FOLDER / "seed-0.pt")[1] == 3
    evaluated(tmp_path)
    assert all_bytes(tmp_path / FOLDER / "predictions") == all_bytes(made / FOLDER / "predictions")


def test_progress_is_a_line():
    told = Progress("sraven-v1", 3, 1_000, 39_062, 0.5, {"ood": 0.25}, 60.0, 600.0)
    assert str(told) == "sraven-v1, seed 3, step 1,000 of 39,062: loss 0.5000, ood 0.2500, 10 min left"


def test_what_boards_may_be(monkeypatch):
    monkeypatch.setattr("sraven.networks.evaluation.load_board", read_board)  # instances aren't checked
    assert [(board.id, instances) for board, instances in check_boards("quick")] == list(QUICK)
    [(board, instances)] = check_boards("fuzzylogic-v1")
    assert instances == board.train_budget
    assert_refused("has no training split", check_boards, "sraven-text-v2")
    assert_refused("instances=5: expected", check_boards, [("sraven-v1", 5)])
    with pytest.warns(match="21,000,000 instances are more than its budget, 20,000,000"):
        check_boards([("sraven-v1", 21_000_000)])


def test_costs_are_those_of_a_linear_layer():
    from sraven.networks.training import measure_cost

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
    unknown = (None,) * 5  # chance, features, answers as the sibling, floor and ceiling
    return Result(board, instances, "r2", 1, Path(), nothing, nothing, estimate, *unknown, {}, None, cost, ())


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
    from sraven.networks.training import rate_at

    for step in (0, 10, 999, 1000, 5000, 19_999):
        assert rate_at(step, 20_000, 1000) == pytest.approx(
            float(warmup_cosine(step, 20_000, 1000)), rel=1e-5
        )
