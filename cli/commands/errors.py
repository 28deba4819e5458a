"""Sort what a submission gets wrong, by the kind of mistake."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.shared.options import any_path, threads_option
from cli.shared.printing import json_option, print_outcome, print_table
from sraven.core.escape import figure, with_error

if TYPE_CHECKING:
    from rich.table import Table

    from sraven.scoring.mistakes import ErrorRow, ErrorTable, Share, SplitErrors

_WIDE = 8
"""Columns from which on a table shows no standard errors over seeds, so that its rows stay lines."""


@click.command(name="errors")
@click.argument("submission", type=any_path)
@threads_option
@json_option
def command(submission: Path, threads: int | None) -> None:
    """Sort the wrong answers of a submission by the kind of mistake, from its predictions alone.

    Each wrong answer is of exactly one kind, the first that fits. Tables say how many there are of each: in
    all, and by what makes instances hard. For SRAVEN that is the number of valid answers, the distance to the
    nearest combination of training, the rule, how many features add or subtract, and whether the rules beside
    a feature or its rows tell it from its rule's sibling; for fuzzy logic the
    function, and the known function that fits the points best. The submission is validated as `sraven score`
    does.

    \b
    Example:
      sraven errors my-submission
    """
    from sraven.leaderboard.submissions.submission import errors_of, read_submission
    from sraven.scoring.mistakes import require_diagnosis

    read = read_submission(submission)
    diagnosis = require_diagnosis(read.board.task)
    found = errors_of(read, threads=threads)
    print_outcome(
        value={"board": read.board.id, "submission_digest": read.digest, "splits": found},
        text=lambda: _print_errors(read.board.id, diagnosis.kinds, found),
    )


def _cell(share: "Share", with_errors: bool) -> str:
    if share.mean is None:
        return "–"
    if share.mean in (0, 1):  # in every seed, of which no error says anything
        return f"{share.mean:.0f}"
    return with_error(share.mean, share.standard_error) if with_errors else figure(share.mean)


def _columns(rows: "Sequence[ErrorRow]", kinds: Mapping[str, str]) -> list[str]:
    """Return the kinds, and of the other columns those in which something is counted."""
    counted = {name for row in rows for name, share in row.of_wrong.items() if any(share.counts)}
    return [name for name in rows[0].of_wrong if name in counted or name in kinds]


def _make_table(tables: "Sequence[ErrorTable]", kinds: Mapping[str, str], title: str) -> "Table":
    """Return tables with the same columns as one, a section each."""
    from rich.table import Table

    columns = _columns([row for table in tables for row in table.rows], kinds)
    is_wide, is_one = len(columns) >= _WIDE, len(tables) == 1
    made = Table(title=title, title_justify="left")
    made.add_column(tables[0].heading if is_one else "", no_wrap=True)
    for heading in (tables[0].unit, "wrong", *columns):
        made.add_column(heading.replace(" ", "\n") if is_wide else heading, justify="right", overflow="fold")
    for table in tables:
        made.add_section()
        for row in table.rows:
            name = row.name if is_one or not table.heading else f"{table.heading}: {row.name}"
            shares = (row.wrong, *(row.of_wrong[column] for column in columns))
            made.add_row(name, f"{row.total:,}", *(_cell(share, not is_wide) for share in shares))
    return made


def _print_errors(board: str, kinds: Mapping[str, str], found: "Mapping[str, SplitErrors]") -> None:
    """Print what a submission gets wrong, and the kinds in which it is sorted.

    Args:
        board: its id.
        kinds: the kinds of wrong answers with their meanings.
        found: by split.
    """
    for split, errors in found.items():
        seeds = len(errors.seeds)
        title = f"{board}, {split}, {seeds} seed{'s' * (seeds > 1)}: shares of the wrong ones"
        # Tables that follow each other and have the same columns are one.
        for _, alike in groupby(errors.tables.values(), lambda table: tuple(table.rows[0].of_wrong)):
            print_table(_make_table(tuple(alike), kinds, title))
    for kind, meaning in kinds.items():
        click.echo(f"{kind}: {meaning}")
