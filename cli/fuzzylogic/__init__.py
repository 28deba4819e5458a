"""`sraven fuzzylogic`: the second task."""

import click

from cli.lazy import LazyGroup

COMMANDS = {
    "generate": "Write a fuzzy-logic dataset that load_dataset loads.",
    "show": "Look at sequences, with the function behind them.",
    "ambiguity": "Measure what the points of a sequence leave open.",
}


@click.group(name="fuzzylogic", cls=LazyGroup, package="cli.fuzzylogic", summaries=COMMANDS)
def command() -> None:
    """Fuzzy-logic functions to be learnt in context (paper, section 3).

    \b
    Example:
      sraven fuzzylogic generate --L 4 --K 2 --N 32 --holdout 0.7
      sraven fuzzylogic show --explain
    """
