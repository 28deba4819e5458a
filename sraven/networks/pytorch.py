"""Any PyTorch network by one call."""

import copy
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from sraven.board.board import Board
from sraven.networks.evaluation import Boards, Trained, Trainer, evaluate
from sraven.networks.recipe import Progress, make_recipe
from sraven.networks.results import Evaluation, Result

_JUDGED = 1024
"""Instances of each split that are scored during training."""

print_now: Callable[[object], None] = partial(print, flush=True)
"""Prints at once: a pipe would keep lines for an hour."""


def evaluate_network(
    make_network: Callable[[int, int, int], Any],
    boards: Boards = "quick",
    *,
    name: str | None = None,
    authors: str | Sequence[str] = ("anonymous",),
    out: str | Path = "evaluation",
    seeds: Sequence[int] = (0,),
    device: str | None = None,
    on_progress: Callable[[Progress], None] | None = print_now,
    on_result: Callable[[Result], None] | None = print_now,
    **changes: Any,
) -> Evaluation:
    """Train a PyTorch network by the baselines' recipe, and say what it composes.

    Each board gets a submission: what the network predicts, to be filed with three seeds or more
    (``sraven submit``). Interrupted, by Ctrl-C or SIGTERM too, the same call goes on.
    `baselines.evaluate_network` is the same for JAX.

    Args:
        make_network: returns a new `torch.nn.Module`, given T, tokens of a sequence, I, numbers of a token,
            and O, numbers of an output. It takes float32 ``[B, T, I]`` and returns ``[B, T, O]``, of which
            the last tokens count: M for SRAVEN, one for fuzzy logic. One with a method
            ``training_loss(tokens, target, loss)`` says itself what is minimised: target is int64 ``[B, M]``,
            or float32 ``[B]`` of fuzzy logic, and loss that of outputs. One with a method
            ``predict(tokens)`` returns its answers itself, of the target's shape. A recurrent one may say its
            ``state_size``. Parameters that are marked ``_no_weight_decay`` have none.
        boards: ``quick`` for `QUICK`; or a board's id, ids, or pairs of an id and instances to train on.
        name: of the method; None for that of ``make_network``.
        authors: of the submissions.
        out: the folder for all that is written.
        seeds: of parameters; a network for each.
        device: PyTorch's name of one; None for a GPU if there is one.
        on_progress: is told how training goes now and then; None for silence.
        on_result: is told each board's result as soon as it is there; None for silence.
        changes: to the recipe, fields of `Recipe`, such as ``learning_rate``. The submission names them.

    Returns:
        the scores. Printed, they are a table; ``kept`` is the number over all boards.

    Raises:
        ConfigurationError: for other boards, a value out of range, or outputs that don't fit.
        OutputError: if ``out`` has another method's, other seeds', or checkpoints of another network.
        SystemExit: if a signal asked to end; there is a checkpoint.

    Example:
        >>> print(sraven.evaluate_network(lambda T, I, O: nn.Sequential(nn.Linear(I, 64), nn.Linear(64, O))))
    """
    from sraven.networks import training

    recipe, tell = make_recipe(**changes), on_progress or (lambda _: None)

    def options_of(steps: int, seed: int) -> training.TrainingOptions:
        return training.TrainingOptions(steps, seed, recipe, device or training.default_device())

    def identify(board: Board, steps: int, seed: int) -> dict[str, Any]:
        task: Any = board.task
        network = training.make_seeded(make_network, task.sequences, seed)
        training.measure_cost(network, task, task.sequences, 1)
        made_of = training.describe_training(network, task, options_of(steps, seed))
        return {**made_of, "outputs": training.fingerprint(network, task, task.sequences)}

    def train(board: Board, steps: int, folder: Path, stop: Callable[[], bool]) -> Trained | None:
        task: Any = board.task
        of, predictions = task.sequences, {split: dict[int, Any]() for split in board.splits}

        def judge(network: Any) -> dict[str, dict[str, float]]:
            def score(split: str) -> Any:
                found = training.predict_split(network, task, of, split, _JUDGED)
                return task.score(split, found).metrics[board.metric].mean

            return {split: {board.metric: score(split)} for split in board.splits}

        def tell_of(seed: int, line: Mapping[str, Any], seconds: float, seconds_left: float) -> None:
            scores = {split: found[board.metric] for split, found in line.get("scores", {}).items()}
            tell(Progress(board.id, seed, line["step"], steps, line["loss"], scores, seconds, seconds_left))

        for seed in seeds:
            network = training.make_seeded(make_network, of, seed)
            cost = training.measure_cost(copy.deepcopy(network), task, of, recipe.batch_size)
            checkpoint = folder / f"seed-{seed}.pt"
            options = options_of(steps, seed)
            heard = partial(tell_of, seed)
            if not training.train_network(network, task, of, options, checkpoint, judge, heard, stop):
                return None
            for split, size in board.splits.items():
                predictions[split][seed] = training.predict_split(network, task, of, split, size)
        return Trained(predictions, cost)

    return evaluate(
        Trainer(identify, train),
        boards,
        recipe,
        name=name or str(getattr(make_network, "__name__", type(make_network).__name__)),
        authors=authors,
        description="A PyTorch network, trained by sraven.evaluate_network.",
        seeds=seeds,
        out=out,
        on_result=on_result,
    )
