"""Train a baseline on a board (JAX)."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from baselines.config import C4, RunConfig
from cli.shared.options import (
    FiniteRange,
    argument_of,
    field_options,
    import_option,
    join_options,
    needs_extra,
    output_directory,
    read_integers,
)
from cli.shared.printing import json_option, print_json
from cli.shared.progress import STOPPING, progress_bar, resumable
from cli.shared.training import (
    check_divergence,
    check_interrupt,
    describe_line,
    language_options,
    print_session,
    refuse_language,
    text_of,
)
from sraven.networks.stopping import stoppable

if TYPE_CHECKING:
    from jax.sharding import Mesh

    from baselines.session import Session
    from baselines.train.train import Outcome


def _join_devices(mesh: str | None, **processes: Any) -> "Mesh":
    """Join the other processes, and return the devices of all."""
    from baselines.train.processes import join
    from baselines.train.sharding import make_mesh

    join(**processes)
    return make_mesh(mesh)


device_options = argument_of(
    "devices",
    dict,
    click.option(
        "--mesh",
        metavar="data=N,fsdp=N",
        help="Devices of each run.  [default: one, or all of several processes]",
    ),
    click.option("--coordinator", metavar="HOST:PORT|auto", help="Of several processes; auto under Slurm."),
    click.option("--processes", type=int, help="How many there are, unless auto."),
    click.option("--process-id", type=int, help="Which this is, from 0, unless auto."),
)


OWN = [each.name for each in fields(RunConfig) if each.name not in ("board", "board_digest", "seed", "code")]
"""Fields that are options; the others are the board's, the seeds' and what was imported."""


@click.command(name="train")
@click.argument("board_id", metavar="BOARD")
@click.argument("more_grid", metavar="", nargs=-1)
@click.option("--out", type=output_directory, help="Run directory.  [required to train]")
@click.option("--print-config", is_flag=True, help="Print the configuration as JSON, and train nothing.")
@click.option(
    "--seeds",
    "--seed",
    "seeds",
    multiple=True,
    callback=lambda *given: read_integers(*given) or [0],
    metavar="N[,N...]",
    help="Several make a directory each.  [default: 0]",
)
@click.option(
    "--grid",
    multiple=True,
    metavar="NAME=X,Y...",
    help="Points to train together, of learning_rate, weight_decay, warmup: --grid A=1,2 B=3,4.",
)
@join_options(*field_options(RunConfig, OWN))
@language_options
@click.option("--save-every", type=click.IntRange(1), metavar="N", help="Steps between checkpoints.")
@click.option(
    "--save-minutes",
    type=FiniteRange(0),
    help="Minutes between checkpoints.  [default: a tenth of the time so far, from half a minute to 5]",
)
@click.option(
    "--score-every",
    type=click.IntRange(0),
    help="Steps between scores of a slice of each split; 0 for none.  [default: a hundredth]",
)
@click.option(
    "--score-instances",
    type=click.IntRange(1),
    help="Of each split in such a slice.  [default: 1024; c4: windows of four batches]",
)
@device_options
@import_option
@json_option
def command(
    board_id: str,
    more_grid: tuple[str, ...],
    out: Path | None,
    attention: str | None,
    network: str | None,
    print_config: bool,
    grid: tuple[str, ...],
    save_every: int | None,
    save_minutes: float | None,
    devices: dict[str, Any],
    **runs: Any,
) -> None:
    """Train a baseline on a board's training split.

    What isn't given is the recipe's; a run's result.json has the command that trains it again. Ctrl-C,
    SIGTERM and SIGUSR1 end it with a checkpoint, a second one at once. The same line again goes on with a
    run that was interrupted, and ends in the same parameters. OUT gets the configuration, a log with a line
    for every 100 steps, or 20 of c4-v1 (log.jsonl), checkpoints, and the result (result.json); several seeds
    or a grid make a run directory each in it. A grid's best point is chosen by its score on the board's test
    split, or on --validation. The scores while it trains choose nothing.

    \b
    Example:
      sraven train fuzzylogic-v1 --attention hyla --steps 5000 --out run
      sraven train fuzzylogic-v1 --attention hyla --steps 5000 --out runs \\
        --grid learning_rate=1e-3,3e-3 weight_decay=0.03,0.1 --seeds 0,1,2
      sraven train fuzzylogic-v1 --network mixer --out run
      sraven train c4-v1 --attention hyla --size tiny --data tokens --out run
    """
    if more_grid and not grid:
        raise click.UsageError(f"unexpected argument {more_grid[0]!r}; a grid begins with --grid")
    if attention is None and network in (None, "transformer"):
        raise click.MissingParameter(param_type="option", param_hint="'--attention'")
    if out is None and not print_config:
        raise click.MissingParameter(param_type="option", param_hint="'--out'")
    runs = {"attention": attention or "none", "network": network, **runs}
    session = _session(board_id, out or Path(), (*grid, *more_grid), **runs)
    if print_config:
        _print_configs(session)
        return
    mesh = _join_devices(**devices)
    with stoppable(STOPPING) as stop:
        ended, summary = _train(
            session, mesh=mesh, save_every=save_every, save_minutes=save_minutes, stop=stop
        )
    check_interrupt(session, ended, stop)
    import jax

    if jax.process_index() == 0:  # which alone writes and prints
        print_session(session, ended, summary)
        check_divergence(session, ended)


def _session(
    board_id: str,
    out: Path,
    grid: Sequence[str],
    *,
    attention: str,
    language: Mapping[str, Any],
    score_every: int | None,
    score_instances: int | None,
    **changes: Any,
) -> "Session":
    """Return the session of the runs."""
    with needs_extra("sraven train", "baselines"):
        from baselines.session import OnBoard, ScoringOptions, Source, make_session
        from baselines.train.grid import read_grid
    from sraven.board.board import read_board

    source: Source
    if board_id == C4.id:
        source = text_of(language)
        changes |= {"length": language["length"], "dtype": language["dtype"]}
    else:
        source = OnBoard(read_board(board_id))
        refuse_language(language, board_id)
    given = {name: value for name, value in changes.items() if value is not None}
    scoring = ScoringOptions(score_every, score_instances)
    return make_session(source, attention, out, grid=read_grid(grid), scoring=scoring, **given)


def _print_configs(session: "Session") -> None:
    """Print the configurations of runs that could be trained: an object, or a list of several."""
    from baselines.train.sharding import make_mesh
    from sraven.core.spec import values_of

    configs = session.configs
    session.make_experiment(configs[0], make_mesh())  # refuses what training would
    print_json(values_of(configs[0]) if len(configs) == 1 else [values_of(each) for each in configs])


def _train(session: "Session", **options: Any) -> "tuple[list[Outcome], dict[str, Any] | None]":
    """Train under a progress bar."""
    configs, folders = session.configs, session.folders
    runs = f", {len(configs)} runs" if len(configs) > 1 else ""
    with progress_bar(f"{configs[0].architecture}{runs}", configs[0].steps * len(configs)) as advance:

        def on_progress(steps: int, line: Mapping[str, float] | None) -> None:
            advance(steps, describe_line(line) if line else "")

        with resumable(folders[0], "the last checkpoint"):
            return session.train(progress=on_progress, **options)
