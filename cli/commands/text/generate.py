"""Prompts as JSON Lines."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from cli.shared.options import field_option, join_options, leave_out, output_file
from cli.shared.printing import json_option, print_outcome, wants_json
from cli.shared.questions import chosen_questions, fresh_option, question_options
from sraven.text.apis import Asking
from sraven.text.batches import BATCHES

if TYPE_CHECKING:
    from sraven.task import SRAVEN


@contextmanager
def _writing(out: Path | None) -> Iterator[IO[str]]:
    """Yield what to write to: a file that appears whole or not at all, or standard output."""
    from sraven.files.files import replacing

    if out is None:
        if sys.stdout is None:
            raise click.UsageError("there is no standard output; name a file with --out")
        yield sys.stdout
        return
    with replacing(out) as temporary, open(temporary, "w", encoding="utf-8", newline="\n") as file:
        yield file


ASKED = ("max_tokens", "temperature", "effort", "system")


@click.command(name="generate")
@question_options
@fresh_option
@click.option("--shots", type=int, default=0, show_default=True, help="Solved examples of train, for each.")
@click.option("--solved", is_flag=True, help="Add the answers, and texts to train on.")
@click.option("--batch", type=click.Choice(list(BATCHES)), help="Write requests of a provider's batches.")
@click.option("--model", help="Name of the model, for --batch.")
@join_options(*(field_option(Asking, name) for name in ASKED))
@click.option("--out", type=output_file, help="File to write.")
@json_option
def command(
    task: "SRAVEN",
    board_id: str | None,
    split: str,
    count: int,
    form: str,
    fresh: int | None,
    shots: int,
    solved: bool,
    batch: str | None,
    out: Path | None,
    **asked: Any,
) -> None:
    """Write prompts as JSON Lines, to standard output or a file.

    Each line is an object with `id`, `split`, `index`, `sha256` (of the prompt), `prompt` and a `canary`. The
    id says all about a question, so `sraven text score` needs nothing but the completions. The same command
    gives the same bytes anywhere. With --board, it gives those of a board of the leaderboard.
    With --batch, lines are requests to upload, and `sraven text score` reads what comes back.

    \b
    Example:
      sraven text generate --M 4 --K 8 -n 2000 --out prompts.jsonl
      sraven text generate --form untold --shots 5 > prompts.jsonl
      sraven text generate --board sraven-text-lite-v2 --out prompts.jsonl
      sraven text generate --board sraven-text-lite-v2 --batch openai --model gpt-5-mini --out requests.jsonl
    """
    if wants_json() and out is None:
        raise click.UsageError("prompts are JSON themselves, an object a line; --json goes with --out FILE")
    mixture = chosen_questions(board_id, task, split, count, form, shots, fresh)
    lines = mixture.in_order(each.records(solved) for each in mixture.sets)
    if batch is None:
        leave_out(("model", *ASKED), "without --batch, no model is asked")
    else:
        leave_out(("solved",), "requests have no answers")
        if not asked["model"]:
            raise click.UsageError("--batch needs --model, the name of the model there")
        asking, write = Asking(**asked), BATCHES[batch]
        lines = (write(asking, record["id"], record["prompt"]) for record in lines)
    with _writing(out) as file:
        for line in lines:
            file.write(json.dumps(line) + "\n")
    names = [questions.name for questions in mixture.sets]
    if out is not None:
        value = {"path": str(out), "prompts": mixture.count, "questions": names}
        print_outcome(value=value, text=f"{out}: {mixture.count:,} prompts, {' '.join(names)}")
