"""Questions of a board, put to an endpoint."""

from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from cli.shared.options import FiniteRange, field_option, join_options, needs_extra, output_file
from cli.shared.printing import json_option, print_outcome
from cli.shared.progress import Stopped, progress_bar
from cli.shared.questions import board_options, fresh_option
from sraven.core.escape import escape
from sraven.core.spec import settings_of
from sraven.text.apis import Asking, Outcome

if TYPE_CHECKING:
    from sraven.text.asking import Endpoint
    from sraven.text.ledger import Ledger
    from sraven.text.questions import Questions

CAUSES = 3
"""Causes of failures that are told."""

MOST_DOLLARS = 1e6


def _dollars(ledger: "Ledger", left: int) -> str:
    """Return in words what was spent, and what there is to spend."""
    if not ledger.usage.with_cost:
        return ""
    return f"{ledger.spent:,.2f} US dollars so far, {ledger.each * left:,.2f} to come"


def _causes(ledger: "Ledger", done: int) -> list[str]:
    """Return why questions failed, the most frequent causes first."""
    return [f"{count:,} of {done:,}: {escape(cause)}" for cause, count in ledger.causes.most_common(CAUSES)]


def _ask(
    endpoint: "Endpoint",
    ledger: "Ledger",
    file: IO[str],
    left: "list[tuple[Questions, int]]",
    budget: float | None,
    concurrency: int,
) -> tuple[int, str]:
    """Ask questions; return how many have an outcome, and why it ended if there are more."""
    from sraven.text.asking import StoppedAskingError, ask_all
    from sraven.text.ledger import posed

    total, done = len(left), 0
    if total and (stopped := ledger.why_to_stop(budget, min(concurrency, total))):
        return 0, stopped
    stopped = ""
    with progress_bar("asking", total) as advance:

        def take(outcome: Outcome) -> bool:
            nonlocal done, stopped
            ledger.add(file, outcome)
            done += 1
            advance(1, _dollars(ledger, total - done))
            stopped = stopped or ledger.why_to_stop(budget, concurrency)
            return not stopped

        # What a reply costs is known by the first one, before many are paid for.
        alone = int(budget is not None and not ledger.usage.with_cost)
        try:
            for part, at_once in ((left[:alone], 1), (left[alone:], concurrency)):
                if part and not stopped:
                    ask_all(endpoint, posed(part), take, at_once)
        except StoppedAskingError as error:
            stopped = str(error)
        except KeyboardInterrupt:
            raise Stopped(
                f"interrupted; {ledger.path} has {done:,} more lines, and the same line goes on", 130
            ) from None
    return done, stopped


def _told(ledger: "Ledger", done: int) -> str:
    """Return in words what there is now, what failed and why, and what it took."""
    took, failed, again = ledger.usage, ledger.failed, ledger.again
    asks_again = {0: "and would again", failed: "which the same line asks again"}
    failures = f"; {failed:,} failed, " + asks_again.get(again, f"of which {again:,} may do better once more")
    lines = [
        f"{ledger.path}: {sum(ledger.replies.values()):,} replies, {done - failed:,} of them new"
        + failures * bool(failed),
        *_causes(ledger, done),
        f"{took.input_tokens:,} tokens of prompts, {took.output_tokens:,} of replies"
        + f", {took.cost_usd:,.2f} US dollars" * bool(took.with_cost),
    ]
    return "\n".join([*lines, "", f"sraven text score {ledger.path}"])


