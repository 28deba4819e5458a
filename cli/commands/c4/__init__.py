"""Text for the language model: prepare."""

import click

from cli.lazy import LazyGroup


@click.group(
    name="c4", cls=LazyGroup, package=__name__, names=("prepare", "fingerprint", "sample", "complete")
)
def command() -> None:
    """Text for the language model (paper, section 5): C4, or files like it.

    \b
    Example:
      sraven c4 prepare --source 'c4/*.json.gz' --tokenizer t5.model --out c4-tokens
    """
