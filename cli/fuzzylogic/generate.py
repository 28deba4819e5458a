"""`sraven fuzzylogic generate`"""

from typing import TYPE_CHECKING, Any

import click

from cli.fuzzylogic.options import fuzzylogic_task
from cli.options import output_options, size_option
from cli.writing import write

if TYPE_CHECKING:
    from fuzzylogic.task import FuzzyLogic


@click.command(name="generate")
@fuzzylogic_task
@size_option("--train", 1_000_000, "Sequences of known combinations.")
@size_option("--test", 16_384, "More sequences of the same combinations.")
@size_option("--ood", 16_384, "Sequences of held-out combinations.")
@size_option("--ood-terms", 16_384, "Sequences of unseen terms.")
@output_options
def command(task: "FuzzyLogic", train: int, test: int, ood: int, ood_terms: int, **output: Any) -> None:
    """Write a dataset of fuzzy-logic functions to be learnt in context.

    If it is interrupted, the same command goes on and ends with the same bytes.

    \b
    Example:
      sraven fuzzylogic generate --L 4 --K 2 --N 32 --holdout 0.7
    """
    write(task, {"train": train, "test": test, "ood": ood, "ood_terms": ood_terms}, **output)
