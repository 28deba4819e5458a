"""What a network composes: its scores beside floors, ceilings and filed networks of equal budget."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import hypot
from pathlib import Path

from sraven.board.board import Board, load_board
from sraven.core.escape import figure, p_value
from sraven.leaderboard.comparison import Difference, compare_entries
from sraven.leaderboard.ranking import gather_own, read_snapshot
from sraven.leaderboard.standing import (
    LEARNT_CEILING,
    REFERENCE,
    Entry,
    Standing,
    primary_ceiling,
    saw_as_many,
)
from sraven.leaderboard.submissions.submission import RANKED_SEEDS
from sraven.networks.cost import Cost
from sraven.scoring.composing import Estimate, PartsKept
from sraven.scoring.scores import DIGITS


@dataclass(frozen=True)
class Result:
    """What a network scores on a board, trained on so many instances. As a text, it is some lines.

    Attributes:
        board: its id.
        instances: of training.
        metric: what is scored.
        seeds: how many were trained.
        folder: the submission.
        known: on known combinations. Intervals are over combinations.
        held_out: on held-out ones.
        kept: held out / known; None unless known is above chance, as nothing was learnt then.
        chance: what guessing scores.
        parts: features right at equal rules, known and held out, and what is lost; None of fuzzy logic.
        sibling_answers: on held-out ones, the share of features answered by their rule's sibling, of those
            for which it gives another symbol; None of fuzzy logic.
        floor: the most that is known to be reached on held-out ones without composing, and by what; None if
            nothing is known.
        ceiling: the most that is possible there.
        differences: on held-out ones, from filed networks of as many instances, by their names; p is
            corrected for all of them (Holm).
        nearest: the filed network whose instances are the nearest to these.
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
    chance: float | None
    parts: PartsKept | None
    sibling_answers: float | None
    floor: tuple[float, str] | None
    ceiling: float | None
    differences: Mapping[str, Difference]
    nearest: Entry | None
    cost: Cost
    entries: tuple[Entry, ...] = field(repr=False)

    def __str__(self) -> str:
        return "\n".join(_lines(self))


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
            + [f"\n{each}" for each in self.results]
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
    chance = f" (known isn't above chance, {figure(found.chance or 0.0)})"
    return [
        f"{found.board}, {found.instances:,} instances, {found.metric}, {found.seeds} "
        f"{'seed' if found.seeds == 1 else 'seeds'}: {found.folder}",
        f"  known {_words(found.known)}, held out {_words(found.held_out)}, kept {_words(found.kept)}"
        f"{'' if found.kept.value is not None else chance}",
        *_of_features(found),
        f"  without composing up to {floor}{ceiling}",
        *(
            f"  {each.difference:+.4f} [{each.interval[0]:+.4f}, {each.interval[1]:+.4f}], p (Holm) "
            f"{p_value(each.corrected)}, to {name} ({figure(each.second or 0.0)})"
            for name, each in found.differences.items()
            if each.difference is not None and each.interval and each.corrected is not None
        ),
        *(() if found.differences else (_nearest(found),)),
        f"  {cost.parameters:,} parameters, {cost.operations / 1e6:.2f} million operations an instance, "
        f"{cost.memory / 2**20:.0f} MiB to train on a batch{state}",
    ]


def _nearest(found: Result) -> str:
    line = "  no filed network with three seeds saw as many instances"
    if (nearest := found.nearest) is None or nearest.train_instances is None:
        return line
    return f"{line}; the nearest: {nearest.method}, {nearest.train_instances:,}"


def judge_submission(board: Board, instances: int, folder: Path, cost: Cost) -> Result:
    """Return what a submission scores, beside what is known of its board."""
    own = gather_own([folder])
    [standing] = read_snapshot(board.id, own=own).standings
    [entry], [evidence] = [each for each in standing.entries if each.own], own.values()
    composing = evidence.composing
    assert composing is not None, "`check_boards` refuses boards that aren't scored by combination"
    known, kept = composing.known, composing.kept
    if known.interval is None or known.interval[0] <= (board.chance or 0.0):
        kept = Estimate(None, None)
    comparable = _comparable(standing)
    others = [each for each in comparable if saw_as_many(each, instances)]
    found = compare_entries(entry, others, higher_is_better=board.higher_is_better)
    nearest = min(comparable, key=lambda each: abs((each.train_instances or 0) - instances), default=None)
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
        chance=board.chance,
        parts=composing.parts,
        sibling_answers=entry.sibling_answers(board.primary_split),
        floor=(floor.value, floor.title) if floor else None,
        ceiling=primary_ceiling(board),
        differences={each.method: found for each, found in zip(others, found, strict=True)},
        nearest=None if others else nearest,
        cost=cost,
        entries=(entry, *others),
    )


def _comparable(standing: Standing) -> list[Entry]:
    """Return the filed networks but for those with too few seeds to be ranked, or of unknown training."""
    return [
        each
        for each in standing.entries
        if each.is_filed
        and each.family not in (REFERENCE, LEARNT_CEILING)
        and each.seeds >= RANKED_SEEDS
        and each.train_instances is not None
    ]
