"""Options of the language model, for commands that serve all boards."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from baselines.config import C4, LanguageConfig
from cli.shared.options import argument_of, directory, field_options

if TYPE_CHECKING:
    from baselines.lm.train import Text

language_options = argument_of(
    "language",
    dict,
    click.option("--data", type=directory, multiple=True, help="c4: tokens to train on; may be repeated."),
    click.option(
        "--validation",
        type=directory,
        multiple=True,
        help="c4: documents to score while it trains, and to choose a grid's point by.",
    ),
    click.option("--size", metavar="paper|tiny", help="c4: of the model.  [default: paper]"),
    *field_options(LanguageConfig, ("length", "dtype"), "c4: "),
    click.option("--parts", type=click.IntRange(1), help="c4: parts of a batch, one after the other."),
    click.option("--tile", type=int, help="c4: positions of a tile of attention; 0 for none."),
    click.option("--rematerialise", is_flag=True, help="c4: recompute blocks for their gradients."),
)
"""Adds the options; the command gets their values by name as ``language``."""


def need_data(what: str, data: tuple[Path, ...]) -> None:
    """Refuse a command that names no tokens."""
    if not data:
        raise click.UsageError(f"{what} needs --data DIR, tokens that `sraven c4 prepare` made")


def text_of(language: Mapping[str, Any]) -> "Text":
    """Return what a language model is trained on.

    Raises:
        click.UsageError: for options without data.
    """
    from baselines.lm.experiment import Compute
    from baselines.lm.train import Text

    need_data(C4.id, language["data"])
    compute = Compute(language["parts"] or 1, language["tile"], language["rematerialise"])
    return Text(language["data"], language["validation"], language["size"] or "paper", compute)


def refuse_language(options: Mapping[str, Any], board_id: str) -> None:
    """Refuse options of the language model for a board that makes its own instances."""
    for name, value in options.items():
        if value not in (None, ()) and value is not False:  # 0 equals False, and is given all the same
            raise click.UsageError(f"--{name} is for the language model; {board_id} makes its own instances")
