"""`sraven challenge`: rounds on instances that nobody can know before."""

import click

from cli.lazy import LazyGroup

COMMANDS = {
    "commit": "Commit to a program, before a round (entrant).",
    "new": "Draw a round under a secret (organiser).",
    "answer": "Make an answer of predictions (entrant).",
    "score": "Check a round against its secret, score the answers.",
}


@click.group(name="challenge", cls=LazyGroup, package="cli.challenge", summaries=COMMANDS)
def command() -> None:
    """Rounds on secret instances: programs are committed first, labels never leave the organiser.

    \b
    Example:
      sraven challenge commit program --name "My method" --out commitment.json
      sraven challenge new sraven-v1 DIGEST DIGEST --out round
      sraven challenge answer public predictions --commitment commitment.json --program program --out answer
      sraven challenge score public answer-1 answer-2 --secret secret.json
    """
