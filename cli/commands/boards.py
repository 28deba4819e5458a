"""List the frozen boards, or show one."""

from typing import TYPE_CHECKING

import click

from cli.shared.printing import json_option, print_outcome, print_rows
from cli.shared.scores import print_bounds
from sraven.core.errors import ConfigurationError
from sraven.core.escape import with_error

if TYPE_CHECKING:
    from sraven.board.board import Board

_BRIEF = ("id", "title", "series", "metric", "primary_split", "train_budget", "splits", "digest")
"""The fields that the list of boards has as JSON."""


_LANGUAGE_MODEL = "c4-v1"
"""What `sraven train` takes like a board and is none; listing boards doesn't import the baselines for it."""


@click.command(name="boards")
@click.argument("board_id", metavar="[ID]", required=False)
@click.option("--check", is_flag=True, help="Generate all that the board's digests cover, and compare.")
@json_option
def command(board_id: str | None, check: bool) -> None:
    """List the frozen boards, or show one.

    With an ID and --json, prints the board's file and its digest, which a submission names.

    \b
    Example:
      sraven boards sraven-v1
    """
    from sraven.board.board import board_ids, read_board

    if board_id == _LANGUAGE_MODEL:
        raise ConfigurationError(
            f"{board_id} is no board but the paper's language model on C4, whose text isn't part of the "
            f"benchmark; `sraven train {board_id} --data TOKENS` trains it, see docs/language-modelling.md"
        )
    boards = [read_board(each) for each in ([board_id] if board_id else board_ids())]
    for board in boards if check else ():
        board.check_all()
        click.echo(f"{board.id}: every instance is the board's", err=True)
    if board_id:
        [board] = boards
        divergences = {"divergences": board.divergences._asdict()} if board.divergences else {}
        content = {**board.content, "digest": board.digest, **divergences}
        print_outcome(value=content, text=lambda: _print_board(board))
        return
    headings = "board", "title", "ranked by", "train budget", "digest"
    print_outcome(
        value=[{name: getattr(board, name) for name in _BRIEF} for board in boards],
        text=lambda: print_rows(headings, map(_row, boards)),
    )


def _row(board: "Board") -> tuple[str, ...]:
    ranked = f"{board.primary_split} {board.metric}" if board.is_ranked else "(diagnostic)"
    return board.id, board.title, ranked, f"{board.train_budget:,} instances", board.digest[:12]


def _print_board(board: "Board") -> None:
    """Print a board: what it is, its splits, and what scores are read against."""
    values = {name: value for name, value in board.config.items() if name != "task"}
    values = {name: " ".join(value) if isinstance(value, list) else value for name, value in values.items()}
    config = ", ".join(f"{name}={value}" for name, value in values.items())
    click.echo(f"{board.id}: {board.title}")
    click.echo(f"config:  {config}")
    click.echo(f"digest:  {board.digest}")
    click.echo(f"budget:  {board.train_budget:,} training instances")
    click.echo(f"{'ranked' if board.is_ranked else 'scored'}:  by {board.metric} on {board.primary_split}")
    for form, checksum in board.prompts.items():
        click.echo(f"prompts: {form:<13} {checksum[:12]}")
    rows = (
        (name, f"{'first ' * (name == 'train')}{each.instances:,}", each.sha256[:12])
        for name, each in board.covered.items()
    )
    print_rows(("split", "instances", "sha256"), rows)
    print_bounds(board, tuple(board.splits))
    for level in board.reference_levels(board.primary_split):
        click.echo(f"{level.title}: {level.meaning}")
    if board.rungs:
        _print_rungs(board)


def _print_rungs(board: "Board") -> None:
    """Print a row for each level: scores of guessing, of reference predictors and of ideal observers."""
    floors, ceilings = board.rungs[0]["floors"], board.rungs[0]["ceilings"]
    kinds = {name: "ceiling" if name == "board" else f"ceiling, {name}" for name in ceilings}
    rows = []
    for rung in board.rungs:
        settings = ", ".join(f"{name}={value}" for name, value in rung["settings"].items())
        low = (f"{value:.4g}" for value in (rung["chance"], *(rung["floors"][name] for name in floors)))
        found = (rung["ceilings"][name] for name in ceilings)
        high = (with_error(mean["value"], mean["standard_error"]) for mean in found)
        rows.append((settings, f"{rung['instances']:,}", *low, *high))
    print_rows(("level", "instances", "chance", *floors, *kinds.values()), rows)
