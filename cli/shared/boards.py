"""How boards are printed: all of them in a table, one with its splits and ceilings."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import click

from cli.shared.bounds import print_lines
from cli.shared.printing import print_table
from sraven.core.ground.echo import with_error

if TYPE_CHECKING:
    from sraven.core.boards.board import Board

_BRIEF = (
    *("id", "title", "series", "metric", "primary_split"),
    *("train_budget", "budget_unit", "splits", "digest"),
)


def in_brief(board: "Board") -> dict[str, Any]:
    """Return what tells boards apart, as JSON values."""
    return {name: getattr(board, name) for name in _BRIEF}


def print_boards(boards: "Iterable[Board]") -> None:
    """Print a row for each board."""
    from rich.table import Table

    table = Table("board", "title", "ranked by", "train budget", "digest")
    for board in boards:
        ranked = f"{board.primary_split} {board.metric}" if board.is_ranked else "(diagnostic)"
        budget = f"{board.train_budget:,} {board.budget_unit}"
        table.add_row(board.id, board.title, ranked, budget, board.digest[:12])
    print_table(table)


def print_board(board: "Board") -> None:
    """Print a board: what it is, its splits, and what the ideal observer scores on them."""
    values = {name: value for name, value in board.config.items() if name != "task"}
    values = {name: " ".join(value) if isinstance(value, list) else value for name, value in values.items()}
    config = ", ".join(f"{name}={value}" for name, value in values.items())
    click.echo(f"{board.id}: {board.title}")
    click.echo(f"config:  {config}")
    click.echo(f"digest:  {board.digest}")
    click.echo(f"budget:  {board.train_budget:,} training {board.budget_unit}")
    click.echo(f"ranked:  by {board.metric} on {board.primary_split}")
    lines = _corpus(board) if board.is_corpus else _observer(board)
    for line in lines:
        click.echo(line)
    for form, checksum in board.prompts.items():
        click.echo(f"prompts: {form:<13} {checksum[:12]}")
    if not board.is_corpus:
        _print_splits(board)
        print_lines(board)
    if board.rungs:
        _print_rungs(board)


def _print_rungs(board: "Board") -> None:
    """Print a row for each rung: what guessing, predictors that learn nothing and ideal observers score."""
    from rich.table import Table

    floors, ceilings = board.rungs[0]["floors"], board.rungs[0]["ceilings"]
    kinds = {name: "ceiling" if name == "board" else f"ceiling, {name}" for name in ceilings}
    table = Table("rung", "instances", "chance", *floors, *kinds.values())
    for rung in board.rungs:
        settings = ", ".join(f"{name}={value}" for name, value in rung["settings"].items())
        low = (f"{value:.4g}" for value in (rung["chance"], *(rung["floors"][name] for name in floors)))
        found = (rung["ceilings"][name] for name in ceilings)
        high = (with_error(mean["value"], mean["standard_error"]) for mean in found)
        table.add_row(settings, f"{rung['instances']:,}", *low, *high)
    print_table(table)


def _corpus(board: "Board") -> list[str]:
    """Return what to know of a corpus: its documents, and which of them are pinned."""
    from sraven.core.leaderboard.fingerprints import read_pins

    pins, none = read_pins().get(board.digest, {}), "none is pinned yet, so nothing is ranked"
    sizes = ", ".join(f"{size:,} documents of {split}" for split, size in board.splits.items())
    return [
        f"splits:  {sizes}",
        "scores:  self-reported, as the text isn't part of the benchmark",
        *(f"fingerprint of the documents of {split}: {pins.get(split, none)}" for split in board.splits),
    ]


def _observer(board: "Board") -> list[str]:
    """Return how the ideal observer answers, if its scores are known."""
    from sraven.core.boards.ceilings import ANSWERS

    found = [board.ceiling(board.primary_split, metric) for metric in board.metrics]
    answers = dict.fromkeys(ceiling.answers for ceiling in found if ceiling)
    told = "; ".join(f"{ANSWERS[answer]} ({answer})" for answer in answers)
    return [f"ceiling: of the ideal observer, which answers with {told}"] if told else []


def _ceilings(board: "Board", split: str, kinds: Sequence[str]) -> list[str]:
    """Return what ideal observers score on a split, by what they know: each metric with its error."""
    known = [{metric: board.ceiling(split, metric, knowing) for metric in board.metrics} for knowing in kinds]
    return [
        "; ".join(
            f"{metric} {with_error(ceiling.value, ceiling.standard_error)}"
            for metric, ceiling in found.items()
            if ceiling
        )
        for found in known
    ]


def _print_splits(board: "Board") -> None:
    """Print a row for each split that has digests."""
    from rich.table import Table

    from sraven.core.boards.ceilings import KNOWS

    table = Table("split", "instances", "sha256", "ceiling, knowing the split", "ceiling, not knowing it")
    for split, entry in board.covered.items():
        size = f"{entry.instances:,}" if split != "train" else f"first {entry.instances:,}"
        ceilings = _ceilings(board, split, tuple(KNOWS)) if split in board.splits else []
        table.add_row(split, size, (entry.sha256 or "")[:12], *ceilings)
    print_table(table)
