"""Exact scores of completions."""

import json
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from cli.shared.options import existing_file, threads_option
from cli.shared.outputs import output_file, spare
from cli.shared.printing import json_option, print_outcome, print_rows
from sraven.core.base.escape import quoted

if TYPE_CHECKING:
    from sraven.text.completions import Score, Usage
    from sraven.text.grading import Grades


def _write_verdicts(file: IO[str], ids: Sequence[str], strict: "Grades", lenient: "Grades") -> None:
    """Write a line for each completion: the answer in it and its verdict, by both readings."""
    for row, name in enumerate(ids):
        line = {"id": name, **_verdict(strict, row), "lenient": _verdict(lenient, row)}
        file.write(json.dumps(line) + "\n")


def _verdict(grades: "Grades", row: int) -> dict[str, Any]:
    answer = grades.panels[row].tolist() if grades.parsed[row] else None
    return {"answer": answer, "target": bool(grades.target[row]), "valid": bool(grades.valid[row])}


def _print(scores: "Sequence[Score]") -> None:
    """Print a row for each set of questions, and another one where the two readings differ.

    The first is by the reading that the form is ranked by.
    """
    from sraven.text.completions import Usage
    from sraven.text.forms import FORMS

    rows = []
    for score in scores:
        others = f"{score.missing:,}", score.ceiling or "–", f"{score.chance:.2g}"
        read = [("strictly", [score.target, score.valid, score.unparsed])]
        read.append(("leniently", list(vars(score.lenient).values())))
        (_, first), (other, second) = reversed(read) if FORMS[score.form].lenient else read
        rows.append([score.questions, f"{score.n:,}", *first, *others])
        if score.lenient.unparsed.value < score.unparsed.value:
            rows.append([f"  read {other}", "", *second, "", "", ""])
    print_rows(("questions", "n", "target", "valid", "unparsed", "missing", "ceiling", "chance"), rows)
    if any(score.ceiling is None for score in scores):
        click.echo(
            "ceiling –: the ideal observer knows the rules, which these prompts don't explain", err=True
        )
    _print_usage(sum((score.usage for score in scores), Usage()))
    for score in scores:
        for reason, count in score.reasons.items():
            click.echo(f"{score.questions}: {count:,} unparsed: {reason}", err=True)
        for reply in score.unread:
            click.echo(f"  {reply.id} ends in {quoted(reply.end)}", err=True)


def _print_usage(usage: "Usage") -> None:
    """Print the tokens of the replies and what they cost, as far as they say it."""
    if usage.with_tokens:
        sent, said = usage.input_tokens, usage.output_tokens
        each = said / usage.with_tokens
        _print_sum(
            f"tokens: {sent:,} of prompts, {said:,} of replies ({each:,.0f} each)", usage.with_tokens, usage
        )
    if usage.with_cost:
        _print_sum(f"cost: {usage.cost_usd:,.2f} US dollars", usage.with_cost, usage)


def _print_sum(text: str, replies: int, usage: "Usage") -> None:
    """Print a sum over some of the replies."""
    click.echo(text if replies == usage.replies else f"{text}, from {replies:,} of {usage.replies:,} replies")


@click.command(name="score")
@click.argument("completions", type=existing_file)
@click.option("--out", type=output_file, help="File for the verdict on each of them.")
@threads_option
@json_option
def command(completions: Path, out: Path | None, threads: int | None) -> None:
    """Score COMPLETIONS, a file of JSON Lines, against the questions that their ids name.

    A line is an object with `id`, as `sraven text generate` gave it, and `completion`, the text that the
    model replied with, or null. Completions may come in any order, and from several sets of questions. A
    question without one counts as wrong. A line that can't be read, an id that isn't known and a second
    completion of a question are refused.

    `target` is the share of answers that are the instance's own, `valid` the share that any rules explain;
    `unparsed` the share of replies that don't end in an answer, which are wrong. Replies are read strictly,
    as prompts ask for them, and once more as a person would read them: where that finds more answers, there
    are two rows, and `lenient` in the JSON. The first row is by the reading that the boards rank by.

    A line may say what the reply took: `usage` with `input_tokens` and `output_tokens`, or `prompt_tokens`
    and `completion_tokens`, and `cost` in US dollars. They are summed.

    \b
    Example:
      sraven text score completions.jsonl
      sraven text score completions.jsonl --json --out verdicts.jsonl
    """
    from functools import partial

    from sraven.core.system.files import replacing
    from sraven.text.completions import score_completions

    spare(out, [completions])
    with ExitStack() as stack:
        on_graded = None
        if out is not None:
            temporary = stack.enter_context(replacing(out))
            file = stack.enter_context(open(temporary, "w", encoding="utf-8", newline="\n"))
            on_graded = partial(_write_verdicts, file)
        scores = score_completions(completions, threads=threads, on_graded=on_graded)
    print_outcome(value=scores, text=lambda: _print(scores))
    for score in scores:
        if score.missing:
            click.echo(
                f"{score.questions}: {score.missing:,} of {score.n:,} questions have no completion and count "
                f"as wrong; the first is {score.first_missing}",
                err=True,
            )
