"""Fingerprint of a board's documents (for maintainers)."""

from pathlib import Path

import click

from cli.shared.imports import needs_extra
from cli.shared.options import any_path
from cli.shared.printing import json_option, print_outcome


@click.command(name="fingerprint")
@click.argument("corpus", metavar="CORPUS", type=any_path)
@click.option("--board", default="c4-v1", show_default=True, help="The board whose documents these are.")
@json_option
def command(corpus: Path, board: str) -> None:
    """Compute the fingerprint of a board's documents (for maintainers).

    CORPUS is what `sraven c4 prepare` made of the board's text. Prints what to add to
    baselines/lm/boards/fingerprints.yaml, after which entries on these documents are ranked.

    \b
    Example:
      sraven c4 fingerprint c4-validation-tokens
    """
    with needs_extra("sraven c4 fingerprint", "baselines"):
        from baselines.lm.corpus import Corpus
        from baselines.lm.session import corpus_fingerprint
    from sraven.core.boards.board import read_board
    from sraven.core.leaderboard.fingerprints import pin_text

    found, pinned = read_board(board), corpus_fingerprint(board, Corpus(corpus))
    print_outcome(
        value={"board": found.id, "board_digest": found.digest, "fingerprints": pinned},
        text=pin_text(found, pinned).removesuffix("\n"),
    )
