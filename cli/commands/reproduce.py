"""Run the paper's figures, and write pages of results."""

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from cli.shared.extras import needs_extra
from cli.shared.options import json_option
from cli.shared.printing import print_json, print_table
from cli.shared.progress import Stopped, progress_bar

if TYPE_CHECKING:
    from baselines.reproduction.cells import Cell
    from baselines.reproduction.plan import Rates
    from baselines.reproduction.sets import Figure

_BUDGET = re.compile(r"(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m)?(?:(\d+(?:\.\d+)?)s)?")
_MODES = ("list", "plan", "run", "adopt", "render")


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


class Choice(NamedTuple):
    """Which runs are meant, and where things are.

    Attributes:
        names: of figures; run directories for ``--adopt``.
        steps: of another level; None for full length.
        grid: whether all points of the grid are meant, not the recipe's alone.
        where: fields of the configuration and the values wanted.
        results: folder of results.
        as_json: whether to print JSON.
    """

    names: tuple[str, ...]
    steps: int | None
    grid: bool
    where: Mapping[str, Sequence[str]]
    results: Path
    as_json: bool

    def cells(self, figure: "Figure") -> "list[Cell]":
        """Return the cells of a figure that are meant."""
        from baselines.reproduction.cells import choose_cells

        return choose_cells(figure, grid=self.grid, steps=self.steps, where=self.where)


@click.command(name="reproduce")
@click.argument("names", metavar="[FIGURE|RUN]...", nargs=-1)
@click.option("--list", "mode", flag_value="list", help="List the figures, and how far each has come.")
@click.option(
    "--plan", "mode", flag_value="plan", help="Tell what is left of figures, and how long it takes."
)
@click.option("--run", "mode", flag_value="run", help="Train what is left of figures.")
@click.option("--adopt", "mode", flag_value="adopt", help="Make records of runs that `sraven train` made.")
@click.option("--render", "mode", flag_value="render", help="Write the pages of results from the records.")
@click.option("--budget", callback=_read_budget, metavar="TIME", help="run: stop after 3h, 90m, 1h30m.")
@click.option(
    "--grid", is_flag=True, help="plan, run: all points of Table A3's grid.  [default: the recipe's]"
)
@click.option(
    "--steps", type=click.IntRange(1), help="plan, run: of a shorter level.  [default: full length]"
)
@click.option(
    "--where", multiple=True, metavar="FIELD=X,Y...", help="plan, run: such runs alone: --where seed=0."
)
@click.option(
    "--rate", type=click.FloatRange(0, min_open=True), metavar="GFLOPS", help="plan: instead of timing."
)
@click.option(
    "--runs",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("sraven-runs"),
    show_default=True,
    help="run: folder of run directories.",
)
@click.option(
    "--results",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("docs/results"),
    show_default=True,
    help="Folder of records and pages.",
)
@click.option("--code-commit", help="adopt: of the code that trained the runs.")
@click.option("--here", is_flag=True, help="adopt: the runs were trained on this machine.")
@click.option("--again", is_flag=True, help="adopt: also what has a record.")
@json_option
def command(
    names: tuple[str, ...],
    mode: str | None,
    budget: float,
    grid: bool,
    steps: int | None,
    where: tuple[str, ...],
    rate: float | None,
    runs: Path,
    results: Path,
    code_commit: str | None,
    here: bool,
    again: bool,
    as_json: bool,
) -> None:
    """Reproduce the paper's figures and tables: what there is to train, what has been, and pages of it.

    A run that is finished has a record in RESULTS, a file named by the digest of its configuration.
    --run trains what has none: one seed of every row before second seeds, the cheapest first. It stops
    at a checkpoint when its time is up, and the same line goes on. --adopt takes run directories.

    \b
    Example:
      sraven reproduce --list
      sraven reproduce --plan figure-2c
      sraven reproduce --run figure-2c table-a1-fuzzylogic --budget 3h
      sraven reproduce --adopt runs/seed-0 runs/seed-1
      sraven reproduce --render
    """
    if mode is None:
        raise click.UsageError(f"say what to do: {', '.join(f'--{each}' for each in _MODES)}")
    if not results.is_dir():
        raise click.UsageError(f"there is no {results}; run this in a checkout, or name it with --results")
    with needs_extra("sraven reproduce", "baselines"):
        import baselines.reproduction.records  # noqa: F401
    from baselines.reproduction.cells import read_where

    choice = Choice(names, steps, grid, read_where(where), results, as_json)
    if mode in ("list", "render") and names:
        raise click.UsageError(f"--{mode} takes no names, but got {names[0]!r}")
    if mode in ("plan", "run", "adopt") and not names:
        raise click.UsageError(f"--{mode} needs names; `sraven reproduce --list` has those of the figures")
    modes: Mapping[str, Callable[[], None]] = {
        "list": lambda: _list(choice),
        "plan": lambda: _plan(choice, rate),
        "run": lambda: _run(choice, runs, budget),
        "adopt": lambda: _adopt(choice, code_commit, here, again),
        "render": lambda: _render(choice),
    }
    modes[mode]()


def _figures(names: Sequence[str]) -> "list[Figure]":
    from baselines.model.names import look_up
    from baselines.reproduction.sets import FIGURES

    return [look_up("figure", name, FIGURES) for name in dict.fromkeys(names)]