@click.command(name="ask")
@click.argument("board_id", metavar="BOARD")
@board_options
@fresh_option
@click.option("--model", required=True, help="Name of the model at the endpoint.")
@click.option("--limit", type=click.IntRange(min=1), help="Ask so many questions, of all levels in turn.")
@join_options(*(field_option(Asking, name) for name in settings_of(Asking)))
@click.option("--url", required=True, help="Address of the endpoint, such as http://localhost:8000/v1.")
@click.option(
    "--out", type=output_file, required=True, help="File of completions to write, or to go on with."
)
@click.option("--key-env", metavar="NAME", help="Variable of the environment that has the key.")
@click.option(
    "--samples", type=click.IntRange(1, 1000), default=1, show_default=True, help="Replies a question."
)
@click.option(
    "--concurrency", type=click.IntRange(1, 1000), default=8, show_default=True, help="Asked at a time."
)
@click.option(
    "--tries", type=click.IntRange(1, 100), default=6, show_default=True, help="Of a question at most."
)
@click.option(
    "--timeout", type=FiniteRange(0.1, 1e6), default=600, show_default=True, help="Seconds of a try."
)
@click.option(
    "--price-in", type=FiniteRange(0, MOST_DOLLARS), help="US dollars for a million tokens of prompts."
)
@click.option(
    "--price-out", type=FiniteRange(0, MOST_DOLLARS), help="US dollars for a million tokens of replies."
)
@click.option("--budget", type=FiniteRange(0, min_open=True), help="US dollars after which no more is asked.")
@json_option
def command(
    url: str,
    out: Path,
    key_env: str | None,
    samples: int,
    concurrency: int,
    tries: int,
    timeout: float,
    price_in: float | None,
    price_out: float | None,
    budget: float | None,
    limit: int | None,
    board_id: str,
    form: str,
    shots: int,
    fresh: int | None,
    **asked: Any,
) -> None:
    """Ask a model the questions of BOARD, at any endpoint that speaks OpenAI's protocol of chats.

    Each reply is written as it comes, in any order, with its tokens, its cost and how it was asked. The same
    line goes on where it ended: what has no reply yet is asked, what failed among it. Requests are tried
    again, after longer and longer waits, where an endpoint is busy or a line is cut.

    \b
    Example:
      sraven text ask sraven-text-lite-v2 --url https://api.openai.com/v1 --key-env OPENAI_API_KEY \\
        --model gpt-5-mini --out completions.jsonl --price-in 0.25 --price-out 2 --budget 10
      sraven text score completions.jsonl
    """
    with needs_extra("sraven text ask", "llm"):
        from sraven.text.asking import Endpoint
    from sraven.text.ledger import open_ledger, wanted
    from sraven.text.masking import read_key
    from sraven.text.mixtures import mixture_of
    from sraven.text.wording import form_name

    if (price_in is None) != (price_out is None):
        raise click.UsageError("--price-in and --price-out go together")
    prices = None if price_in is None or price_out is None else (price_in, price_out)
    asking, mixture = Asking(**asked), mixture_of(board_id, form_name(form, shots), fresh)
    key = None if key_env is None else read_key(key_env)
    endpoint = Endpoint(
        url, asking, key, tries, timeout, lambda text: click.echo(escape(text, 500), err=True)
    )
    endpoint.connect(concurrency)  # what can't be is said before a file is made
    with open_ledger(out, asking, prices) as (ledger, file):
        left = wanted(mixture, ledger.replies, limit, samples)
        done, stopped = _ask(endpoint, ledger, file, left, budget, concurrency)
    still = len(wanted(mixture, ledger.replies, limit, samples))
    if stopped and still:
        others = [each for each in _causes(ledger, done) if each.partition(": ")[2] not in stopped]
        why = "; ".join([stopped, *others])
        raise Stopped(f"{why}; {out} lacks {still:,} replies, and the same line goes on", 1)
    took = ledger.usage
    sums = {"input_tokens": took.input_tokens, "output_tokens": took.output_tokens, "cost_usd": took.cost_usd}
    print_outcome(
        value={"path": str(out), "board": mixture.board, "form": mixture.form, "asked": done}
        | {"failed": ledger.failed, "causes": ledger.causes, "missing": still, **sums},
        text=lambda: click.echo(_told(ledger, done)),
    )
    if still:
        raise SystemExit(1)
