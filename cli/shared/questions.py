"""Options that choose questions for language models."""

from typing import TYPE_CHECKING

import click

from cli.shared.families import MAIN
from cli.shared.options import join_options, leave_out, task_argument
from sraven.core.families import find_family
from sraven.core.spec import settings_of
from sraven.settings import Settings

if TYPE_CHECKING:
    from sraven.task import SRAVEN
    from sraven.text.mixtures import Mixture

FORMS = ("told", "untold", "told2", "untold2", "told2words", "told2json", "told2last")
"""Names of `sraven.text.FORMS`, for the help, which imports no kernels."""

question_options = join_options(
    click.option("--board", "board_id", help="Ask the questions of a board, such as sraven-text-v2."),
    task_argument(find_family(MAIN), answers="unique"),
    click.option("--split", default="ood", show_default=True, help="Where the questions come from."),
    click.option("-n", "--count", type=int, default=2000, show_default=True, help="How many."),
    click.option(
        "--form",
        default="told",
        show_default=True,
        type=click.Choice(FORMS),
        help="told explains the rules, untold nothing; 2 has version 2's words: symbols as words, as JSON, "
        "or the puzzle last.",
    ),
)
"""Adds the options; the command gets ``board_id``, ``task``, ``split``, ``count`` and ``form``."""


def chosen_questions(
    board_id: str | None,
    task: "SRAVEN",
    split: str,
    count: int,
    form: str,
    shots: int = 0,
    fresh: int | None = None,
) -> "Mixture":
    """Return the questions of a board, drawn anew with ``fresh``, a seed; or else of a task.

    Beside a board, other options that choose questions are refused.
    """
    from sraven.text.mixtures import mixture_of, of_no_board
    from sraven.text.questions import Questions
    from sraven.text.wording import form_name

    if board_id is not None:
        leave_out((*settings_of(Settings), "split", "count"), "--board says which questions there are")
        return mixture_of(board_id, form_name(form, shots), fresh)
    if fresh is not None:
        raise click.UsageError(
            "--fresh-seed draws the questions of a board anew; name one with --board, or use --seed"
        )
    questions = Questions(task, split, count, form, shots)
    return of_no_board(questions.name, questions)


fresh_option = click.option(
    "--fresh-seed",
    "fresh",
    type=click.IntRange(min=0),
    metavar="N",
    help="Draw the board's mixture of questions anew, by this seed; nobody has seen it.",
)

board_options = join_options(
    click.option(
        "--form",
        type=click.Choice(["told", "untold"]),
        default="told",
        show_default=True,
        help="Explain the rules, or nothing.",
    ),
    click.option("--shots", type=int, default=0, show_default=True, help="As for `generate`."),
)
"""Adds the options that choose how a board is asked; the command gets ``form`` and ``shots``."""
