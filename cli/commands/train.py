"""Train a baseline on a board (JAX)."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from cli.shared.extras import needs_extra
from cli.shared.language import LanguageOptions, language_options, text_of
from cli.shared.options import argument_of, json_option
from cli.shared.printing import print_json, print_table
from cli.shared.progress import Stopped, progress_bar, resumable
from sraven.core.ground.echo import with_error

if TYPE_CHECKING:
    from jax.sharding import Mesh

    from baselines.config import RunConfig
    from baselines.session import Plan, Session
    from baselines.train import Outcome

_IN_BRIEF = {
    "loss": "loss {:.3g}",
    "score": "score {:.3f}",
    "perplexity": "perplexity {:,.4g}",
    "instances_per_second": "{:,.0f}/s",
    "tokens_per_second": "{:,.0f} tokens/s",
}
"""What a progress bar says of a line of the log."""


class ScoringOptions(NamedTuple):
    """What was given for scores while it trains; None for what wasn't.

    Attributes:
        score_every: steps between them, 0 for none.
        score_instances: of each split.
    """

    score_every: int | None
    score_instances: int | None


scoring_options = argument_of(
    "scoring",
    ScoringOptions,
    click.option(
        "--score-every",
        type=click.IntRange(0),
        help="Steps between scores of a slice of each split; 0 for none.  [default: a hundredth]",
    ),
    click.option(
        "--score-instances",
        type=click.IntRange(1),
        help="Of each split in such a slice.  [default: 1024; c4: windows of four batches]",
    ),
)


class Devices(NamedTuple):
    """What was given for devices and processes; None for what wasn't.

    Attributes:
        mesh: sizes of the axes.
        coordinator: of several processes.
        processes: how many there are.
        process_id: which this is.
    """

    mesh: str | None
    coordinator: str | None
    processes: int | None
    process_id: int | None

    def join(self) -> "Mesh":
        """Join the other processes; return the devices of all."""
        from baselines.processes import join
        from baselines.sharding import make_mesh

        join(self.coordinator, self.processes, self.process_id)
        return make_mesh(self.mesh)


device_options = argument_of(
    "devices",
    Devices,
    click.option(
        "--mesh", metavar="data=N,fsdp=N", help="Devices.  [default: one, or all of several processes]"
    ),
    click.option("--coordinator", metavar="HOST:PORT|auto", help="Of several processes; auto under Slurm."),
    click.option("--processes", type=int, help="How many there are, unless auto."),
    click.option("--process-id", type=int, help="Which this is, from 0, unless auto."),
)


def _read_seeds(ctx: click.Context, param: click.Parameter, texts: Sequence[str]) -> list[int]:
    try:
        return [int(seed) for text in texts for seed in text.split(",")] or [0]
    except ValueError:
        raise click.BadParameter(f"{' '.join(texts)!r}: expected integers, such as 0,1,2") from None


@click.command(name="train")
@click.argument("board_id", metavar="BOARD")
@click.argument("more_grid", metavar="", nargs=-1)
@click.option("--attention", required=True, help="softmax, linear, hyla, or one of the ablations.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Run directory.")
@click.option(
    "--recipe", default="paper", show_default=True, metavar="paper|paper-code", help="Details of training."
)
@click.option("--steps", type=int, help="Updates.  [default: the board's budget, or the size's]")
@click.option(
    "--seeds",
    "--seed",
    "seeds",
    multiple=True,
    callback=_read_seeds,
    metavar="N[,N...]",
    help="Several make a directory each.  [default: 0]",
)
@click.option(
    "--grid",
    multiple=True,
    metavar="NAME=X,Y...",
    help="Points to train together, of learning_rate, weight_decay, warmup: --grid A=1,2 B=3,4.",
)
@click.option("--batch-size", type=int, help="Instances of an update.  [default: 128; c4: by size]")
@click.option("--learning-rate", type=float, help="Its peak.")
@click.option("--weight-decay", type=float)
@click.option("--warmup", type=int, help="Updates over which the rate rises.")
@click.option("--layers", type=int)
@click.option("--width", type=int, help="Of the embedding.")
@click.option("--heads", type=int)
@click.option("--qkv-width", type=int, help="Of queries, keys and values, over all heads.")
@click.option("--mlp-width", type=int)
@click.option("--activation", help="Of HYLA's value network: relu, silu, gelu, sigmoid, tanh.")
@click.option("--feedforward", metavar="mlp|moe")
@click.option("--attention-dropout", type=float)
@click.option("--optimiser", metavar="NAME", help="A name of baselines.optim.OPTIMISERS.  [default: adamw]")
@click.option("--precision", metavar="default|high|highest", help="Of products of float32.")
@language_options
@click.option("--save-every", type=click.IntRange(1), metavar="N", help="Steps between checkpoints.")
@click.option(
    "--save-minutes",
    type=click.FloatRange(0),
    default=5.0,
    show_default=True,
    help="Minutes between checkpoints, if those steps take longer.",
)
@scoring_options
@click.option("--tensorboard", is_flag=True, help="Write TensorBoard events as well.")
@device_options
@json_option
def command(
    board_id: str,
    more_grid: tuple[str, ...],
    out: Path,
    grid: tuple[str, ...],
    save_every: int | None,
    save_minutes: float,
    tensorboard: bool,
    devices: Devices,
    as_json: bool,
    **runs: Any,
) -> None:
    """Train a baseline on a board's training split.

    What isn't given is the recipe's. The same line again goes on with a run that was interrupted,
    and ends in the same parameters. OUT gets the configuration, a log with a line for every 100
    steps, or 20 of c4-v1 (log.jsonl), checkpoints, and what it came to (result.json); several seeds or a
    grid make a run directory each in it. A grid's best point is chosen by its score on the board's test
    split, or on --validation. The scores while it trains choose nothing.

    \b
    Example:
      sraven train fuzzylogic-v1 --attention hyla --steps 5000 --out run
      sraven train fuzzylogic-v1 --attention hyla --steps 5000 --out runs \\
        --grid learning_rate=1e-3,3e-3 weight_decay=0.03,0.1 --seeds 0,1,2
      sraven train c4-v1 --attention hyla --size tiny --data tokens --out run
    """
    if more_grid and not grid:
        raise click.UsageError(f"unexpected argument {more_grid[0]!r}; a grid begins with --grid")
    plan = _plan(board_id, out, (*grid, *more_grid), tensorboard, **runs)
    mesh = devices.join()
    session = _train(plan, mesh=mesh, save_every=save_every, save_minutes=save_minutes, events=tensorboard)
    if session.is_first:
        _print_session(plan, session, as_json)
        _check_divergence(plan, session)


def _plan(
    board_id: str,
    out: Path,
    grid: Sequence[str],
    tensorboard: bool,
    *,
    attention: str,
    language: LanguageOptions,
    scoring: ScoringOptions,
    **changes: Any,
) -> "Plan":
    """Return the plan of what was asked for."""
    with needs_extra("sraven train", "baselines"):
        from baselines.grid import read_grid
        from baselines.session import Scoring, plan_runs
    if tensorboard:
        with needs_extra("--tensorboard", "tensorboard"):
            import tensorboardX  # noqa: F401
    from sraven.core.boards.board import read_board

    board = read_board(board_id)
    if board.is_corpus:
        changes = {"length": language.length, "dtype": language.dtype, **changes}
    return plan_runs(
        board,
        attention,
        out,
        grid=read_grid(grid),
        text=text_of(board, language),
        scoring=Scoring(*scoring),
        **changes,
    )


def _train(plan: "Plan", **options: Any) -> "Session":
    """Train under a progress bar."""
    from baselines.session import train_plan

    configs, folders = plan.configs, plan.folders
    runs = f", {len(configs)} runs" if len(configs) > 1 else ""
    with progress_bar(f"{configs[0].attention}{runs}", configs[0].steps * len(configs)) as advance:

        def tell(steps: int, line: Mapping[str, float] | None) -> None:
            advance(steps, _describe(line) if line else "")

        with resumable(folders[0], "the last checkpoint"):
            return train_plan(plan, progress=tell, **options)


def _describe(line: Mapping[str, float]) -> str:
    """Return a line of the log as short as a progress bar needs it."""
    return "  ".join(form.format(line[name]) for name, form in _IN_BRIEF.items() if name in line)


def _print_session(plan: "Plan", session: "Session", as_json: bool) -> None:
    """Print what came of the runs."""
    if as_json:
        runs = zip(plan.folders, session.outcomes, strict=True)
        print_json(session.summary or [_summarise(*run) for run in runs])
        return
    for folder, config, outcome in zip(plan.folders, plan.configs, session.outcomes, strict=True):
        if outcome.diverged is None:
            score = f", {_describe_end(outcome.report, config)} in training" if outcome.report else ""
            click.echo(f"{folder}: {config.steps:,} steps{score}")
    if session.summary is not None:
        _print_grid(session.summary, plan)


def _summarise(folder: Path, outcome: "Outcome") -> dict[str, Any]:
    """Return what `--json` says of a run."""
    return {"folder": str(folder), "training": outcome.report, "diverged": outcome.diverged}


def _describe_end(last: Mapping[str, float], config: "RunConfig") -> str:
    from sraven.core.boards.board import read_board

    if "score" in last:
        return f"{read_board(config.board).metric} {last['score']:.4f} and loss {last['loss']:.4g}"
    return f"loss {last['loss']:.4f}, perplexity {last['perplexity']:,.2f}"


def _print_grid(summary: Mapping[str, Any], plan: "Plan") -> None:
    """Print the points of a grid with their scores, and the command that evaluates the chosen one."""
    from rich.table import Table

    table = Table(*summary["points"][0]["values"], f"{summary['metric']} ({summary['split']})", "", box=None)
    for place, point in enumerate(summary["points"]):
        mean, error = point["mean"], point["standard_error"]
        score = f"diverged (seed {point['diverged']})" if mean is None else with_error(mean, error)
        chosen = "selected" if place == summary["selected"] else ""
        table.add_row(*(f"{value:g}" for value in point["values"].values()), score, chosen)
    print_table(table)
    if summary["selected"] is not None:
        best = summary["points"][summary["selected"]]
        runs = " ".join(str(plan.out / best["folder"] / f"seed-{seed}") for seed in best["seeds"])
        data = "--data DIR " if plan.judge else ""
        click.echo(f"\nsraven evaluate {runs} {data}--out entry")


def _check_divergence(plan: "Plan", session: "Session") -> None:
    """Stop with exit code 1 if a run diverged."""
    from baselines.train import describe_divergence

    lost = [
        (folder, outcome)
        for folder, outcome in zip(plan.folders, session.outcomes, strict=True)
        if outcome.diverged is not None
    ]
    if lost:
        folder, outcome = lost[0]
        more = f" (and {len(lost) - 1} more runs)" if len(lost) > 1 else ""
        raise Stopped(f"{folder}{more}: {describe_divergence(outcome)}; use a smaller learning rate", 1)
