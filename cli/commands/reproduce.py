"""Run the paper's figures, and write pages of results."""

import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click
from click.core import ParameterSource

from cli.shared.extras import needs_extra
from cli.shared.figures import coverage_of, describe_cell, print_coverage, print_plan, print_progress
from cli.shared.options import join_options
from cli.shared.outcomes import describe_line
from cli.shared.printing import print_json
from cli.shared.progress import progress_bar, resumable
from cli.shared.reproduction import Asked, asked_options

if TYPE_CHECKING:
    from baselines.reproduction.cells import Cell


def _list(asked: Asked) -> None:
    from baselines.reproduction.standing import standings_of

    standings = standings_of(asked.results)
    if asked.as_json:
        print_json([coverage_of(each) for each in standings])
    else:
        print_coverage(standings)


def _plan(asked: Asked) -> None:
    from baselines.reproduction.cells import as_planned
    from baselines.reproduction.plan import Rates, outlook
    from baselines.reproduction.records import read_records

    records, rates = read_records(asked.results), Rates(asked.rate)
    known = {*records, *(as_planned(record.config).digest for record in records.values())}
    found = [outlook(figure, asked.cells(figure), known, rates) for figure in asked.figures()]
    if asked.as_json:
        print_json(found)
    else:
        print_plan(found, rates.notes.values())


def _run(asked: Asked) -> None:
    from baselines.reproduction.records import read_records
    from baselines.reproduction.run import in_order, on_text, run_cells

    deadline = time.monotonic() + asked.budget
    cells = in_order([cell for figure in asked.figures() for cell in asked.cells(figure)])
    cells = on_text(cells, asked.text)
    known = read_records(asked.results)
    steps = sum(cell.config.steps for cell in cells if cell.digest not in known)

    def wrote(cell: "Cell", path: Path) -> None:
        if not asked.as_json:
            click.echo(f"{describe_cell(cell)}: {path}")

    with resumable(asked.runs, "the last checkpoint"), progress_bar("steps", steps) as advance:

        def tell(cell: "Cell | None", steps: int, line: Mapping[str, float] | None) -> None:
            name = describe_cell(cell) if cell else f"{asked.jobs} runs at a time"
            advance(steps, "  ".join([name, *([describe_line(line)] if line else [])]))

        train = partial(
            run_cells, jobs=asked.jobs, deadline=deadline, text=asked.text, tell=tell, wrote=wrote
        )
        came = train(cells, asked.runs, asked.results)
    if asked.as_json:
        stopped = [cell.digest for cell in came.stopped]
        print_json({"records": [str(path) for path in came.records], "stopped": stopped, "left": came.left})
    else:
        print_progress(came, len(cells))


def _adopt(asked: Asked) -> None:
    from baselines.reproduction.adopt import Provenance, adopt, this_machine
    from sraven.core.ground.errors import ConfigurationError, OutputError

    otherwise = Provenance(asked.code_commit, this_machine() if asked.here else None)
    make_record = partial(adopt, otherwise=otherwise, documents=asked.validation, again=asked.again)
    records, faults = [], []
    for name in asked.names:
        try:
            path, new = make_record(Path(name), asked.results)
        except (ConfigurationError, OutputError) as error:
            faults.append({"run": name, "reason": str(error)})
            click.echo(f"left out: {error}", err=True)
            continue
        records.append({"run": name, "record": str(path), "new": new})
        if not asked.as_json:
            click.echo(f"{name}: {path}" + ("" if new else " (had been there; --again makes it anew)"))
    if asked.as_json:
        print_json({"records": records, "left_out": faults})
    if faults:
        raise SystemExit(1)


def _render(asked: Asked) -> None:
    from baselines.reproduction.render import render

    with needs_extra("sraven reproduce --render", "analysis"):
        import matplotlib as mpl  # noqa: F401
    written = [str(path) for path in render(asked.results)]
    if asked.as_json:
        print_json(written)
    else:
        click.echo("\n".join(written) if written else "all pages are what the records give")


class Action(NamedTuple):
    """What the command can do.

    Attributes:
        do: does it.
        help: a line on it.
        takes: what it reads of what is asked, beside the folder of results and --json.
    """

    do: Callable[[Asked], None]
    help: str
    takes: tuple[str, ...] = ()


_CHOICE = ("names", "grid", "steps", "where")

ACTIONS = {
    "list": Action(_list, "List the figures, and how far each has come."),
    "plan": Action(_plan, "Tell what is left of figures, and how long it takes.", (*_CHOICE, "rate")),
    "run": Action(
        _run, "Train what is left of figures.", (*_CHOICE, "jobs", "budget", "runs", "tokens", "validation")
    ),
    "adopt": Action(
        _adopt,
        "Make records of runs that `sraven train` made.",
        ("names", "code_commit", "here", "again", "validation"),
    ),
    "render": Action(_render, "Write the pages of results from the records."),
}


def _only(modes: Mapping[str, bool]) -> str:
    """Return the one thing that was asked for."""
    named = [f"--{name}" for name in ACTIONS if modes[name]]
    if not named:
        raise click.UsageError(f"say what to do: {', '.join(f'--{name}' for name in ACTIONS)}")
    if len(named) > 1:
        raise click.UsageError(f"one thing at a time, but got {' and '.join(named)}")
    return named[0].removeprefix("--")


@click.command(name="reproduce")
@join_options(
    *(click.option(f"--{name}", is_flag=True, help=action.help) for name, action in ACTIONS.items())
)
@asked_options
@click.pass_context
def command(context: click.Context, /, asked: Asked, **modes: bool) -> None:
    """Reproduce the paper's figures and tables: what there is to train, what has been, and pages of it.

    A run that is finished has a record in RESULTS, a file named by the digest of its configuration.
    --run trains what has none: one seed of every row before second seeds, the cheapest first. It stops
    at a checkpoint when its time is up, and the same line goes on. --adopt takes run directories.

    \b
    Example:
      sraven reproduce --list
      sraven reproduce --plan figure-2c
      sraven reproduce --run figure-2c table-a1-fuzzylogic --jobs 2 --budget 3h
      sraven reproduce --adopt runs/seed-0 runs/seed-1
      sraven reproduce --render
    """
    mode = _only(modes)
    if not asked.results.is_dir():
        raise click.UsageError(
            f"there is no {asked.results}; run this in a checkout, or name it with --results"
        )
    action = ACTIONS[mode]
    if asked.names and "names" not in action.takes:
        raise click.UsageError(f"--{mode} takes no names, but got {asked.names[0]!r}")
    if "names" in action.takes and not asked.names:
        raise click.UsageError(f"--{mode} needs names; `sraven reproduce --list` has those of the figures")
    for parameter in context.command.params:
        name = parameter.name or ""
        is_given = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if is_given and name not in (*ACTIONS, *action.takes, "results", "as_json"):
            raise click.UsageError(f"--{mode} has no use for {parameter.opts[0]}; leave it out")
    with needs_extra("sraven reproduce", "baselines"):
        import baselines.reproduction.run  # noqa: F401
    action.do(asked)
