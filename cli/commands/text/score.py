"""Exact scores of completions."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.shared.options import existing_file, threads_option
from cli.shared.printing import json_option, print_outcome, print_rows
from sraven.core.escape import dollars, quoted

if TYPE_CHECKING:
    from sraven.text.completions import Usage
    from sraven.text.scores import Difference, Scored


def _rows(found: "Scored", is_unique: bool) -> Iterator[list[object]]:
    """Yield a row for each level, and one for all of them."""
    for score in (*found.levels, *([found.total] if len(found.levels) > 1 else ())):
        ranked, other = (score.lenient, score.strict) if found.lenient else (score.strict, score.lenient)
        yield [
            found.name if score.level == found.board else score.level,
            f"{score.n:,}",
            score.accuracy,
            *([] if is_unique else [ranked.valid]),
            ranked.unparsed,
            f"{score.missing:,}",
            f"{score.floor:.3g}",
            f"{score.chance:.2g}",
            "–" if score.ceiling is None else f"{score.ceiling.value:.4g}",
            other.target,
        ]


def _rows_of_sets(found: "Scored") -> Iterator[list[object]]:
    """Yield a row for each level of a board of twins, and one for all of them: scores of whole sets."""
    for score in found.sets[: None if len(found.sets) > 2 else 1]:
        numbers = (score.independent, score.systematicity)
        shown = ("–" if each is None else f"{each:.4f}" for each in numbers)
        yield [score.level, f"{score.n:,}", score.pass_all, score.pass_any, score.pass_mean, *shown]


def _print_scores(found: "Scored") -> None:
    """Print a row for each level, their total, and what there is to say of it."""
    total = found.total
    is_unique = total.strict.valid == total.strict.target and total.lenient.valid == total.lenient.target
    ranked, other = ("leniently", "strictly") if found.lenient else ("strictly", "leniently")
    click.echo(f"{found.name}, read {ranked}")
    if found.sets:
        heads = ["level", "whole sets", "pass_all", "pass_any", "pass_mean", "independent", "systematicity"]
        print_rows(heads, _rows_of_sets(found))
        unparsed = (total.lenient if found.lenient else total.strict).unparsed
        click.echo(
            f"of the {total.n:,} questions that have a completion: {total.accuracy}; unparsed {unparsed}"
        )
    else:
        heads = ["level", "n", "accuracy", *([] if is_unique else ["valid"])]
        heads += ["unparsed", "missing", "floor", "chance", "ceiling", f"read {other}"]
        print_rows(heads, _rows(found, is_unique))
    if total.of_cut:
        click.echo(f"of the {total.of_cut.n:,} with a reply that is cut off, over these: {total.of_cut}")
        click.echo(f"of those with a complete reply, over these: {total.of_complete or 'there are none'}")
    if total.pass_at:
        click.echo(", ".join(f"pass@{k} {share}" for k, share in total.pass_at.items()))
    if found.of_board != (found.sets[-1].pass_all if found.sets else total.accuracy).value:
        click.echo(f"of the whole board, where what is missing counts as wrong: {found.of_board:.4f}")
    click.echo()


def _print(scores: "Sequence[Scored]", differences: "Sequence[Difference]") -> None:
    """Print a table for each board, differences, what it took, and why replies have no answer."""
    from sraven.text.completions import Usage

    for found in scores:
        if found.replies:
            _print_scores(found)
    for difference in differences:
        low, high = difference.interval
        click.echo(
            f"public − fresh, {difference.board}: {difference.value:+.4f}, 95 % in [{low:+.4f}, {high:+.4f}]"
        )
    _print_usage(sum((found.total.usage for found in scores), Usage()))
    if any(found.replies and found.total.ceiling is None for found in scores):
        click.echo(
            "ceiling –: the ideal observer knows the rules, which these prompts don't explain", err=True
        )
    for found in scores:
        if not found.replies:
            click.echo(f"{found.name} isn't scored: all of its {found.total.n:,} requests failed", err=True)
        for reason, count in found.total.reasons.items():
            click.echo(f"{found.name}: {count:,} unparsed: {reason}", err=True)
        for reply in found.total.unread:
            click.echo(f"  {reply.id} ends in {quoted(reply.end)}", err=True)


def _print_usage(usage: "Usage") -> None:
    """Print the tokens of the replies and what they cost, as far as they say it."""
    each = usage.output_tokens / max(usage.with_tokens, 1)
    said = f"{usage.output_tokens:,} of replies ({each:,.0f} each)"
    for text, replies in (
        (f"tokens: {usage.input_tokens:,} of prompts, {said}", usage.with_tokens),
        (f"cost: {dollars(usage.cost_usd)}", usage.with_cost),
    ):
        if replies:
            of_some = f", from {replies:,} of {usage.replies:,} replies" * (replies < usage.replies)
            click.echo(text + of_some)


@click.command(name="score")
@click.argument("completions", type=existing_file)
@threads_option
@json_option
def command(completions: Path, threads: int | None) -> None:
    """Score COMPLETIONS, a file of JSON Lines, against the questions that their ids name.

    A line is an object with `id`, as `sraven text generate` gave it, and `completion`, the text that the
    model replied with, or null if the request failed. Completions may come in any order, and of several
    boards. Several completions of a question are samples of it, and
    `accuracy` is their mean. A line that can't be read and an id that isn't known are refused.

    A row is about the questions that have a completion, `n` of them; of a board of twins, about the sets that
    have all of theirs, by the board's metrics. Where some are missing, the score of the whole board, where
    they count as wrong, is printed below.

    `accuracy` is the share of answers that are the instance's own, `valid` the share that any rules explain;
    `unparsed` the share of replies that don't end in an answer, which are wrong. Replies are read strictly,
    as prompts ask for them, and leniently, as a person would read them; `accuracy` is by the reading that
    the board ranks by, and the last column by the other one. Why replies have no answer is said below.

    The outputs of batches of OpenAI and Anthropic are read as they are; a file may be packed by gzip. Where
    some replies are cut off, the accuracy of these and of complete ones is printed; where questions have
    several replies, pass@k, the chance that one of k is right (unbiased).

    Where a file has a board's questions and fresh ones (--fresh-seed) of its mixture, the difference is
    printed: who knows the public ones by heart does better there.

    A line may say what the reply took: `usage` with `input_tokens` and `output_tokens`, or `prompt_tokens`
    and `completion_tokens`, and `cost` in US dollars. They are summed.

    \b
    Example:
      sraven text score completions.jsonl
      sraven text score completions.jsonl --json
    """
    from sraven.text.scores import public_less_fresh, score_completions

    scores = score_completions(completions, threads=threads)
    differences = public_less_fresh(scores)
    print_outcome(
        value={"scores": scores, "public_less_fresh": differences}, text=lambda: _print(scores, differences)
    )
    for found in scores:
        if (total := found.total).missing:
            click.echo(
                f"{found.name}: {total.missing:,} of {total.n + total.missing:,} questions have no "
                f"completion; the first is {total.first_missing}",
                err=True,
            )
