"""Questions of a board, put to an endpoint."""

from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from cli.shared.options import FiniteRange, field_option, join_options, needs_extra, output_file
from cli.shared.printing import json_option, print_outcome
from cli.shared.progress import Stopped, progress_bar
from cli.shared.questions import board_options, fresh_option
from sraven.core.escape import dollars, escape
from sraven.core.spec import settings_of
from sraven.text.apis import Asking, Outcome

if TYPE_CHECKING:
    from sraven.text.asking import Endpoint
    from sraven.text.ledger import Ledger, Wanted
    from sraven.text.mixtures import Mixture

CAUSES = 3
"""Causes of failures that are told."""

MOST_DOLLARS = 1e6


def _causes(ledger: "Ledger", done: int) -> list[str]:
    """Return why questions failed, the most frequent causes first."""
    return [f"{count:,} of {done:,}: {escape(cause)}" for cause, count in ledger.causes.most_common(CAUSES)]


def _ask(
    endpoint: "Endpoint",
    ledger: "Ledger",
    file: IO[str],
    left: "list[Wanted]",
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
            costs = f"{dollars(ledger.spent)} so far, {dollars(ledger.each * (total - done))} to come"
            advance(1, costs if ledger.usage.with_cost else "")
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
        f"{ledger.path}: {sum(map(len, ledger.replies.values())):,} replies, {done - failed:,} of them new"
        + failures * bool(failed),
        *_causes(ledger, done),
        f"{took.input_tokens:,} tokens of prompts, {took.output_tokens:,} of replies"
        + f", {dollars(took.cost_usd)}" * bool(took.with_cost),
    ]
    return "\n".join([*lines, "", f"sraven text score {ledger.path}"])


def _print_plan(mixture: "Mixture", left: "list[Wanted]", ledger: "Ledger", length: int | None) -> None:
    """Print what would be asked, and what it would cost, by its prices and the length of replies."""
    from sraven.text.ledger import posed
    from sraven.text.prompts import count_tokens

    tokens, count = sum(count_tokens(prompt) for _, prompt, _ in posed(left)), len(left)
    each, said = length or 1000, "at most" if length else "for each 1,000 tokens of a reply"
    price_in, price_out = ledger.prices or (0.0, 0.0)
    costs = (tokens * price_in / 1e6, count * each * price_out / 1e6)
    shown = [f": {dollars(cost)}" * bool(ledger.prices) for cost in costs]
    lines = [
        f"{mixture.name}: {count:,} requests would be made; nothing was sent",
        f"about {tokens:,} tokens of prompts{shown[0]}",
        f"{said}, {count * each:,} tokens of replies{shown[1]}",
        *([f"{dollars(sum(costs))} in all"] if ledger.prices and length else []),
    ]
    value = {"path": str(ledger.path), "board": mixture.board, "form": mixture.form, "requests": count}
    value |= {"input_tokens": tokens, "output_tokens": count * each}
    print_outcome(value=value | ({"cost_usd": sum(costs)} if ledger.prices else {}), text="\n".join(lines))


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
@click.option(
    "--by-level",
    is_flag=True,
    help="Ask level after level: a server that keeps how the last prompt began reads less.",
)
@click.option("--budget", type=FiniteRange(0, min_open=True), help="US dollars after which no more is asked.")
@click.option("--dry-run", is_flag=True, help="Say what would be asked, and what it costs; send nothing.")
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
    by_level: bool,
    budget: float | None,
    dry_run: bool,
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
    from sraven.text.ledger import Ledger, open_ledger, wanted
    from sraven.text.masking import read_key
    from sraven.text.mixtures import mixture_of
    from sraven.text.wording import form_name

    if (price_in is None) != (price_out is None):
        raise click.UsageError("--price-in and --price-out go together")
    prices = None if price_in is None or price_out is None else (price_in, price_out)
    asking, mixture = Asking(**asked), mixture_of(board_id, form_name(form, shots), fresh)
    asking.of_sample(samples - 1)  # which may have a seed that can't be sent
    if dry_run:
        ledger = Ledger(out, asking, prices)
        left = wanted(mixture, ledger.replies, limit, samples)
        _print_plan(mixture, left, ledger, asking.max_tokens)
        return
    with needs_extra("sraven text ask", "llm"):
        from sraven.text.asking import Endpoint
    key = None if key_env is None else read_key(key_env)
    endpoint = Endpoint(
        url, asking, key, tries, timeout, lambda text: click.echo(escape(text, 500), err=True)
    )
    endpoint.connect(concurrency)  # what can't be is said before a file is made
    with open_ledger(out, asking, prices) as (ledger, file):
        left = wanted(mixture, ledger.replies, limit, samples)
        if by_level:
            left.sort(key=lambda each: mixture.sets.index(each[0]))
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
