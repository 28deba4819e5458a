"""`sraven boards`"""

from typing import TYPE_CHECKING, Any

import click

from cli.options import json_option, print_json, print_table
from sraven.core.ground.echo import with_error

if TYPE_CHECKING:
    from sraven.core.boards.board import Board


@click.command(name="boards")
@click.argument("board_id", metavar="[ID]", required=False)
@click.option("--check", is_flag=True, help="Generate all that the board's digests cover, and compare.")
@json_option
def command(board_id: str | None, check: bool, as_json: bool) -> None:
    """List the frozen boards, or show one.

    With an ID and --json, prints the board's file and its digest, which a submission names.

    \b
    Example:
      sraven boards sraven-v1
    """
    from sraven.core.boards.board import board_ids, read_board

    boards = [read_board(board_id)] if board_id else [read_board(each) for each in board_ids()]
    if check:
        for board in boards:
            _check(board)
    if as_json:
        print_json(
            {**boards[0].content, "digest": boards[0].digest} if board_id else list(map(_brief, boards))
        )
    elif board_id:
        _show(boards[0])
    else:
        _list(boards)


def _check(board: "Board") -> None:
    """Compare all that a board's digests cover, and say what was found."""
    board.check_combinations()
    for split in board.covered:
        board.check(split)
    found = "a corpus has no digests to check" if board.is_corpus else "every instance is the board's"
    click.echo(f"{board.id}: {found}", err=True)


def _brief(board: "Board") -> dict[str, Any]:
    """Return what tells boards apart, as JSON values."""
    keys = (
        "id",
        "title",
        "series",
        "metric",
        "primary_split",
        "train_budget",
        "budget_unit",
        "splits",
        "digest",
    )
    return {key: getattr(board, key) for key in keys}


def _list(boards: "list[Board]") -> None:
    """Print a row for each board."""
    from rich.table import Table

    table = Table("board", "title", "ranked by", "train budget", "digest")
    for board in boards:
        ranked = f"{board.primary_split} {board.metric}" if board.is_ranked else "(diagnostic)"
        budget = f"{board.train_budget:,} {board.budget_unit}"
        table.add_row(board.id, board.title, ranked, budget, board.digest[:12])
    print_table(table)


def _fingerprints(board: "Board") -> dict[str, str]:
    """Return the pinned fingerprint of each split of a corpus, or that there is none."""
    from sraven.core.leaderboard.fingerprints import read_pins

    pins = read_pins().get(board.digest, {})
    return {split: pins.get(split, "none is pinned yet, so nothing is ranked") for split in board.splits}


def _ceilings(board: "Board", split: str, knowing: str) -> str:
    """Return what an ideal observer scores on a split, by metric, with standard errors."""
    found = {metric: board.ceiling(split, metric, knowing) for metric in board.metrics}
    return "; ".join(
        f"{metric} {with_error(ceiling.value, ceiling.standard_error)}"
        for metric, ceiling in found.items()
        if ceiling
    )


def _observer(board: "Board") -> str:
    """Return how the ideal observer answers, by metric."""
    from sraven.core.boards.ceilings import ANSWERS

    found = {metric: board.ceiling(board.primary_split, metric) for metric in board.metrics}
    answers = dict.fromkeys(ceiling.answers for ceiling in found.values() if ceiling)
    return "; ".join(f"{ANSWERS[answer]} ({answer})" for answer in answers)


def _show(board: "Board") -> None:
    """Print a board: what it is, its splits, and what the ideal observer scores on them."""
    from rich.table import Table

    from sraven.core.boards.ceilings import KNOWS

    config = ", ".join(f"{name}={value}" for name, value in board.config.items() if name != "task")
    click.echo(f"{board.id}: {board.title}")
    click.echo(f"config:  {config}")
    click.echo(f"digest:  {board.digest}")
    click.echo(f"budget:  {board.train_budget:,} training {board.budget_unit}")
    click.echo(f"ranked:  by {board.metric} on {board.primary_split}")
    if board.is_corpus:
        click.echo(
            f"splits:  {', '.join(f'{size:,} documents of {split}' for split, size in board.splits.items())}"
        )
        click.echo("scores:  self-reported, as the text isn't part of the benchmark")
        for split, pinned in _fingerprints(board).items():
            click.echo(f"fingerprint of the documents of {split}: {pinned}")
        return
    if answers := _observer(board):
        click.echo(f"ceiling: of the ideal observer, which answers with {answers}")
    table = Table("split", "instances", "sha256", "ceiling, knowing the split", "ceiling, not knowing it")
    for split, entry in board.covered.items():
        size = f"{entry.instances:,}" if split != "train" else f"first {entry.instances:,}"
        ceilings = [_ceilings(board, split, knowing) for knowing in KNOWS] if split in board.splits else []
        table.add_row(split, size, (entry.sha256 or "")[:12], *ceilings)
    print_table(table)
