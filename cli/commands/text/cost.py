"""Tokens and price of a run of a board, before anything is sent."""

import click

from cli.shared.printing import json_option, print_outcome
from cli.shared.questions import board_options, board_questions


@click.command(name="cost")
@click.option("--board", "board_id", required=True, help="The board.")
@board_options
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
@json_option
def command(
    board_id: str,
    form: str,
    shots: int,
    tokens_per_reply: int,
    price_in: float,
    price_out: float,
) -> None:
    """Print how many tokens a run of a board takes, and its price; nothing is sent.

    Tokens of prompts are estimated: one for each word, number and mark, and for each space before a number.
    How long replies are, only you can say: models that think take thousands.

    \b
    Example:
      sraven text cost --board sraven-text-lite-v2 --tokens-per-reply 4000 --price-in 2.5 --price-out 10
    """
    from sraven.text.prompts import estimate_tokens

    questions, _ = board_questions(board_id, form, shots)
    counts = [estimate_tokens(prompt) for each in questions for prompt in each.all_prompts()]
    asked, tokens = len(counts), sum(counts)
    replied = asked * tokens_per_reply
    price = (tokens * price_in + replied * price_out) / 1e6
    print_outcome(
        value={
            "board": board_id,
            "questions": asked,
            "input_tokens": tokens,
            "output_tokens": replied,
            "cost_usd": price,
        },
        text=f"{board_id}: {asked:,} questions\n"
        f"prompts: {tokens:,} tokens, {tokens / asked:,.0f} each (estimated)\n"
        f"replies: {replied:,} tokens, {tokens_per_reply:,} each"
        + (f"\nprice:   {price:,.2f} US dollars" if price else ""),
    )
