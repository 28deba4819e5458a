"""Rounds on secret instances: commit, new, answer, score."""

import click

from cli.lazy import LazyGroup


@click.group(name="challenge", cls=LazyGroup, package=__name__, names=("commit", "new", "answer", "score"))
def command() -> None:
    """Rounds on secret instances: programs are committed first, labels never leave the organiser.

    \b
    Example:
      sraven challenge commit program --name "My method" --out commitment.json
      sraven challenge new sraven-v1 DIGEST DIGEST --out round
      sraven challenge answer public predictions --commitment commitment.json --program program --out answer
      sraven challenge score public answer-1 answer-2 --secret secret.json
    """
