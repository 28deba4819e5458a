"""Prompts as JSON Lines."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from cli.shared.families import field_option
from cli.shared.options import argument_of
from cli.shared.outputs import output_file, spare
from cli.shared.printing import json_option, print_outcome, wants_json
from sraven.settings import POLICIES, Settings

if TYPE_CHECKING:
    from sraven.task import SRAVEN
    from sraven.text.questions import Questions
    from sraven.text.records import Record

    InOrder = Callable[[Iterable[Iterable[Record]]], Iterator[Record]]

FORMS, SCHEMES = ("told", "untold", "told2", "untold2"), ("context", "uniform", "near", "centred")
"""Names of `sraven.text.FORMS` and `SCHEMES`, for the help, which imports no kernels."""


def _make_task(answers: str, permute: bool, **values: Any) -> "SRAVEN":
    from sraven.task import SRAVEN

    given = {name: value for name, value in values.items() if value is not None}
    return SRAVEN(answers=answers, permute=not permute, **given)


_FIELDS = "M", "K", "holdout", "seed", "permute", "rule_set", "version"

task_options = argument_of(
    "task",
    _make_task,
    *(field_option(Settings, name) for name in _FIELDS),
    click.option(
        "--answers",
        default="unique",
        show_default=True,
        metavar="|".join(POLICIES),
        help="Take all instances, or those with one answer.",
    ),
)


@contextmanager
def _writing(out: Path | None) -> Iterator[IO[str]]:
    """Yield what to write to: a file that appears whole or not at all, or standard output."""
    from sraven.core.system.files import replacing

    if out is None:
        if sys.stdout is None:
            raise click.UsageError("there is no standard output; name a file with --out")
        yield sys.stdout
        return
    with replacing(out) as temporary, open(temporary, "w", encoding="utf-8", newline="\n") as file:
        yield file


def _check_options(context: click.Context) -> None:
    """Refuse options that say which questions there are: a board does."""
    for parameter in context.command.params:
        is_given = context.get_parameter_source(parameter.name or "") is ParameterSource.COMMANDLINE
        if is_given and parameter.name in (*_FIELDS, "answers", "split", "count", "choices"):
            raise click.UsageError(f"--board says which questions there are; leave {parameter.opts[0]} out")


def board_questions(board_id: str, form: str, shots: int) -> "tuple[tuple[Questions, ...], InOrder]":
    """Return the questions of a board in a form, a set for each rung, and what puts them in their order."""
    from sraven.text.submission import read_text_board
    from sraven.text.wording import form_name

    board, wording = read_text_board(board_id)
    name = form_name(form, shots)
    if name not in board.prompts:
        raise click.UsageError(f"{board.id} isn't asked {name}; it is asked {', '.join(board.prompts)}")
    return wording.questions(name), wording.task.in_order


@click.command(name="generate")
@click.option("--board", "board_id", help="Ask the questions of a board, such as sraven-text-v2.")
@task_options
@click.option("--split", default="ood", show_default=True, help="Where the questions come from.")
@click.option("-n", "--count", type=int, default=2000, show_default=True, help="How many.")
@click.option(
    "--form",
    default="told",
    show_default=True,
    metavar="|".join(FORMS),
    help="Explain the rules, or nothing.",
)
@click.option("--shots", type=int, default=0, show_default=True, help="Solved examples of train, for each.")
@click.option(
    "--choices",
    metavar="|".join(SCHEMES),
    help="Give eight panels to choose from, wrong ones drawn like this.",
)
@click.option("--solved", is_flag=True, help="Add the answers, and texts to train on.")
@click.option(
    "--remaining",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="COMPLETIONS",
    help="Leave out what has a completion in this file.",
)
@click.option("--out", type=output_file, help="File to write.")
@json_option
@click.pass_context
def command(
    context: click.Context,
    task: "SRAVEN",
    board_id: str | None,
    split: str,
    count: int,
    form: str,
    shots: int,
    choices: str | None,
    solved: bool,
    remaining: Path | None,
    out: Path | None,
) -> None:
    """Write prompts as JSON Lines, to standard output or a file.

    Each line is an object with `id`, `split`, `index`, `sha256` (of the prompt) and `prompt`. The id says
    all about a question, so `sraven text score` needs nothing but the completions. The same command gives
    the same bytes anywhere. With --remaining, it gives those that a file of completions lacks yet; with
    --board, the questions of a board of the leaderboard.

    \b
    Example:
      sraven text generate --M 4 --K 8 -n 2000 --out prompts.jsonl
      sraven text generate --form untold --shots 5 > prompts.jsonl
      sraven text generate --M 4 --K 8 -n 2000 --remaining completions.jsonl
      sraven text generate --board sraven-text-lite-v2 --out prompts.jsonl
    """
    from sraven.text.ids import ask
    from sraven.text.records import as_line, records

    if wants_json() and out is None:
        raise click.UsageError("prompts are JSON themselves, an object a line; --json goes with --out FILE")
    spare(out, [remaining] if remaining else [])
    if board_id is None:
        asked: tuple[Questions, ...] = (ask(task, split, count, form, shots, choices),)
        in_order: InOrder = chain.from_iterable
    else:
        _check_options(context)
        asked, in_order = board_questions(board_id, form, shots)
    written = 0
    with _writing(out) as file:
        sets = (records(questions, _wanted(remaining, questions), solved) for questions in asked)
        for record in in_order(sets):
            file.write(as_line(record))
            written += 1
    names = [questions.name for questions in asked]
    if out is not None:
        value = {"path": str(out), "prompts": written, "questions": names}
        print_outcome(value=value, text=f"{out}: {written:,} prompts, {' '.join(names)}")


def _wanted(remaining: Path | None, questions: "Questions") -> Any:
    """Return which questions have no completion in a file, bool ``[count]``; None for all without one."""
    if remaining is None:
        return None
    from sraven.text.completions import answered

    return ~answered(remaining, questions)
