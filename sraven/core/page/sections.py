"""A board's section of the page, as values for the template: what it is, its plots, its table, its notes."""

from collections.abc import Iterable
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from sraven.core.boards.board import Board
from sraven.core.boards.ceilings import ANSWERS
from sraven.core.leaderboard.standing import Entry, Standing
from sraven.core.page.groups import is_ranked, name_entries, reported_notes
from sraven.core.page.legend import Key, find_legend
from sraven.core.page.mistakes import Kind, legend
from sraven.core.page.plot import draw_plot, plot_title
from sraven.core.page.rungs import CAPTION as RUNGS_CAPTION
from sraven.core.page.rungs import draw_series, find_series, series_title
from sraven.core.page.scale import Axis
from sraven.core.page.summary import Summary, make_summary
from sraven.core.page.table import Table, make_table
from sraven.core.page.words import REFERENCE, capitalised, compact, kind, metric_name, score

_LONGEST_SETTING = 40  # of what is longer, such as a digest, the beginning tells


@dataclass(frozen=True)
class Ceiling:
    """What an ideal observer scores, whether it knows the split, and what it answers with."""

    value: str
    knows_split: bool
    answers: str


@dataclass(frozen=True)
class Line:
    """What scores are read against besides: a score, its name and whose it is."""

    value: str
    title: str
    meaning: str


@dataclass(frozen=True)
class Facts:
    """What a board is, in words."""

    metric: str
    primary_split: str
    ceilings: tuple[Ceiling, ...]
    lines: tuple[Line, ...]
    budget: str
    unit: str
    sizes: str
    setting: str
    digest: str
    forms: tuple[str, ...]


@dataclass(frozen=True)
class Figure:
    """The plots of a board with their titles, the kinds of points in them with their marks, and a caption."""

    panels: tuple[tuple[str, Element], ...]
    keys: tuple[Key, ...]
    caption: str


@dataclass(frozen=True)
class Section:
    """A board; ``table`` is None if it has no entries.

    ``summary`` is what the first screen says of it. ``figure`` is None if no plot would tell more than the
    table. ``kinds`` are those of its wrong answers, if they are sorted.
    """

    id: str
    title: str
    is_ranked: bool
    is_corpus: bool
    is_text: bool
    summary: Summary
    facts: Facts
    note: str
    kinds: tuple[Kind, ...]
    figure: Figure | None
    table: Table | None
    notes: tuple[tuple[str, str], ...]


def _ceilings(board: Board) -> tuple[Ceiling, ...]:
    told = {"split": True, "all combinations": False}
    known = [board.ceiling(board.primary_split, board.metric, knowing) for knowing in told]
    return tuple(
        Ceiling(score(found.value), told[found.knows], ANSWERS[found.answers]) for found in known if found
    )


def _setting(board: Board) -> str:
    config = {
        name: " ".join(value) if isinstance(value, list) else str(value)
        for name, value in board.config.items()
    }
    return ", ".join(
        f"{name}={value if ' ' in value or len(value) <= _LONGEST_SETTING else f'{value[:12]}…'}"
        for name, value in config.items()
        if name not in ("task", "version")
    )


def _facts(board: Board) -> Facts:
    return Facts(
        metric=metric_name(board, board.metric),
        primary_split=board.primary_split,
        ceilings=_ceilings(board),
        lines=tuple(
            Line(score(line.value), line.title, line.meaning) for line in board.lines(board.primary_split)
        ),
        budget=compact(board.train_budget) if board.train_budget else "no",
        unit=board.budget_unit,
        sizes=", ".join(f"{size:,} {split}" for split, size in board.splits.items()),
        setting=_setting(board),
        digest=board.digest,
        forms=tuple(board.prompts),
    )


def _is_telling(axis: Axis, entries: Iterable[Entry]) -> bool:
    """Return whether a plot would tell more than a list: entries that were trained lie at several counts."""
    counts = {axis.value(entry) for entry in entries if kind(entry) != REFERENCE}
    return len(counts - {None, 0}) > 1


def _figure(standing: Standing) -> Figure | None:
    """Return the plots of a board that tell something; None if there are none."""
    named = [(name, entry) for name, entry in name_entries(standing) if entry.value is not None]
    entries = [entry for _, entry in named]
    if named and (all_series := find_series(standing.board.rungs)):
        drawn = ((series_title(standing, each), draw_series(standing, named, each)) for each in all_series)
        return Figure(tuple(drawn), find_legend(entries), RUNGS_CAPTION)
    own = standing.board.train_budget
    budgets = sorted(standing.board.train_budgets, key=lambda budget: (budget != own, budget))
    axes = (
        Axis(f"training {standing.board.budget_unit}", lambda entry: entry.train_instances, tuple(budgets)),
        Axis("parameters", lambda entry: entry.parameters),
    )
    panels = tuple(
        (plot_title(standing, axis), draw_plot(standing, named, axis))
        for axis in axes
        if _is_telling(axis, entries)
    )
    told = "Bars show ± the standard error over seeds. Entries at the same place stand side by side."
    return Figure(panels, find_legend(entries), told) if panels else None


def make_section(standing: Standing) -> Section:
    """Return what the page says of a board."""
    board = standing.board
    return Section(
        id=board.id,
        title=board.title,
        is_ranked=is_ranked(standing),
        is_corpus=board.is_corpus,
        is_text=board.is_text,
        summary=make_summary(standing),
        facts=_facts(board),
        note=capitalised(standing.note),
        kinds=legend(standing),
        figure=_figure(standing),
        table=make_table(standing) if standing.entries else None,
        notes=tuple(reported_notes(standing)),
    )
