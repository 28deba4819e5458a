"""How the standing of a board is printed."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from cli.shared.printing import print_table

if TYPE_CHECKING:
    from sraven.core.boards.board import Board
    from sraven.core.leaderboard.standing import Entry, Standing


def _remarks(standing: "Standing") -> list[str]:
    """Return why entries aren't ranked, a line each, and what to know of those that are."""
    from sraven.core.ground.echo import shown
    from sraven.core.leaderboard.eligibility import REFERENCE
    from sraven.core.leaderboard.ranking import REPORTED

    told = [
        f"{entry.id}: {'' if entry.rank else 'not ranked: '}{shown(entry.remark, 400)}"
        for entry in standing.entries
        if entry.remark not in ("", standing.note) and entry.badge != REPORTED and entry.family != REFERENCE
    ]
    return [standing.note, *told] if standing.note else told


def _bounds(board: "Board") -> str:
    """Return what scores are read against, to stand behind a title; nothing if nobody knows."""
    from sraven.core.ground.echo import figure

    ceiling, lines = board.ceiling(board.primary_split, board.metric), board.lines(board.primary_split)
    best = [f"{figure(ceiling.value)} ({ceiling.answers})"] if ceiling else []
    best += [f"{figure(line.value)} ({line.title})" for line in lines if not line.is_lower]
    told = [f"ceiling {', '.join(best)}"] if best else []
    told += [f"{line.title} {figure(line.value)}" for line in lines if line.is_lower]
    return "".join(f"; {each}" for each in told)


def print_standing(standing: "Standing") -> None:
    """Print a board's table."""
    from rich.table import Table
    from rich.text import Text

    from sraven.core.ground.echo import figure, shown, with_error
    from sraven.core.leaderboard.ranking import ceiling
    from sraven.core.page.groups import look_notes

    board, best = standing.board, ceiling(standing.board)
    title = f"{board.id}: {board.title}"
    if not standing.entries:
        click.echo(f"{title} (no entries yet)" + (f"; {standing.note}" if standing.note else ""))
        return
    title += _bounds(board)
    trained = "trained on" if board.budget_unit == "instances" else board.budget_unit
    cells: dict[str, Callable[[Entry], str | Text]] = {
        "rank": lambda entry: str(entry.rank or ""),
        "method": lambda entry: Text(shown(entry.method)),  # a stranger's: no markup
        "badge": lambda entry: entry.badge,
        f"{board.primary_split} {board.metric}": lambda entry: (
            "–" if entry.value is None else with_error(entry.value, entry.standard_error)
        ),
        "gap": lambda entry: "" if entry.gap is None else figure(entry.gap),
        "parameters": lambda entry: "" if entry.parameters is None else f"{entry.parameters:,}",
        trained: lambda entry: f"{entry.train_instances:,}" if entry.train_instances else "",
    }
    if board.is_text:
        found = board.primary_split
        cells["asked"] = lambda entry: entry.replies.form if entry.replies else ""
        cells["unparsed"] = lambda entry: figure(entry.splits.get(found, {}).get("unparsed") or 0)
    if best is None:
        del cells["gap"]
    table = Table(title=title, title_justify="left")
    for heading in cells:
        table.add_column(heading, justify="left" if heading in ("method", "badge") else "right")
    for entry in standing.entries:
        table.add_row(*(cell(entry) for cell in cells.values()))
    print_table(table)
    for line in _remarks(standing):
        click.echo(line)
    for entry_id, note in look_notes(standing).items():
        click.echo(f"{shown(entry_id)}: {note}", err=True)
