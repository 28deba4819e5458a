"""`sraven generate`"""

from typing import TYPE_CHECKING, Any

import click

from cli.options import answers_option, output_options, size_option, sraven_task
from cli.writing import write

if TYPE_CHECKING:
    from sraven.task import SRAVEN


@click.command(name="generate")
@sraven_task
@answers_option
@size_option("--train", 1_000_000, "Instances of known combinations.")
@size_option("--test", 51_200, "New instances of known combinations.")
@size_option("--ood", 51_200, "Instances of held-out combinations.")
@output_options
def command(task: "SRAVEN", train: int, test: int, ood: int, **output: Any) -> None:
    """Write a dataset of symbolic Raven's matrices, with exact ambiguity certificates.

    If it is interrupted, the same command goes on and ends with the same bytes.

    \b
    Example:
      sraven generate --M 4 --K 8 --holdout 0.25
      sraven generate --answers unique --train 20_000_000 --out raven-unique
    """
    write(task, {"train": train, "test": test, "ood": ood}, **output)