def _list(choice: Choice) -> None:
    from rich.table import Table

    from baselines.reproduction.pages import standings_of

    standings = standings_of(choice.results)
    if choice.as_json:
        print_json([
            {
                "name": each.figure.name,
                "title": each.figure.title,
                **vars(each.coverage),
                "other_lengths": {level.steps: len(level.records) for level in each.levels[1:]},
            }
            for each in standings
        ])  # fmt: skip
        return
    table = Table("figure", "runs", "whole grid", "other lengths", "what it is")
    for each in standings:
        found = each.coverage
        table.add_row(
            each.figure.name,
            f"{found.done:,} of {found.planned:,}",
            f"{found.grid_done:,} of {found.grid_planned:,}",
            "; ".join(f"{len(level.records)} of {level.steps:,} steps" for level in each.levels[1:]),
            each.figure.title,
        )
    print_table(table)


def _plan(choice: Choice, rate: float | None) -> None:
    from baselines.reproduction.plan import Rates, plan_of
    from baselines.reproduction.records import read_records

    known = read_records(choice.results)
    rates = Rates(rate)
    found = []
    for figure in _figures(choice.names):
        cells = choice.cells(figure)
        left = [cell for cell in cells if cell.digest not in known]
        whole, rest = plan_of(cells), plan_of(left)
        per_second = rates.of(figure, cells)
        found.append({
            "figure": figure.name,
            "runs": whole.runs,
            "left": rest.runs,
            "steps": rest.steps,
            "operations": rest.operations.nominal,
            "operations_computed": rest.operations.computed,
            "operations_of_all": whole.operations.nominal,
            "rate": per_second,
            "hours": None if per_second is None else rest.hours(per_second),
        })  # fmt: skip
    if choice.as_json:
        print_json(found)
    else:
        _print_plan(found, rates)


def _print_plan(found: Sequence[Mapping[str, Any]], rates: "Rates") -> None:
    from rich.table import Table

    table = Table("figure", "runs left", "steps", "operations, nominal", "computed", "hours")
    for each in found:
        table.add_row(
            each["figure"],
            f"{each['left']:,} of {each['runs']:,}",
            f"{each['steps']:,}",
            f"{each['operations']:.2g}",
            f"{each['operations_computed']:.2g}",
            "–" if each["hours"] is None else f"{each['hours']:,.1f}",
        )
    print_table(table)
    for note in rates.notes.values():
        click.echo(note)


def _run(choice: Choice, runs: Path, budget: float) -> None:
    from baselines.reproduction.records import read_records
    from baselines.reproduction.run import in_order, provenance_here, run_cells

    began = time.monotonic()
    cells = in_order([cell for figure in _figures(choice.names) for cell in choice.cells(figure)])
    known = read_records(choice.results)
    todo = [cell for cell in cells if cell.digest not in known]

    def wrote(cell: "Cell", path: Path) -> None:
        if not choice.as_json:
            click.echo(f"{_describe(cell)}: {path}")

    with _resumable(), progress_bar("steps", sum(cell.config.steps for cell in todo)) as advance:

        def tell(cell: "Cell", steps: int, line: Mapping[str, float] | None) -> None:
            advance(steps, _describe(cell) + (f"  loss {line['loss']:.3g}" if line else ""))

        came = run_cells(
            cells,
            runs,
            choice.results,
            deadline=began + budget,
            provenance=provenance_here(),
            tell=tell,
            wrote=wrote,
        )
    if choice.as_json:
        stopped = None if came.stopped is None else came.stopped.digest
        print_json({"records": [str(path) for path in came.records], "stopped": stopped, "left": came.left})
    elif came.left:
        under_way = f", {_describe(came.stopped)} is under way" if came.stopped else ""
        click.echo(f"time is up: {came.left:,} runs are left{under_way}; the same line goes on")
    else:
        click.echo(f"all {len(cells):,} runs have records; sraven reproduce --render writes the pages")


@contextmanager
def _resumable() -> Iterator[None]:
    """Say of an interrupt, or of a full disk, that the same line goes on."""
    try:
        yield
    except KeyboardInterrupt:
        raise Stopped("interrupted; the same command goes on from the last checkpoint", 130) from None
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        raise Stopped(
            f"{error.strerror or error}{where}; mend that, and the same command goes on", 1
        ) from None


def _describe(cell: "Cell") -> str:
    """Return a cell in a few words."""
    labels = ", ".join(cell.row.labels.values())
    return f"{cell.config.board}, {labels}, rate {cell.config.learning_rate:g}, seed {cell.config.seed}"


def _adopt(choice: Choice, code_commit: str | None, here: bool, again: bool) -> None:
    from baselines.reproduction.run import Provenance, adopt, provenance_here
    from sraven.core.ground.errors import ConfigurationError, OutputError

    provenance = Provenance(code_commit, provenance_here().machine if here else None)
    records, faults = [], []
    for name in choice.names:
        try:
            path, new = adopt(Path(name), choice.results, provenance=provenance, again=again)
        except (ConfigurationError, OutputError) as error:
            faults.append({"run": name, "reason": str(error)})
            click.echo(f"left out: {error}", err=True)
            continue
        records.append({"run": name, "record": str(path), "new": new})
        if not choice.as_json:
            click.echo(f"{name}: {path}" + ("" if new else " (had been there; --again makes it anew)"))
    if choice.as_json:
        print_json({"records": records, "left_out": faults})
    if faults:
        raise SystemExit(1)


def _render(choice: Choice) -> None:
    from baselines.reproduction.render import render

    with needs_extra("sraven reproduce --render", "analysis"):
        import matplotlib as mpl  # noqa: F401
    written = render(choice.results)
    if choice.as_json:
        print_json([str(path) for path in written])
    else:
        for path in written:
            click.echo(str(path))
        if not written:
            click.echo("all pages are what the records give")
