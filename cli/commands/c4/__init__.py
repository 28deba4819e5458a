"""Text for the language model: prepare."""

import click

from cli.lazy import LazyGroup, read_summaries

COMMANDS = read_summaries("cli.commands.c4", ("prepare", "fingerprint", "sample", "complete"))


@click.group(name="c4", cls=LazyGroup, package="cli.commands.c4", summaries=COMMANDS)
def command() -> None:
    """Text for the language model (paper, section 5): C4, or files like it.

    \b
    Example:
      sraven c4 prepare --source 'c4/*.json.gz' --tokenizer t5.model --out c4-tokens
    """
