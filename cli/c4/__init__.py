"""`sraven c4`: text for the language model, and from it."""

import click

from cli.lazy import LazyGroup

COMMANDS = {
    "prepare": "Documents to shards of tokens: C4, or local files.",
    "fingerprint": "What tells a board's documents from others (for maintainers).",
    "sample": "Text from a trained language model.",
}


@click.group(name="c4", cls=LazyGroup, package="cli.c4", summaries=COMMANDS)
def command() -> None:
    """Text for the language model (paper, section 5): C4, or files like it.

    \b
    Example:
      sraven c4 prepare --source 'c4/*.json.gz' --tokenizer t5.model --out c4-tokens
    """
