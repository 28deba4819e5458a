"""Tokens and price of a run of a board, before anything is sent."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import click

from cli.shared.imports import needs_extra
from cli.shared.options import existing_file
from cli.shared.printing import json_option, print_outcome
from cli.shared.questions import board_questions


def _counter(path: Path) -> Callable[[str], int]:
    """Return what counts the tokens of a text by a tokenizer in a file."""
    from sraven.core.system.files import read_bounded

    load: Callable[[bytes], Any]
    if path.suffix == ".json":
        with needs_extra("--tokenizer FILE.json", "transformers"):
            from tokenizers import Tokenizer
        load = Tokenizer.from_buffer
    else:
        with needs_extra("--tokenizer FILE.model", "baselines"):
            from sentencepiece import SentencePieceProcessor
        load = partial(SentencePieceProcessor, None)  # None for the file
    try:
        tokenizer = load(read_bounded(path))
    except Exception as error:  # each library has exceptions of its own
        reason = " ".join(str(error).split())
        raise click.UsageError(f"{path} is no tokenizer.json and no SentencePiece model: {reason}") from None
    return lambda text: len(tokenizer.encode(text))


@click.command(name="cost")
@click.option("--board", "board_id", required=True, help="The board.")
@click.option("--form", default="told", show_default=True, metavar="told|untold", help="As for `generate`.")
@click.option("--shots", type=int, default=0, show_default=True, help="As for `generate`.")
@click.option(
    "--tokens-per-reply",
    type=click.IntRange(0, 1 << 20),
    default=1000,
    show_default=True,
    help="How long replies are, thoughts included.",
)
@click.option(
    "--price-in", type=click.FloatRange(0), default=0, help="US dollars for a million tokens of prompts."
)
@click.option(
    "--price-out", type=click.FloatRange(0), default=0, help="US dollars for a million tokens of replies."
)
@click.option(
    "--tokenizer",
    type=existing_file,
    metavar="FILE",
    help="A tokenizer.json or SentencePiece .model to count by.",
)
@json_option
def command(
    board_id: str,
    form: str,
    shots: int,
    tokens_per_reply: int,
    price_in: float,
    price_out: float,
    tokenizer: Path | None,
) -> None:
    """Print how many tokens a run of a board takes, and its price; nothing is sent.

    Tokens of prompts are estimated unless a tokenizer is given: one for each word, number and mark, and for
    each space before a number. How long replies are, only you can say: models that think take thousands.

    \b
    Example:
      sraven text cost --board sraven-text-lite-v2 --tokens-per-reply 4000 --price-in 2.5 --price-out 10
    """
    from sraven.text.tokens import estimate_tokens

    questions, _ = board_questions(board_id, form, shots)
    count = estimate_tokens if tokenizer is None else _counter(tokenizer)
    prompts = [prompt for each in questions for part in each.parts() for prompt in each.prompts(part)]
    count_prompts, tokens = len(prompts), sum(map(count, prompts))
    replied = count_prompts * tokens_per_reply
    price = (tokens * price_in + replied * price_out) / 1e6
    kind = "estimated" if tokenizer is None else f"by {tokenizer.name}"
    print_outcome(
        value={
            "board": board_id,
            "questions": count_prompts,
            "input_tokens": tokens,
            "estimated": tokenizer is None,
            "output_tokens": replied,
            "cost_usd": price,
        },
        text=f"{board_id}: {count_prompts:,} questions\n"
        f"prompts: {tokens:,} tokens, {tokens / count_prompts:,.0f} each ({kind})\n"
        f"replies: {replied:,} tokens, {tokens_per_reply:,} each"
        + (f"\nprice:   {price:,.2f} US dollars" if price else ""),
    )
