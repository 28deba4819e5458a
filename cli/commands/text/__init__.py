"""Puzzles as text: for language models and for people."""

import click

from cli.shared.families import LazyGroup


@click.group(
    name="text",
    cls=LazyGroup,
    package=__name__,
    names=("ask", "generate", "play", "score", "submit", "tasks"),
)
def command() -> None:
    """Puzzles as text, for any language model behind any interface.

    \b
    Example:
      sraven text ask sraven-text-lite-v2 --url http://localhost:8000/v1 --model m --out completions.jsonl
      sraven text score completions.jsonl
    """
