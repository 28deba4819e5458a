"""What `sraven reproduce` is asked: which figures or runs, and where things are."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from cli.shared.language import directory
from cli.shared.options import argument_of, json_option
from cli.shared.outputs import output_directory

if TYPE_CHECKING:
    from baselines.reproduction.cells import Cell
    from baselines.reproduction.sets import Figure
    from baselines.session import Text

_BUDGET = re.compile(r"(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m)?(?:(\d+(?:\.\d+)?)s)?")


class Asked(NamedTuple):
    """What was asked for.

    Attributes:
        names: of figures; run directories for ``--adopt``.
        jobs: runs at a time.
        budget: seconds.
        grid: whether all points of the grid are meant, not the recipe's alone.
        steps: of another level; None for full length.
        where: fields of the configuration and the values wanted, as they were written.
        rate: GFLOP/s; None for this machine's.
        runs: folder of run directories.
        results: folder of results.
        code_commit: of the code that trained runs, if they don't tell.
        here: whether this machine did, if they don't tell.
        again: whether records that are there are made anew.
        tokens: directories of text to train on.
        validation: directories of text to score by.
        as_json: whether to print JSON.
    """

    names: tuple[str, ...]
    jobs: int
    budget: float
    grid: bool
    steps: int | None
    where: tuple[str, ...]
    rate: float | None
    runs: Path
    results: Path
    code_commit: str | None
    here: bool
    again: bool
    tokens: tuple[Path, ...]
    validation: tuple[Path, ...]
    as_json: bool

    @property
    def text(self) -> "Text | None":
        """Return what language models are trained on, and scored by; None if nothing was named."""
        from baselines.session import Text

        return Text(self.tokens, self.validation) if self.tokens or self.validation else None

    def figures(self) -> "list[Figure]":
        """Return the figures of the names."""
        from baselines.model.names import look_up
        from baselines.reproduction.sets import FIGURES

        return [look_up("figure", name, FIGURES) for name in dict.fromkeys(self.names)]

    def cells(self, figure: "Figure") -> "list[Cell]":
        """Return the cells of a figure that are meant."""
        from baselines.reproduction.cells import choose_cells, read_where

        return choose_cells(figure, grid=self.grid, steps=self.steps, where=read_where(self.where))


def _refuse_nan(ctx: click.Context, param: click.Parameter, value: float | None) -> float | None:
    if value is not None and value != value:  # which is in every range
        raise click.BadParameter("nan: expected a number", ctx, param)
    return value


def _check_jobs(ctx: click.Context, param: click.Parameter, value: int) -> int:
    from sraven.core.compute.parallel import available_threads

    if value > available_threads():
        raise click.BadParameter(
            f"{value}: expected 1 to {available_threads()}, the processors that may be used", ctx, param
        )
    return value


def _read_budget(ctx: click.Context, param: click.Parameter, text: str | None) -> float:
    """Return the seconds of a text such as ``3h`` or ``1h30m``."""
    found = _BUDGET.fullmatch(text) if text is not None else None
    if text is None:
        return float("inf")
    if not text or found is None:
        raise click.BadParameter(f"{text!r}: expected a time, such as 3h, 90m, or 1h30m")
    return sum(
        float(part or 0) * seconds for part, seconds in zip(found.groups(), (3600, 60, 1), strict=True)
    )


def _folder_option(name: str, default: str, help_text: str) -> Callable[[Any], Any]:
    return click.option(name, type=output_directory, default=Path(default), show_default=True, help=help_text)


asked_options = argument_of(
    "asked",
    Asked,
    click.argument("names", metavar="[FIGURE|RUN]...", nargs=-1),
    click.option(
        "--jobs",
        type=click.IntRange(1),
        callback=_check_jobs,
        default=1,
        show_default=True,
        help="run: runs at a time, each with its part of the processors.",
    ),
    click.option("--budget", callback=_read_budget, metavar="TIME", help="run: stop after 3h, 90m, 1h30m."),
    click.option(
        "--grid", is_flag=True, help="plan, run: all points of Table A3's grid.  [default: the recipe's]"
    ),
    click.option(
        "--steps", type=click.IntRange(1), help="plan, run: of a shorter level.  [default: full length]"
    ),
    click.option(
        "--where", multiple=True, metavar="FIELD=X,Y...", help="plan, run: such runs alone: --where seed=0."
    ),
    click.option(
        "--rate",
        type=click.FloatRange(0, 1e9, min_open=True),
        callback=_refuse_nan,
        metavar="GFLOPS",
        help="plan: instead of timing.",
    ),
    _folder_option("--runs", "sraven-runs", "run: folder of run directories."),
    _folder_option("--results", "docs/results", "Folder of records and pages."),
    click.option("--code-commit", help="adopt: of the code that trained the runs."),
    click.option("--here", is_flag=True, help="adopt: the runs were trained on this machine."),
    click.option("--tokens", type=directory, multiple=True, help="run: of figure-6, text to train on."),
    click.option("--validation", type=directory, multiple=True, help="run, adopt: text to score it by."),
    click.option("--again", is_flag=True, help="adopt: also what has a record."),
    json_option,
)
"""Adds the options; the command gets ``asked``."""
