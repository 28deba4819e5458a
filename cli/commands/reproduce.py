"""Run the paper's figures, and write pages of results."""

import re
import time
from collections.abc import Callable, Mapping
from inspect import Parameter, signature
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli.shared.options import directory, is_given, join_options, leave_out, needs_extra, output_directory
from cli.shared.printing import json_option, print_json, print_outcome, print_rows, wants_json
from cli.shared.progress import STOPPING, progress_bar, resumable
from cli.shared.training import describe_line
from sraven.networks.stopping import stoppable

if TYPE_CHECKING:
    from baselines.paper.cells import Cell, Chosen
    from baselines.paper.devices import Gpu
    from baselines.paper.run import CellProgress


def describe_cell(cell: "Cell") -> str:
    """Return a cell in a few words."""
    labels = ", ".join(cell.row.labels.values())
    return f"{cell.config.board}, {labels}, rate {cell.config.learning_rate:g}, seed {cell.config.seed}"


def _print_progress(progress: "CellProgress", runs: int, why: str) -> None:
    """Print how many runs are left, and why training ended."""
    names = " and ".join(map(describe_cell, progress.stopped))
    under_way = f", {names} {'is' if len(progress.stopped) == 1 else 'are'} under way" if names else ""
    left = "1 run is" if progress.left == 1 else f"{progress.left:,} runs are"
    text = f"{why}: {left} left{under_way}; the same line goes on"
    if not progress.left:
        have = "the run has its record" if runs == 1 else f"all {runs:,} runs have records"
        text = f"{have}; sraven reproduce --render writes the pages"
    records, stopped = list(map(str, progress.records)), [cell.digest for cell in progress.stopped]
    print_outcome(value={"records": records, "stopped": stopped, "left": progress.left}, text=text)


_BUDGET = re.compile(r"(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m)?(?:(\d+(?:\.\d+)?)s)?")


def _list(results: Path) -> None:
    """List the figures, and how far each has come."""
    from baselines.paper.results import standings_of

    standings = standings_of(results)
    found = [
        {
            "name": each.figure.name,
            "title": each.figure.title,
            **vars(each.coverage),
            "other_lengths": {level.steps: len(level.records) for level in each.levels[1:] if level.steps},
        }
        for each in standings
    ]
    headings = "figure", "runs", "whole grid", "other lengths", "what it is"
    rows = ((each.figure.name, *each.counts, each.figure.title) for each in standings)
    print_outcome(value=found, text=lambda: print_rows(headings, rows))


def _cells(names: tuple[str, ...], where: tuple[str, ...], **chosen: Any) -> "list[Chosen]":
    """Return the cells that names of figures and queues mean."""
    from baselines.paper.cells import choose, read_where

    return list(choose(tuple(dict.fromkeys(names)), read_where(where), **chosen))


def _plan(
    results: Path,
    names: tuple[str, ...],
    grid: bool,
    steps: int | None,
    where: tuple[str, ...],
    on: str | None,
) -> None:
    """Print what is left of figures or a queue, and how long it takes."""
    from baselines.paper.cells import as_planned
    from baselines.paper.devices import find_gpus
    from baselines.paper.figures import QUEUES
    from baselines.paper.plan import outlook, rate_of
    from baselines.paper.records import read_records

    records = read_records(results)
    known = {*records, *(as_planned(record.config).digest for record in records.values())}
    a_second = rate_of(records.values(), on or next((gpu.name for gpu in find_gpus()), None))
    found = list[dict[str, Any]]()
    for each in _cells(names, grid=grid, steps=steps, where=where):
        found.append(outlook(each, known, a_second))
        if QUEUES.keys() & set(names):
            known |= {cell.digest for cell in each.cells}
    rows = (
        (
            each["figure"],
            f"{each['left']:,} of {each['runs']:,}",
            f"{each['steps']:,}",
            f"{each['operations']:.2g}",
            "–" if each["hours"] is None else f"{each['hours']:,.{1 if each['hours'] >= 10 else 2}f}",
        )
        for each in found
    )
    headings = "figure", "runs left", "steps", "operations", "hours"
    print_outcome(value=found, text=lambda: print_rows(headings, rows))


