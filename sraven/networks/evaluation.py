"""Any network by one call: trained on some boards, scored, and held against filed entries of equal budget."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from sraven.board.board import Board, load_board
from sraven.core.arguments import check_integer
from sraven.core.errors import ConfigurationError
from sraven.core.spec import SEED_LIMIT
from sraven.leaderboard.submissions.submit import describe_submission, write_submission
from sraven.networks.cost import Cost
from sraven.networks.identity import check_identity, check_predictions, check_submission
from sraven.networks.recipe import Recipe
from sraven.networks.results import Evaluation, Result, judge_submission
from sraven.networks.stopping import stoppable

QUICK = (
    ("sraven-easy-v1", 50_000),
    ("sraven-easy-v1", 100_000),
    ("sraven-camps3-v1", 500_000),
    ("sraven-camps3-v1", 2_000_000),
    ("fuzzylogic-v1", 400_000),
    ("fuzzylogic-v1", 1_600_000),
)
"""Boards and instances to train on that tell networks apart in about an hour of two cores; the first two take
minutes."""

PICTURE = "scores.svg"
"""What is drawn beside the submissions, where there is matplotlib."""

Boards = str | Sequence[str | tuple[str, int]]


class Trained(NamedTuple):
    """A network that was trained on a board with some seeds.

    Attributes:
        predictions: of each split of the board, an array for each seed.
        cost: of the network.
    """

    predictions: Mapping[str, Mapping[int, Any]]
    cost: Cost


class Trainer(NamedTuple):
    """How networks of a framework are trained.

    Attributes:
        identify: returns what tells a network and its training from others, as JSON, given a board, steps
            and a seed. Lists of numbers are compared but for rounding.
        train: trains on a board with a number of steps, and goes on with what is in a folder; a function
            says whether to stop. Returns None if it did.
    """

    identify: Callable[[Board, int, int], Mapping[str, Any]]
    train: Callable[[Board, int, Path, Callable[[], bool]], Trained | None]


def check_boards(boards: Boards, batch_size: int = 128) -> list[tuple[Board, int]]:
    """Return boards, and on how many instances to train; more than a board's budget are warned of.

    Args:
        boards: ``quick`` for `QUICK`; or ids of boards, each for its whole budget, or pairs of an id and
            instances.
        batch_size: of training.

    Raises:
        ConfigurationError: if there is no such board, nothing to train on, or fewer instances than a batch.
    """
    if isinstance(boards, str):
        boards = QUICK if boards == "quick" else [boards]
    found = []
    for each in boards:
        name, instances = each if isinstance(each, tuple) else (each, None)
        board = load_board(name)
        if "train" not in board.task.splits:
            raise ConfigurationError(f"{name} has no training split; expected a board to train on")
        if board.metric not in board.task.scoring.by_combination:
            raise ConfigurationError(f"{name} isn't scored by combination; expected a board that is")
        instances = board.train_budget if instances is None else instances
        check_integer("instances", instances, batch_size, 1 << 40, "a batch at least")
        if instances > board.train_budget:
            warnings.warn(
                f"{name}: {instances:,} instances are more than its budget, {board.train_budget:,}; "
                "nothing is ranked with them",
                stacklevel=2,
            )
        found.append((board, instances))
    return found


class _Plan(NamedTuple):
    """What is to be trained on a board, what its submission says of that, and where it goes."""

    board: Board
    instances: int
    steps: int
    training: Mapping[str, Any]
    out: Path

    @property
    def folder(self) -> Path:
        """Of the submission."""
        return self.out / f"{self.board.id}-{self.instances}"

    @property
    def checkpoints(self) -> Path:
        """Their folder."""
        return self.out / "checkpoints" / self.folder.name


def _plans(
    trainer: Trainer,
    boards: Boards,
    recipe: Recipe,
    method: Mapping[str, Any],
    seeds: Sequence[int],
    out: Path,
) -> list[_Plan]:
    """Return what is to be trained; all that can be refused is."""
    plans, identities = [], []
    for board, instances in check_boards(boards, recipe.batch_size):
        steps = instances // recipe.batch_size
        training = {"instances": steps * recipe.batch_size, "selection_split": None, "tuning_trials": 1}
        plan = _Plan(board, instances, steps, training, out)
        runs = [(split, seed) for split in board.splits for seed in seeds]
        describe_submission(board, runs, method=method, model={"parameters": 1}, training=training)
        check_submission(plan.folder, plan.checkpoints, method["name"], seeds)
        identities.append({str(seed): trainer.identify(board, steps, seed) for seed in seeds})
        plans.append(plan)
    for plan, found in zip(plans, identities, strict=True):
        check_identity(plan.checkpoints, found)
    return plans


def _file(plan: _Plan, trained: Trained, method: Mapping[str, Any]) -> None:
    """Write the submission; one that is there already has to have the same predictions."""
    if plan.folder.exists():
        check_predictions(plan.folder, trained.predictions)
        return
    write_submission(
        plan.folder,
        plan.board.id,
        trained.predictions,
        method=method,
        model={"parameters": trained.cost.parameters},
        training=plan.training,
    )


def evaluate(
    trainer: Trainer,
    boards: Boards,
    recipe: Recipe,
    *,
    name: str,
    authors: str | Sequence[str],
    description: str,
    seeds: Sequence[int],
    out: str | Path,
    on_result: Callable[[Result], None] | None,
) -> Evaluation:
    """Train a network on some boards, score it, and compare it with what is filed.

    What is in ``out`` already isn't trained again. All that can be refused is, before the first step.

    Args:
        trainer: trains it.
        boards: see `check_boards`.
        recipe: of training.
        name: of the method.
        authors: of the submissions.
        description: of the method, in a sentence.
        seeds: that are trained.
        out: a folder, which gets a submission for each board and budget.
        on_result: is told each result as soon as it is there; None for silence.

    Raises:
        ConfigurationError: for other boards, no seed, or a description that isn't allowed.
        OutputError: if ``out`` has submissions or checkpoints of another method, network or seeds.
        SystemExit: if Ctrl-C or SIGTERM asked to end; there is a checkpoint.
    """
    seeds = [check_integer("a seed", each, 0, SEED_LIMIT) for each in seeds]
    if not seeds or len(set(seeds)) < len(seeds):
        raise ConfigurationError(f"seeds={seeds}: expected one or more, each once")
    method = {
        "name": name,
        "description": description + recipe.changes,
        "authors": [authors] if isinstance(authors, str) else list(authors),
    }
    plans, results = _plans(trainer, boards, recipe, method, seeds, Path(out)), list[Result]()
    with stoppable("there will be a checkpoint; the same call goes on") as stop:
        for plan in plans:
            trained = trainer.train(plan.board, plan.steps, plan.checkpoints, stop)
            if trained is None:
                raise SystemExit(stop.exit_code)
            _file(plan, trained, method)
            results.append(judge_submission(plan.board, plan.instances, plan.folder, trained.cost))
            if on_result:
                on_result(results[-1])
    evaluation = Evaluation(name, tuple(results))
    if find_spec("matplotlib"):
        evaluation.save_picture(Path(out) / PICTURE)
    return evaluation
