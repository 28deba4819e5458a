"""Options that choose questions for language models."""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any

import click

from cli.shared.families import MAIN, task_argument
from cli.shared.options import join_options, leave_out
from sraven.core.families import find_family
from sraven.core.spec import settings_of
from sraven.settings import Settings

if TYPE_CHECKING:
    from sraven.task import SRAVEN
    from sraven.text.apis import Asking
    from sraven.text.mixtures import Mixture
    from sraven.text.questions import Questions

    InOrder = Callable[[Iterable[Iterable[Any]]], Iterator[Any]]

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
        metavar="|".join(FORMS),
        help="Explain the rules, or nothing.",
    ),
)
"""Adds the options; the command gets ``board_id``, ``task``, ``split``, ``count`` and ``form``."""


def board_questions(
    board_id: str, form: str, shots: int = 0, fresh: int | None = None
) -> "tuple[tuple[Questions, ...], InOrder]":
    """Return the questions of a board in a form, a set for each level, and the function that orders them.

    With ``fresh``, a seed, the same mixture is drawn anew.

    Other options that choose questions are refused beside it.
    """
    from sraven.text.mixtures import mixture_of, read_text_board
    from sraven.text.wording import form_name

    leave_out((*settings_of(Settings), "split", "count"), "--board says which questions there are")
    mixture = mixture_of(board_id, form_name(form, shots), fresh)
    return mixture.sets, read_text_board(board_id)[1].task.in_order


def chosen_questions(
    board_id: str | None,
    task: "SRAVEN",
    split: str,
    count: int,
    form: str,
    shots: int = 0,
    fresh: int | None = None,
) -> "tuple[tuple[Questions, ...], InOrder]":
    """Return the questions of a board or else of a task, in sets, and the function that orders them."""
    from sraven.text.questions import Questions

    if board_id is not None:
        return board_questions(board_id, form, shots, fresh)
    if fresh is not None:
        raise click.UsageError(
            "--fresh-seed draws the questions of a board anew; name one with --board, or use --seed"
        )
    return (Questions(task, split, count, form, shots),), chain.from_iterable


fresh_option = click.option(
    "--fresh-seed",
    "fresh",
    type=click.IntRange(min=0),
    metavar="N",
    help="Draw the board's mixture of questions anew, by this seed; nobody has seen it.",
)

asking_options = join_options(
    click.argument("board_id", metavar="BOARD"),
    click.option("--model", required=True, help="Name of the model at the endpoint."),
    click.option(
        "--form", default="told", show_default=True, metavar="told|untold", help="As for `generate`."
    ),
    click.option("--shots", type=int, default=0, show_default=True, help="As for `generate`."),
    fresh_option,
    click.option("--limit", type=click.IntRange(min=1), help="Ask so many questions, of all levels in turn."),
    click.option(
        "--api",
        type=click.Choice(["chat", "responses", "messages"]),
        default="chat",
        show_default=True,
        help="Interface: OpenAI's chat completions or responses, or Anthropic's messages.",
    ),
    click.option("--max-tokens", type=click.IntRange(min=1), help="Of a reply at most, thoughts included."),
    click.option("--temperature", type=click.FloatRange(0, 100), help="At which replies are sampled."),
    click.option("--effort", metavar="low|medium|high", help="Of reasoning, where the model has one."),
    click.option("--seed", type=click.IntRange(min=0), help="Of the sampling, sent with each question."),
    click.option("--system", metavar="TEXT", help="What the model is told before each question."),
)
"""Adds the options of a question to a model; the command gets them all, see `asking_of`."""


def asking_of(options: "dict[str, Any]") -> "tuple[Asking, Mixture]":
    """Return how a model is asked, and what, from `asking_options`, which are taken out of ``options``."""
    from sraven.text.apis import Asking
    from sraven.text.mixtures import mixture_of
    from sraven.text.wording import form_name

    names = ("model", "max_tokens", "temperature", "effort", "system")
    asking = Asking(**{name: options.pop(name) for name in names}, seed=options.pop("seed"))
    form = form_name(options.pop("form"), options.pop("shots"))
    return asking, mixture_of(options.pop("board_id"), form, options.pop("fresh"))