def _gpus(mesh: str | None) -> "tuple[Gpu, ...]":
    """Return the GPUs to share out among programs; none where each run has devices of its own."""
    import jax

    from baselines.paper.devices import find_gpus

    gpus = () if mesh else find_gpus()
    if gpus:
        if is_given("jobs"):
            raise click.UsageError("--jobs is for processors; here are GPUs, which take what fits")
        jax.config.update("jax_platforms", "cpu")  # of this process, which would take the GPUs' memory
    return gpus


def _in_order(names: tuple[str, ...], **chosen: Any) -> "list[Cell]":
    """Return cells in the order in which they are trained: of a queue, part by part."""
    from baselines.paper.figures import QUEUES
    from baselines.paper.run import training_order

    found = [each.cells for each in _cells(names, **chosen)]
    return list(chain(*map(training_order, found if QUEUES.keys() & set(names) else [chain(*found)])))


def _print_record(cell: "Cell", path: Path) -> None:
    """Print where the record of a run is, when it is written."""
    if not wants_json():
        click.echo(f"{describe_cell(cell)}: {path}")


def _run(
    results: Path,
    names: tuple[str, ...],
    grid: bool,
    steps: int | None,
    where: tuple[str, ...],
    jobs: int,
    budget: float,
    runs: Path,
    tokens: tuple[Path, ...],
    validation: tuple[Path, ...],
    parts: int,
    tile: int | None,
    rematerialise: bool,
    mesh: str | None,
) -> None:
    """Train what is left of figures."""
    from baselines.lm.experiment import Compute
    from baselines.lm.train import Text
    from baselines.paper.devices import SAVE_MINUTES
    from baselines.paper.records import read_records
    from baselines.paper.run import run_cells, with_text

    deadline = time.monotonic() + budget
    compute = Compute(parts, tile, rematerialise)
    text = Text(tokens, validation, compute=compute) if tokens or validation else None
    gpus = _gpus(mesh)
    cells = with_text(_in_order(names, grid=grid, steps=steps, where=where), text)
    known = read_records(results)
    total = sum(cell.config.steps for cell in cells if cell.digest not in known)

    with (
        resumable(runs, "the last checkpoint"),
        stoppable(STOPPING) as stop,
        progress_bar("steps", total) as advance,
    ):

        def on_progress(cell: "Cell | None", steps: int, line: Mapping[str, float] | None) -> None:
            name = describe_cell(cell) if cell else f"{len(gpus)} GPUs" if gpus else f"{jobs} runs at a time"
            advance(steps, "  ".join([name, *([describe_line(line)] if line else [])]))

        progress = run_cells(
            cells,
            runs,
            results,
            jobs=jobs,
            gpus=gpus,
            on_progress=on_progress,
            wrote=_print_record,
            text=text,
            mesh=mesh,
            stop=lambda: stop() or time.monotonic() >= deadline,
            save_minutes=SAVE_MINUTES if gpus else None,
        )
    _print_progress(progress, len(cells), "time is up" if stop.received is None else stop.received.name)
    if stop.received is not None and progress.left:
        raise SystemExit(stop.exit_code)


def _adopt(results: Path, names: tuple[str, ...], validation: tuple[Path, ...]) -> None:
    """Make records of runs that `sraven train` made."""
    from baselines.paper.adopt import adopt
    from sraven.core.errors import ConfigurationError, OutputError

    records, faults = [], []
    for name in names:
        try:
            path, new = adopt(Path(name), results, documents=validation)
        except (ConfigurationError, OutputError) as error:
            faults.append({"run": name, "reason": str(error)})
            click.echo(f"left out: {error}", err=True)
            continue
        records.append({"run": name, "record": str(path), "new": new})
        if not wants_json():
            click.echo(f"{name}: {path}" + ("" if new else " (had been there; remove it for a new one)"))
    if wants_json():
        print_json({"records": records, "left_out": faults})
    if faults:
        raise SystemExit(1)


