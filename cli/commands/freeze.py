"""Make the files of new boards (for maintainers)."""

from pathlib import Path

import click

from cli.shared.options import existing_file, output_directory
from cli.shared.printing import json_option, print_json, wants_json


@click.command(name="freeze")
@click.argument("definitions", type=existing_file)
@click.argument("ids", nargs=-1)
@click.option(
    "--out",
    type=output_directory,
    default=Path(),
    show_default="this directory",
    help="Checkout whose packages get the boards.",
)
@click.option("--levels", is_flag=True, help="Measure the reference levels of boards that exist instead.")
@click.option("--lines", is_flag=True, hidden=True)  # the name of --levels before 0.2
@json_option
def command(definitions: Path, ids: tuple[str, ...], out: Path, levels: bool, lines: bool) -> None:
    """Make the files of new boards from their definitions (for maintainers).

    Computes what a definition leaves open: held-out combinations, digests of every instance, and
    what the ideal observer scores. A board that exists is never changed: if its definition gives another
    file, that is an error. With --levels, measures the reference levels, such as the composition-blind
    observer, and writes the file levels.yaml beside the boards.

    \b
    Example:
      sraven freeze docs/leaderboard/boards.yaml sraven-v1
      sraven freeze docs/leaderboard/boards.yaml --levels
    """
    from sraven.board.freeze import board_path, make_board, read_definitions, write_board

    done = []

    def report(path: Path, written: bool) -> None:
        done.append({"path": str(path), "written": written})
        if not wants_json():
            click.echo(f"{'written' if written else 'as it was'}: {path}")

    if levels or lines:
        from sraven.board.board import read_board
        from sraven.board.reference_levels import write_levels

        boards = [read_board(each["id"]) for each in read_definitions(definitions, ids)]
        for path in write_levels(out, boards):
            report(path, True)
    else:
        for definition in read_definitions(definitions, ids):
            content = make_board(definition)
            path = board_path(out, content)
            report(path, write_board(path, content))
    if wants_json():
        print_json(done)
