"""List the frozen boards, or show one."""

import click

from cli.shared.boards import in_brief, print_board, print_boards
from cli.shared.options import json_option
from cli.shared.printing import print_json


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

    boards = [read_board(each) for each in ([board_id] if board_id else board_ids())]
    for board in boards if check else ():
        board.check_all()
        found = "a corpus has no digests to check" if board.is_corpus else "every instance is the board's"
        click.echo(f"{board.id}: {found}", err=True)
    if board_id:
        [board] = boards
        if as_json:
            print_json({**board.content, "digest": board.digest})
        else:
            print_board(board)
    elif as_json:
        print_json(list(map(in_brief, boards)))
    else:
        print_boards(boards)
