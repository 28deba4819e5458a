"""Draw a round under a secret (organiser)."""

from pathlib import Path

import click

from cli.shared.options import threads_option
from cli.shared.outputs import output_directory
from cli.shared.printing import json_option, print_outcome


@click.command(name="new")
@click.argument("board")
@click.argument("commitments", nargs=-1)
@click.option("--out", type=output_directory, required=True, help="Directory to write; it may not exist.")
@threads_option
@json_option
def command(board: str, commitments: tuple[str, ...], out: Path, threads: int | None) -> None:
    """Draw a round of BOARD for the entrants of these COMMITMENTS, which they had to send before.

    Writes OUT/public, to be published: contexts without labels, and digests. And OUT/private, which only
    you can read: the secret. Keep it until all answers are there, and publish it then.

    \b
    Example:
      sraven challenge new sraven-v1 $(cat commitments.txt) --out round
    """
    from sraven.core.challenge import new_challenge

    digest = new_challenge(board, out, commitments, threads=threads)
    print_outcome(
        value={"challenge": digest, "public": str(out / "public"), "private": str(out / "private")},
        text=f"{out / 'public'}: publish this; its digest is {digest}\n"
        f"{out / 'private'}: keep this to yourself until all answers are there",
    )
