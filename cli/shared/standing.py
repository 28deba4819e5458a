"""Find the standing, and print that of a board."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.shared.printing import print_rows
from cli.shared.progress import doing
from cli.shared.scores import span
from sraven.core.base.escape import escape, figure, with_error

if TYPE_CHECKING:
    from sraven.core.boards.board import Board
    from sraven.core.leaderboard.evidence import Evidence
    from sraven.core.leaderboard.standing import Entry, Leaderboard, Standing

CHECKOUT = Path("docs/leaderboard")
"""The leaderboard's folder, in a checkout."""


def find_standing(
    folder: Path | None, board_id: str | None, added: Sequence[Path] = (), *, fresh: bool = False
) -> "Leaderboard":
    """Return the standing of a folder, else that of the checkout one is in, else that in the package.

    Which it is in the last case is said on standard error.

    Args:
        folder: a leaderboard's; None for whichever there is.
        board_id: None for all boards.
        added: submissions of one's own, to stand among the others.
        fresh: whether entries are scored again, whatever is cached.

    Raises:
        click.UsageError: if there is no such folder, or something is added to another board.
    """
    from sraven import __version__
    from sraven.core.leaderboard.evidence import gather_evidence
    from sraven.core.leaderboard.many import SharedBoards
    from sraven.core.leaderboard.ranking import gather_own, read_leaderboard
    from sraven.core.leaderboard.snapshot import read_snapshot
    from sraven.core.submissions.submission import SUBMISSIONS

    if folder is None and (CHECKOUT / SUBMISSIONS).is_dir():
        folder = CHECKOUT
    if folder is not None and not folder.is_dir():
        raise click.UsageError(
            f"there is no {folder}; run this in a checkout, or leave --leaderboard out for the package's own"
        )
    find_board = SharedBoards()  # entries of a board share its labels
    with doing("reading") as on_progress:

        def gather(entry: Path) -> "Evidence":
            on_progress(f"scoring {escape(entry.name)}")
            return gather_evidence(entry, fresh=fresh, find_board=find_board)

        own = gather_own(added, gather)
        for name, evidence in own.items():
            if board_id not in (None, evidence.board.id):
                raise click.UsageError(
                    f"{name} is for {evidence.board.id}, not {board_id}; name that board, or none"
                )
        if folder is not None:
            return read_leaderboard(folder, board_id, gather=gather, own=own)
        found = read_snapshot(board_id, own=own)
    copies = ", and the predictions that yours are compared with for copies" if own else ""
    whence = f"the standing of {found.date}, as it came with sraven {__version__}"
    click.echo(f"{whence}; a checkout has what was filed since{copies}", err=True)
    return found


def _remarks(standing: "Standing") -> list[str]:
    """Return why entries aren't ranked, a line each, and what to know of those that are."""
    from sraven.core.leaderboard.standing import REFERENCE, REPORTED

    remarks = [
        f"{entry.id}: {'' if entry.rank else 'not ranked: '}{escape(entry.remark, 400)}"
        for entry in standing.entries
        if entry.remark not in ("", standing.note) and entry.badge != REPORTED and entry.family != REFERENCE
        if not entry.own
    ]
    own = [f"{escape(entry.id)}: {_fate(standing, entry)}" for entry in standing.entries if entry.own]
    return [*filter(None, [standing.note]), *remarks, *own]


def _fate(standing: "Standing", entry: "Entry") -> str:
    """Return whether one's own submission would be ranked if it were filed, and where."""
    board = standing.board
    if entry.rank is None:
        why = escape(entry.remark, 400) or (
            "has no score" if board.is_ranked else f"{board.id} ranks nothing"
        )
        return f"yours, not filed; wouldn't be ranked: {why}"
    trained = f"trained on up to {entry.budget:,} {board.budget_unit}" if entry.budget else "without training"
    form = f"of form {entry.replies.form}, " if entry.replies else ""
    return f"yours, not filed; would have rank {_place(entry)} among those {form}{trained}"


def _place(entry: "Entry") -> str:
    """Return an entry's rank and its range, such as ``1 (1–3)``; nothing if it isn't ranked."""
    return f"{entry.rank or ''}" + (f" ({entry.spread})" if entry.spread else "")


def _bounds(board: "Board") -> str:
    """Return the ceiling and reference levels of a board, to follow a title; nothing if there are none."""
    ceiling = board.ceiling(board.primary_split, board.metric)
    bounds = [f"ceiling {figure(ceiling.value)} ({ceiling.answers})"] if ceiling else []
    bounds += [f"{line.title} {figure(line.value)}" for line in board.reference_levels(board.primary_split)]
    return "".join(f"; {each}" for each in bounds)


def _tokens(entry: "Entry") -> str:
    tokens = entry.replies.output_tokens if entry.replies else None
    return "" if tokens is None else f"{tokens:,.0f}"


def print_standing(standing: "Standing") -> None:
    """Print a board's table."""
    from sraven.core.boards.bootstrap import SHARE
    from sraven.core.leaderboard.standing import primary_ceiling
    from sraven.core.page.groups import look_notes

    board, best = standing.board, primary_ceiling(standing.board)
    title = f"{board.id}: {board.title}"
    if not standing.entries:
        click.echo(f"{title} (no entries yet)" + (f"; {standing.note}" if standing.note else ""))
        return
    title += _bounds(board)
    resampled = next((entry.resampled(board) for entry in standing.entries if entry.interval), "instances")
    trained = "trained on" if board.budget_unit == "instances" else board.budget_unit
    cells: dict[str, Callable[[Entry], str]] = {
        "rank": _place,
        "method": lambda entry: escape(entry.method),
        "badge": lambda entry: "yours" if entry.own else entry.badge,
        f"{board.primary_split} {board.metric}": lambda entry: (
            "–" if entry.value is None else with_error(entry.value, entry.standard_error)
        ),
        f"{SHARE} over {resampled}": lambda entry: span(entry.shown_interval),
        "gap": lambda entry: "" if entry.gap is None else figure(entry.gap),
        "parameters": lambda entry: "" if entry.parameters is None else f"{entry.parameters:,}",
        trained: lambda entry: f"{entry.train_instances:,}" if entry.train_instances else "",
    }
    if board.is_text:
        found = board.primary_split
        cells["form"] = lambda entry: entry.replies.form if entry.replies else ""
        cells["unparsed"] = lambda entry: figure(entry.splits.get(found, {}).get("unparsed") or 0)
        if (strict := "accuracy_strict") in board.metric_names:
            cells["read strictly"] = lambda entry: figure(entry.splits.get(found, {}).get(strict) or 0)
        if any(map(_tokens, standing.entries)):
            cells["tokens a reply"] = _tokens
    if best is None:
        del cells["gap"]
    print_rows(
        cells,
        ([cell(entry) for cell in cells.values()] for entry in standing.entries),
        right=cells.keys() - {"method", "badge"},
        bold=[entry.own for entry in standing.entries],
        title=title,
        title_justify="left",
    )
    for line in _remarks(standing):
        click.echo(line)
    for entry_id, note in look_notes(standing).items():
        click.echo(f"{escape(entry_id)}: {note}", err=True)
