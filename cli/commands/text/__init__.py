"""Puzzles as text: cost, generate, play, score, submit, tasks."""

import click

from cli.lazy import LazyGroup


@click.group(
    name="text",
    cls=LazyGroup,
    package=__name__,
    names=("cost", "generate", "play", "score", "submit", "tasks"),
)
def command() -> None:
    """Puzzles as text, for any language model behind any interface.

    \b
    Example:
      sraven text generate --M 4 --K 8 -n 2000 --out prompts.jsonl
      sraven text score completions.jsonl
    """
