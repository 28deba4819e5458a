"""A board's section of the page, as values for the template: what opens to its plots, table, notes and facts.

What the template needs besides, it takes from the board.
"""

from typing import NamedTuple

from sraven.core.boards.board import Board
from sraven.core.boards.ceilings import ANSWERS
from sraven.core.leaderboard.standing import Standing
from sraven.core.page.groups import name_entries, reported_notes
from sraven.core.page.mistakes import MistakeKind, legend
from sraven.core.page.plots import BoardPlots, make_figure
from sraven.core.page.summary import BoardSummary, make_summary
from sraven.core.page.table import Table, make_table
from sraven.core.page.words import capitalised, score

_LONGEST_SETTING = 40  # of what is longer, such as a digest, the beginning tells


class BoardSection(NamedTuple):
    """A board.

    Attributes:
        board: the board.
        summary: what the first screen says of it.
        ceilings: what an ideal observer scores, whether it knows the split, and what it answers with.
        setting: of the task, in a line.
        note: why nothing on it is ranked; may be empty.
        kinds: those of its wrong answers, if they are sorted.
        figure: None if no plot would tell more than the table.
        table: None if it has no entries.
        notes: where reported figures are from, and remarks on them.
    """

    board: Board
    summary: BoardSummary
    ceilings: tuple[tuple[str, bool, str], ...]
    setting: str
    note: str
    kinds: tuple[MistakeKind, ...]
    figure: BoardPlots | None
    table: Table | None
    notes: tuple[tuple[str, str], ...]


def _ceilings(board: Board) -> tuple[tuple[str, bool, str], ...]:
    known = [board.ceiling(board.primary_split, board.metric, who) for who in ("split", "all combinations")]
    return tuple((score(each.value), each.knows == "split", ANSWERS[each.answers]) for each in known if each)


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


def make_section(standing: Standing) -> BoardSection:
    """Return what the page says of a board."""
    board = standing.board
    return BoardSection(
        board=board,
        summary=make_summary(standing),
        ceilings=_ceilings(board),
        setting=_setting(board),
        note=capitalised(standing.note),
        kinds=legend(standing),
        figure=make_figure(standing, name_entries(standing)),
        table=make_table(standing) if standing.entries else None,
        notes=tuple(reported_notes(standing)),
    )