def _render(results: Path, names: tuple[str, ...] = ()) -> None:
    """Write the pages of results from the records, or those of FIGUREs alone."""
    with needs_extra("sraven reproduce --render", "analysis"):
        from baselines.paper.render import render
    written = [str(path) for path in render(results, names)]
    print_outcome(value=written, text="\n".join(written) or "all pages are what the records give")


ACTIONS: dict[str, Callable[..., None]] = {
    "list": _list,
    "plan": _plan,
    "run": _run,
    "adopt": _adopt,
    "render": _render,
}
"""The actions of the command. Each has its summary as help, and its parameters are its options."""


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


@click.command(name="reproduce")
@join_options(
    *(click.option(f"--{name}", is_flag=True, help=action.__doc__) for name, action in ACTIONS.items()),
    click.argument("names", metavar="[FIGURE|queue|RUN]...", nargs=-1),
    click.option(
        "--jobs",
        type=click.IntRange(1),
        default=1,
        show_default=True,
        help="run: runs at a time, each with its part of the processors; GPUs take what fits.",
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
    click.option("--on", metavar="DEVICE", help="plan: for a GPU that records name: H200.  [default: here]"),
    _folder_option("--runs", "sraven-runs", "run: folder of run directories."),
    _folder_option("--results", "docs/results", "Folder of records and pages."),
    click.option("--tokens", type=directory, multiple=True, help="run: of figure-6, text to train on."),
    click.option("--validation", type=directory, multiple=True, help="run, adopt: text to score it by."),
    click.option("--parts", type=click.IntRange(1), default=1, help="run: of figure-6, as of sraven train."),
    click.option("--tile", type=int, help="run: of figure-6; 0 is the fastest, where it fits."),
    click.option("--rematerialise", is_flag=True, help="run: of figure-6."),
    click.option("--mesh", metavar="data=N,fsdp=N", help="run: devices of each run.  [default: one]"),
    json_option,
)
def command(**given: Any) -> None:
    """Reproduce the paper's figures and tables: what there is to train, what has been, and pages of it.

    A run that is finished has a record in RESULTS, a file named by the digest of its configuration.
    --run trains what has none: one seed of every row before second seeds, the cheapest first. On NVIDIA's
    GPUs, seeds share a program and programs share each GPU. It stops at a checkpoint when its time is up or
    a signal comes, and the same line goes on. `queue` is what decides most, of all figures; `queue-cpu` what
    processors may do meanwhile. --adopt takes run directories.

    \b
    Example:
      sraven reproduce --list
      sraven reproduce --plan figure-2c
      sraven reproduce --plan queue --on H200
      sraven reproduce --run queue --budget 28m
      sraven reproduce --run figure-2c table-a1-fuzzylogic --jobs 2 --budget 3h
      sraven reproduce --adopt runs/seed-0 runs/seed-1
      sraven reproduce --render
    """
    modes = [name for name in ACTIONS if given[name]]
    if not modes:
        raise click.UsageError(f"say what to do: {', '.join(f'--{name}' for name in ACTIONS)}")
    if len(modes) > 1:
        raise click.UsageError(f"one thing at a time, but got {' and '.join(f'--{name}' for name in modes)}")
    [mode] = modes
    results, names, takes = given["results"], given["names"], signature(ACTIONS[mode]).parameters
    if mode in ("run", "adopt") and is_given("results"):
        results.mkdir(parents=True, exist_ok=True)
    if not results.is_dir():
        raise click.UsageError(f"there is no {results}; run this in a checkout, or name it with --results")
    if names and "names" not in takes:
        raise click.UsageError(f"--{mode} takes no names, but got {names[0]!r}")
    if "names" in takes and takes["names"].default is Parameter.empty and not names:
        raise click.UsageError(f"--{mode} needs names; `sraven reproduce --list` has those of the figures")
    leave_out(given.keys() - {*ACTIONS, *takes}, f"--{mode} has no use for it")
    with needs_extra("sraven reproduce", "baselines"):
        import baselines.paper.run  # noqa: F401
    ACTIONS[mode](**{name: given[name] for name in takes})
