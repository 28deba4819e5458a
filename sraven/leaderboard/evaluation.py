"""Any network by one call: trained on some boards, scored, and held against filed entries of equal budget."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from math import hypot
from pathlib import Path
from typing import Any, NamedTuple

from sraven.board.board import Board, load_board
from sraven.core.arguments import check_integer
from sraven.core.cost import Cost
from sraven.core.errors import ConfigurationError, OutputError
from sraven.core.escape import figure, p_value
from sraven.leaderboard.comparison import Difference, compare_entries
from sraven.leaderboard.ranking import gather_own, read_snapshot
from sraven.leaderboard.standing import LEARNT_CEILING, REFERENCE, Entry, Standing, primary_ceiling
from sraven.leaderboard.submissions.submission import RANKED_SEEDS, read_description
from sraven.leaderboard.submissions.submit import write_submission
from sraven.scoring.composing import Estimate, PartsKept
from sraven.scoring.scores import DIGITS

QUICK = (
    ("sraven-camps3-v1", 500_000),
    ("sraven-camps3-v1", 2_000_000),
    ("fuzzylogic-v1", 400_000),
    ("fuzzylogic-v1", 1_600_000),
)
"""Boards and instances to train on that tell networks apart in about an hour of two cores."""

BATCH = 128

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


Train = Callable[[Board, int, Path], Trained]
"""Trains on a board with a number of steps, and goes on with what is in a folder."""


@dataclass(frozen=True)
class Result:
    """What a network scores on a board, trained on so many instances.

    Attributes:
        board: its id.
        instances: of training.
        metric: what is scored.
        seeds: how many were trained.
        folder: the submission.
        known: on known combinations. Intervals are over combinations.
        held_out: on held-out ones.
        kept: held out / known; None unless known is above chance, as nothing was learnt then.
        parts: features right at equal rules, known and held out, and what is lost; None of fuzzy logic.
        sibling_answers: on held-out ones, the share of features answered by their rule's sibling, of those
            for which it gives another symbol; None of fuzzy logic.
        floor: the most that is known to be reached on held-out ones without composing, and by what; None if
            nothing is known.
        ceiling: the most that is possible there.
        differences: on held-out ones, from filed networks of as many instances, by their names; p is
            corrected for all of them (Holm).
        cost: of the network.
        entries: as the leaderboard has them: the network, and those that it is compared with.
    """

    board: str
    instances: int
    metric: str
    seeds: int
    folder: Path
    known: Estimate
    held_out: Estimate
    kept: Estimate
    parts: PartsKept | None
    sibling_answers: float | None
    floor: tuple[float, str] | None
    ceiling: float | None
    differences: Mapping[str, Difference]
    cost: Cost
    entries: tuple[Entry, ...] = field(repr=False)


@dataclass(frozen=True)
class Evaluation:
    """What a network scores on some boards. As a text, it is a table.

    Attributes:
        name: of the network.
        results: one for each board and budget.
    """

    name: str
    results: tuple[Result, ...]

    @property
    def kept(self) -> Estimate:
        """The mean over boards of what is kept of known combinations, each at its largest budget."""
        largest = {each.board: each for each in sorted(self.results, key=lambda each: each.instances)}
        found = [each.kept for each in largest.values()]
        if any(each.value is None or each.interval is None for each in found):
            return Estimate(None, None)
        pairs = [(each.value or 0.0, each.interval or (0.0, 0.0)) for each in found]
        mean = sum(value for value, _ in pairs) / len(pairs)
        # Boards are independent, so their distances to the ends of intervals add up like standard errors.
        below = hypot(*(value - low for value, (low, _) in pairs)) / len(pairs)
        above = hypot(*(high - value for value, (_, high) in pairs)) / len(pairs)
        return Estimate(round(mean, DIGITS), (round(mean - below, DIGITS), round(mean + above, DIGITS)))

    def save_picture(self, path: str | Path) -> None:
        """Write SVG, PDF or PNG: known and held-out combinations, beside networks of equal budget and levels.

        It needs matplotlib: ``pip install '.[analysis]'`` in a checkout.
        """
        from sraven.leaderboard.page.picture import Panel, bar_of, levels_of, save_scores

        panels = []
        for each in self.results:
            board = load_board(each.board)
            title = f"{each.board}, {each.instances:,} instances: {each.metric}"
            panels.append(Panel(title, [bar_of(board, entry) for entry in each.entries], levels_of(board)))
        save_scores(panels, Path(path))

    def __str__(self) -> str:
        return "\n".join(
            [f"{self.name} keeps {_words(self.kept)} of what it scores on known combinations"]
            + [line for each in self.results for line in _lines(each)]
        )


def _words(found: Estimate) -> str:
    if found.value is None or found.interval is None:
        return "–"
    return f"{figure(found.value)} [{figure(found.interval[0])}, {figure(found.interval[1])}]"


def _of_features(found: Result) -> list[str]:
    if not (parts := found.parts):
        return []
    as_sibling = "" if found.sibling_answers is None else f", as the sibling {figure(found.sibling_answers)}"
    return [
        f"  features right at equal rules: known {_words(parts.known)}, held out {_words(parts.held_out)}, "
        f"lost {_words(parts.lost)}{as_sibling}"
    ]


def _lines(found: Result) -> list[str]:
    cost, ceiling = found.cost, "" if found.ceiling is None else f", ceiling {figure(found.ceiling)}"
    floor = f"{figure(found.floor[0])} ({found.floor[1]})" if found.floor else "unknown"
    state = "" if cost.state is None else f", a state of {cost.state:,} numbers"
    return [
        "",
        f"{found.board}, {found.instances:,} instances, {found.metric}, {found.seeds} "
        f"{'seed' if found.seeds == 1 else 'seeds'}: {found.folder}",
        f"  known {_words(found.known)}, held out {_words(found.held_out)}, kept {_words(found.kept)}",
        *_of_features(found),
        f"  without composing up to {floor}{ceiling}",
        *(
            f"  {each.difference:+.4f} [{each.interval[0]:+.4f}, {each.interval[1]:+.4f}], p (Holm) "
            f"{p_value(each.corrected)}, to {name} ({figure(each.second or 0.0)})"
            for name, each in found.differences.items()
            if each.difference is not None and each.interval and each.corrected is not None
        ),
        *(() if found.differences else ("  no filed network with three seeds saw as many instances",)),
        f"  {cost.parameters:,} parameters, {cost.operations / 1e6:.2f} million operations an instance, "
        f"{cost.memory / 2**20:.0f} MiB to train on {BATCH}{state}",
    ]


def check_boards(boards: Boards) -> list[tuple[Board, int]]:
    """Return boards, and on how many instances to train.

    Args:
        boards: ``quick`` for `QUICK`; or ids of boards, each for its whole budget, or pairs of an id and
            instances.

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
        found.append((board, check_integer("instances", instances, BATCH, 1 << 40, "a batch at least")))
    return found


