"""Make the files of new boards (for maintainers)."""

from pathlib import Path

import click


@click.command(name="freeze")
@click.argument("definitions", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.argument("ids", nargs=-1)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(),
    show_default="this directory",
    help="Checkout whose packages get the boards.",
)
def command(definitions: Path, ids: tuple[str, ...], out: Path) -> None:
    """Make the files of new boards from their definitions (for maintainers).

    Computes what a definition leaves open: held-out combinations, digests of every instance, and
    what the ideal observer scores; of a corpus, it can compute none of them. A board that exists is
    never changed: if its definition gives another file, that is an error.

    \b
    Example:
      sraven freeze docs/leaderboard/boards.yaml sraven-v1
    """
    from sraven.core.boards.freeze import board_path, make_board, read_definitions, write_board

    for definition in read_definitions(definitions, ids):
        content = make_board(definition)
        path = board_path(out, content)
        click.echo(f"{'written' if write_board(path, content) else 'as it was'}: {path}")
