"""Text from a trained language model."""

from pathlib import Path

import click

from cli.shared.imports import import_option, needs_extra
from cli.shared.options import any_path
from cli.shared.printing import json_option, print_outcome


@click.command(name="sample")
@click.argument("run", metavar="RUN", type=any_path)
@click.option("--prompt", default="", help="How the text begins.  [default: nothing]")
@click.option("--tokens", type=int, help="To add at most.  [default: 64, or what fits]")
@click.option("--samples", type=int, default=1, show_default=True, help="How many texts.")
@click.option("--temperature", type=float, default=1.0, show_default=True, help="0 takes what is likeliest.")
@click.option("--top", type=int, default=0, help="Draw from as many of the likeliest tokens.  [default: all]")
@click.option("--seed", type=int, default=0, show_default=True, help="Draws the tokens.")
@import_option
@json_option
def command(
    run: Path, prompt: str, tokens: int | None, samples: int, temperature: float, top: int, seed: int
) -> None:
    """Continue a text with a language model.

    RUN is the directory of a finished run on c4-v1. Each text ends where the model ends its document, or
    after --tokens tokens.

    \b
    Example:
      sraven c4 sample run --prompt "The weather in" --temperature 0.8
    """
    with needs_extra("sraven c4 sample", "baselines"):
        from baselines.lm.sample import sample_text

    texts = sample_text(run, prompt, tokens, samples=samples, temperature=temperature, top=top, seed=seed)
    print_outcome(value={"prompt": prompt, "texts": texts}, text="\n\n".join(prompt + text for text in texts))