def evaluate(
    train: Train,
    boards: Boards,
    *,
    name: str,
    authors: Sequence[str],
    description: str,
    seeds: Sequence[int],
    out: str | Path,
) -> Evaluation:
    """Train a network on some boards, score it, and compare it with what is filed.

    What is in ``out`` already isn't trained again.

    Args:
        train: trains it.
        boards: see `check_boards`.
        name: of the method.
        authors: of the submissions.
        description: of the method, in a sentence.
        seeds: that are trained.
        out: a folder, which gets a submission for each board and budget.

    Raises:
        ConfigurationError: for other boards, or no seed.
        OutputError: if ``out`` has submissions of another method, or of other seeds.
    """
    if not seeds or len(set(seeds)) < len(seeds):
        raise ConfigurationError(f"seeds={list(seeds)}: expected one or more, each once")
    planned = [(*each, Path(out) / f"{each[0].id}-{each[1]}") for each in check_boards(boards)]
    for *_, folder in planned:  # before hours of training
        _check_same(folder, name, seeds)
    made: list[tuple[Board, int, Path, Cost]] = []
    for board, instances, folder in planned:
        trained = train(board, instances // BATCH, Path(out) / "checkpoints" / folder.name)
        if not folder.exists():
            write_submission(
                folder,
                board.id,
                trained.predictions,
                method={"name": name, "description": description, "authors": list(authors)},
                model={"parameters": trained.cost.parameters},
                training={
                    "instances": instances // BATCH * BATCH,
                    "selection_split": None,
                    "tuning_trials": 1,
                },
            )
        made.append((board, instances, folder, trained.cost))
    found = Evaluation(name, tuple(_judge(*each) for each in made))
    if find_spec("matplotlib"):
        found.save_picture(Path(out) / PICTURE)
    return found


def _check_same(folder: Path, name: str, seeds: Sequence[int]) -> None:
    """Refuse a submission of another method or other seeds, where there is one."""
    if not folder.exists():
        return
    content, _ = read_description(folder)
    if (other := content["method"]["name"]) != name:
        raise OutputError(f"{folder} is of {other!r}; choose another folder for {name!r}")
    if (filed := sorted({each["seed"] for each in content["runs"]})) != sorted(seeds):
        raise OutputError(
            f"{folder} has seeds {filed}; remove it for {sorted(seeds)}, what is trained stays in checkpoints"
        )


def _judge(board: Board, instances: int, folder: Path, cost: Cost) -> Result:
    """Return what a submission scores, beside what is known of its board."""
    own = gather_own([folder])
    [standing] = read_snapshot(board.id, own=own).standings
    [entry], [evidence] = [each for each in standing.entries if each.own], own.values()
    composing = evidence.composing
    assert composing is not None, "`check_boards` refuses boards that aren't scored by combination"
    known, kept = composing.known, composing.kept
    if known.interval is None or known.interval[0] <= (board.chance or 0.0):
        kept = Estimate(None, None)
    others = _rivals(standing, entry)
    found = compare_entries(entry, others, higher_is_better=board.higher_is_better)
    floor = board.best_baseline
    return Result(
        board=board.id,
        instances=instances,
        metric=board.metric,
        seeds=entry.seeds,
        folder=folder,
        known=known,
        held_out=composing.held_out,
        kept=kept,
        parts=composing.parts,
        sibling_answers=entry.sibling_answers(board.primary_split),
        floor=(floor.value, floor.title) if floor else None,
        ceiling=primary_ceiling(board),
        differences={each.method: found for each, found in zip(others, found, strict=True)},
        cost=cost,
        entries=(entry, *others),
    )


def _rivals(standing: Standing, entry: Entry) -> list[Entry]:
    """Return the filed networks that saw as many instances, but for those with too few seeds to be ranked."""
    return [
        each
        for each in standing.entries
        if each.is_filed
        and each.family not in (REFERENCE, LEARNT_CEILING)
        and each.seeds >= RANKED_SEEDS
        and each.train_instances is not None
        and entry.train_instances is not None
        and each.train_instances // BATCH == entry.train_instances // BATCH
    ]


def evaluate_network(
    make_network: Callable[[int, int, int], Any],
    boards: Boards = "quick",
    *,
    name: str | None = None,
    authors: Sequence[str] = ("anonymous",),
    out: str | Path = "evaluation",
    seeds: Sequence[int] = (0,),
    learning_rate: float = 1e-3,
    device: str | None = None,
    on_progress: Callable[[str], None] | None = print,
) -> Evaluation:
    """Train a PyTorch network by the baselines' recipe, and say what it composes.

    Each board gets a submission: what the network predicts, to be filed with three seeds or more
    (``sraven submit``). Interrupted, the same call goes on. `baselines.evaluate_network` is the same for JAX.

    Args:
        make_network: returns a new `torch.nn.Module`, given T, tokens of a sequence, I, numbers of a token,
            and O, numbers of an output. It takes float32 ``[B, T, I]`` and returns ``[B, T, O]``, of which
            the last tokens count: M for SRAVEN, one for fuzzy logic. One with a method
            ``training_loss(tokens, loss)`` says itself what is minimised, ``loss`` being that of outputs; a
            recurrent one may say its ``state_size``.
        boards: ``quick`` for `QUICK`; or a board's id, ids, or pairs of an id and instances to train on.
        name: of the method; None for that of ``make_network``.
        authors: of the submissions.
        out: the folder for all that is written.
        seeds: of parameters; a network for each.
        learning_rate: its peak.
        device: PyTorch's name of one; None for a GPU if there is one.
        on_progress: is told a line now and then; None for silence.

    Returns:
        the scores. Printed, they are a table; ``kept`` is the number over all boards.

    Raises:
        ConfigurationError: for other boards, or outputs that don't fit.
        OutputError: if ``out`` has another method's, other seeds', or checkpoints of another network.

    Example:
        >>> print(sraven.evaluate_network(lambda T, I, O: nn.Sequential(nn.Linear(I, 64), nn.Linear(64, O))))
    """
    from sraven.core.torch.training import TrainingOptions, default_device, train_seeds

    def train(board: Board, steps: int, folder: Path) -> Trained:
        task: Any = board.task

        def judge(split: str, predictions: Any) -> dict[str, float]:
            return {board.metric: task.score(split, predictions).metrics[board.metric].mean}

        def say(line: str) -> None:
            if on_progress:
                on_progress(f"{board.id}, {line}")

        options = TrainingOptions(steps, BATCH, learning_rate, device=device or default_device())
        found = train_seeds(make_network, task, board.splits, options, seeds, folder, judge, say)
        return Trained(*found)

    called = name or str(getattr(make_network, "__name__", type(make_network).__name__))
    said = "A PyTorch network, trained by sraven.evaluate_network."
    return evaluate(train, boards, name=called, authors=authors, description=said, seeds=seeds, out=out)
