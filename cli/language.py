"""Options of the language model, for commands that serve all boards."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from cli.options import argument_of

if TYPE_CHECKING:
    from baselines.config import RunConfig
    from baselines.grid import Judge
    from baselines.lm.corpus import Corpus
    from baselines.lm.experiment import Compute
    from baselines.train import MakeExperiment
    from sraven.core.boards.board import Board

directory = click.Path(path_type=Path, file_okay=False)


class LanguageOptions(NamedTuple):
    """What was given for the language model; None or nothing for what wasn't.

    Attributes:
        data: directories of tokens.
        validation: directories of documents.
        size: name of a size.
        length: tokens of a window.
        dtype: what to compute in.
        parts: of a batch.
        tile: positions of a tile of attention.
        rematerialise: whether to compute blocks anew for gradients.
    """

    data: tuple[Path, ...]
    validation: tuple[Path, ...]
    size: str | None
    length: int | None
    dtype: str | None
    parts: int | None
    tile: int | None
    rematerialise: bool


language_options = argument_of(
    "language",
    LanguageOptions,
    click.option("--data", type=directory, multiple=True, help="c4: tokens to train on; may be repeated."),
    click.option(
        "--validation", type=directory, multiple=True, help="c4: documents to choose by, of a grid."
    ),
    click.option("--size", metavar="paper|tiny", help="c4: of the model.  [default: paper]"),
    click.option("--length", type=int, help="c4: tokens of a window, T."),
    click.option("--dtype", metavar="bfloat16|float32", help="c4: what to compute in."),
    click.option("--parts", type=click.IntRange(1), help="c4: parts of a batch, one after the other."),
    click.option("--tile", type=int, help="c4: positions of a tile of attention; 0 for none."),
    click.option("--rematerialise", is_flag=True, help="c4: compute blocks anew for their gradients."),
)
"""Adds the options; the command gets ``language``."""


def is_language(board: "Board") -> bool:
    """Tell whether a board is of text."""
    return board.is_corpus


def compute_of(language: LanguageOptions) -> "Compute":
    """Return how the model is to be computed."""
    from baselines.lm.experiment import Compute

    return Compute(language.parts or 1, language.tile, language.rematerialise)


def open_corpus(what: str, data: tuple[Path, ...]) -> "Corpus":
    """Return the tokens in some directories.

    Raises:
        click.UsageError: if there is none.
    """
    from baselines.lm.corpus import Corpus

    if not data:
        raise click.UsageError(f"{what} needs --data DIR, tokens that `sraven c4 prepare` made")
    return Corpus(*data)


def judge_of(board: "Board", language: LanguageOptions) -> "Judge | None":
    """Return what chooses a point of a grid; None for what the board has.

    Raises:
        click.UsageError: for text without documents to choose by.
    """
    if not is_language(board):
        return None
    from baselines.lm.corpus import Corpus
    from baselines.lm.evaluate import language_judge

    if not language.validation:
        raise click.UsageError(f"a grid on {board.id} needs --validation DIR, documents to choose by")
    Corpus(*language.data, *language.validation)  # refuses another tokenizer, before hours of work
    return language_judge(Corpus(*language.validation))


def set_up(
    board: "Board", attention: str, language: LanguageOptions, changes: dict[str, Any]
) -> tuple["RunConfig", "MakeExperiment"]:
    """Return the configuration of a run, and what makes its experiment.

    Raises:
        click.UsageError: for options of the language model with another board, or without data.
    """
    if is_language(board):
        from baselines.lm.experiment import language_experiment
        from baselines.recipes import make_language_config

        corpus = open_corpus(board.id, language.data)
        size = language.size or "paper"
        changes = {"length": language.length, "dtype": language.dtype, **changes}
        config = make_language_config(board, corpus, attention, size=size, **changes)
        return config, language_experiment(corpus, compute_of(language))
    from baselines.experiment import board_experiment
    from baselines.recipes import make_config

    # 0 equals False, and is given all the same.
    values = language._asdict().items()
    given = [f"--{name}" for name, value in values if value not in (None, ()) and value is not False]
    if given:
        raise click.UsageError(f"{given[0]} is for the language model; {board.id} makes its own instances")
    return make_config(board, attention, **changes), board_experiment
