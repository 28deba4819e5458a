"""Check a round against its secret, score the answers."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from cli.shared.options import json_option, threads_option
from cli.shared.printing import print_json, print_table


@click.command(name="score")
@click.argument("public", type=click.Path(path_type=Path))
@click.argument("answers", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--secret",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    help="The organiser's secret.json.",
)
@threads_option
@json_option
def command(
    public: Path, answers: tuple[Path, ...], secret: Path, threads: int | None, as_json: bool
) -> None:
    """Check the round PUBLIC against its secret, and score ANSWERS on the labels that it gives.

    Anyone can do so when the secret is revealed. Answers that are refused are named with the reason; exits
    with 1 if there are any.

    \b
    Example:
      sraven challenge score public answers/* --secret secret.json
    """
    from sraven.core.challenge import score_challenge
    from sraven.core.ground.echo import shown

    found = score_challenge(public, secret, answers, threads=threads)
    if as_json:
        print_json(found)
    else:
        _print(found)
    for entry in found["refused"]:
        click.echo(f"refused: {shown(entry['answer'])}: {shown(entry['why'], 500)}", err=True)
    if found["refused"]:
        raise SystemExit(1)


def _print(found: Mapping[str, Any]) -> None:
    """Print a row for each answer, the best first."""
    from rich.table import Table
    from rich.text import Text

    from cli.shared.scores import mean_with_error
    from sraven.core.boards.board import read_board
    from sraven.core.boards.bootstrap import SHARE
    from sraven.core.ground.echo import figure, shown

    board = read_board(found["board"])
    click.echo(
        f"round {found['challenge'][:12]}… of {board.id}, opened {found['opened']}: drawn by this secret"
    )
    click.echo(f"{found['entrants']:,} committed to a program, {found['answered']:,} answered")
    if not found["answers"]:
        return
    table = Table("name", "commitment", "seeds", title=f"{board.metric} ({SHARE} intervals over instances)")
    for split in board.splits:
        table.add_column(split, justify="right")
        table.add_column("interval")
    for answer in found["answers"]:
        row: list[str | Text] = [Text(shown(answer["name"])), f"{answer['commitment'][:12]}…"]
        row.append(f"{len(answer['splits'][board.primary_split]['seeds'])}")
        for split in board.splits:
            score = answer["splits"][split]["metrics"][board.metric]
            low_high = " to ".join(map(figure, score["interval"])) if score["interval"] else ""
            row += [mean_with_error(score), low_high]
        table.add_row(*row)
    print_table(table)
