"""Check a round against its secret, score the answers."""

from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import click

from cli.shared.options import any_path, file_path, threads_option
from cli.shared.printing import json_option, print_outcome, print_rows


@click.command(name="score")
@click.argument("public", type=any_path)
@click.argument("answers", nargs=-1, type=any_path)
@click.option("--secret", type=file_path, required=True, help="The organiser's secret.json.")
@threads_option
@json_option
def command(public: Path, answers: tuple[Path, ...], secret: Path, threads: int | None) -> None:
    """Check the round PUBLIC against its secret, and score ANSWERS on the labels that it gives.

    Anyone can do so when the secret is revealed. Answers that are refused are named with the reason; exits
    with 1 if there are any.

    \b
    Example:
      sraven challenge score public answers/* --secret secret.json
    """
    from sraven.core.base.escape import escape
    from sraven.core.challenge import score_challenge

    found = score_challenge(public, secret, answers, threads=threads)
    print_outcome(value=found, text=lambda: _print(found))
    for entry in found["refused"]:
        click.echo(f"refused: {escape(entry['answer'])}: {escape(entry['why'], 500)}", err=True)
    if found["refused"]:
        raise SystemExit(1)


def _print(found: Mapping[str, Any]) -> None:
    """Print a row for each answer, the best first."""
    from cli.shared.scores import score_cells
    from sraven.core.base.escape import escape
    from sraven.core.boards.board import read_board
    from sraven.core.boards.bootstrap import SHARE

    board = read_board(found["board"])
    click.echo(
        f"round {found['challenge'][:12]}… of {board.id}, opened {found['opened']}: drawn by this secret"
    )
    click.echo(f"{found['entrants']:,} committed to a program, {found['answered']:,} answered")
    if not found["answers"]:
        return
    headings = "name", "commitment", "seeds", *chain(*((split, "interval") for split in board.splits))
    rows = []
    for answer in found["answers"]:
        seeds = len(answer["splits"][board.primary_split]["seeds"])
        scores = (answer["splits"][split]["metrics"][board.metric] for split in board.splits)
        rows.append([escape(answer["name"]), f"{answer['commitment'][:12]}…", seeds, *score_cells(scores)])
    title = f"{board.metric} ({SHARE} intervals over instances)"
    print_rows(headings, rows, right=tuple(board.splits), title=title)
