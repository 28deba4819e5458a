"""Questions of a board, put to an endpoint."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli.shared.options import field_option, join_options, needs_extra, output_file
from cli.shared.printing import json_option, print_outcome
from cli.shared.progress import Stopped, progress_bar
from cli.shared.questions import board_options, fresh_option
from sraven.core.spec import settings_of
from sraven.text.apis import Asking

if TYPE_CHECKING:
    from sraven.text.asking import Ledger


def _key(name: str | None) -> str | None:
    """Return a key from the environment."""
    if name is None:
        return None
    if not (key := os.environ.get(name)):
        raise click.UsageError(f"the environment has no {name}; set it, or leave --key-env out")
    return key


def _dollars(ledger: "Ledger", left: int) -> str:
    """Return in words what was spent, and what there is to spend."""
    if not ledger.usage.with_cost:
        return ""
    return f"{ledger.usage.cost_usd:,.2f} US dollars so far, {ledger.each * left:,.2f} to come"


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
    "--timeout", type=click.FloatRange(0.1), default=600, show_default=True, help="Seconds of a try."
)
@click.option("--price-in", type=click.FloatRange(0), help="US dollars for a million tokens of prompts.")
@click.option("--price-out", type=click.FloatRange(0), help="US dollars for a million tokens of replies.")
@click.option("--budget", type=click.FloatRange(0), help="US dollars after which no more is asked.")
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
        from sraven.text.asking import Endpoint, Ledger, Outcome, StoppedAskingError, ask_all, posed, wanted
    from sraven.text.mixtures import mixture_of
    from sraven.text.wording import form_name

    if not url.startswith(("http://", "https://")):
        raise click.UsageError(f"--url {url} is no address; expected one such as http://localhost:8000/v1")
    if (price_in is None) != (price_out is None):
        raise click.UsageError("--price-in and --price-out go together")
    asking, mixture = Asking(**asked), mixture_of(board_id, form_name(form, shots), fresh)
    prices = None if price_in is None or price_out is None else (price_in, price_out)
    ledger = Ledger(out, asking, prices)
    left = wanted(mixture, ledger.replies, limit, samples)
    endpoint = Endpoint(url, asking, _key(key_env), tries, timeout)
    total, stopped = len(left), ""
    out.parent.mkdir(parents=True, exist_ok=True)
    with out.open("a", encoding="utf-8", newline="\n") as file, progress_bar("asking", total) as advance:
        done = 0

        def take(outcome: Outcome) -> bool:
            nonlocal done, stopped
            ledger.add(file, *outcome)
            done += 1
            advance(1, _dollars(ledger, total - done))
            took = ledger.usage
            if budget is not None and outcome.reply and not took.with_cost:
                stopped = (
                    "--budget needs costs, and the endpoint states none: give --price-in and --price-out"
                )
            elif budget is not None and took.cost_usd + ledger.each * concurrency > budget:
                stopped = f"the budget of {budget:,.2f} US dollars is nearly spent"
            return not stopped

        try:
            ask_all(endpoint, posed(left), take, concurrency)
        except StoppedAskingError as error:
            stopped = str(error)
        except KeyboardInterrupt:
            raise Stopped(
                f"interrupted; {out} has {done:,} more lines, and the same line goes on", 130
            ) from None
    still = len(wanted(mixture, ledger.replies, limit, samples))
    if stopped and still:
        raise Stopped(f"{stopped}; {out} lacks {still:,} replies, and the same line goes on", 1)
    text = f"{out}: {sum(ledger.replies.values()):,} replies, {done - ledger.failed:,} of them new" + (
        f"; {ledger.failed:,} failed, which the same line asks again" * bool(ledger.failed)
    )
    took = ledger.usage
    sums = {"input_tokens": took.input_tokens, "output_tokens": took.output_tokens, "cost_usd": took.cost_usd}
    spent = f"{took.input_tokens:,} tokens of prompts, {took.output_tokens:,} of replies" + (
        f", {took.cost_usd:,.2f} US dollars" * bool(took.with_cost)
    )
    print_outcome(
        value={"path": str(out), "board": mixture.board, "form": mixture.form, "asked": done}
        | {"failed": ledger.failed, "missing": still, **sums},
        text=f"{text}\n{spent}\n\nsraven text score {out}",
    )
    if still:
        raise SystemExit(1)
