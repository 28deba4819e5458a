"""Train a baseline on a board (JAX)."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli.language import LanguageOptions, judge_of, language_options, set_up
from cli.options import json_option
from cli.shared.extras import needs_extra
from cli.shared.printing import print_json, print_table
from cli.shared.progress import Stopped, progress_bar

if TYPE_CHECKING:
    from baselines.config import RunConfig
    from baselines.train import Outcome

_IN_BRIEF = {
    "loss": "loss {:.3g}",
    "score": "score {:.3f}",
    "perplexity": "perplexity {:,.4g}",
    "instances_per_second": "{:,.0f}/s",
    "tokens_per_second": "{:,.0f} tokens/s",
}
"""What a progress bar says of a line of the log."""


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
@click.option("--tensorboard", is_flag=True, help="Write TensorBoard events as well.")
@click.option("--mesh", metavar="data=N,fsdp=N", help="Devices.  [default: one, or all of several processes]")
@click.option("--coordinator", metavar="HOST:PORT|auto", help="Of several processes; auto under Slurm.")
@click.option("--processes", type=int, help="How many there are, unless auto.")
@click.option("--process-id", type=int, help="Which this is, from 0, unless auto.")
@json_option
def command(
    board_id: str,
    more_grid: tuple[str, ...],
    attention: str,
    out: Path,
    seeds: list[int],
    grid: tuple[str, ...],
    save_every: int | None,
    save_minutes: float,
    tensorboard: bool,
    mesh: str | None,
    coordinator: str | None,
    processes: int | None,
    process_id: int | None,
    language: LanguageOptions,
    as_json: bool,
    **changes: Any,
) -> None:
    """Train a baseline on a board's training split.

    What isn't given is the recipe's. The same line again goes on with a run that was interrupted,
    and ends in the same parameters. OUT gets the configuration, a log with a line for every 100
    steps, or 20 of c4-v1 (log.jsonl), and checkpoints; several seeds or a grid make a run directory
    each in it. A grid's best point is chosen by its score on the board's test split, or on --validation.

    \b
    Example:
      sraven train fuzzylogic-v1 --attention hyla --steps 5000 --out run
      sraven train fuzzylogic-v1 --attention hyla --steps 5000 --out runs \\
        --grid learning_rate=1e-3,3e-3 weight_decay=0.03,0.1 --seeds 0,1,2
      sraven train c4-v1 --attention hyla --size tiny --data tokens --out run
    """
    if more_grid and not grid:
        raise click.UsageError(f"unexpected argument {more_grid[0]!r}; a grid begins with --grid")
    with needs_extra("sraven train", "baselines"):
        import jax

        from baselines.grid import points_of, read_grid, select
        from baselines.processes import join
        from baselines.sharding import make_mesh, put_together
    if tensorboard:
        with needs_extra("--tensorboard", "tensorboard"):
            import tensorboardX  # noqa: F401
    from sraven.core.boards.board import read_board

    board = read_board(board_id)
    with needs_extra("sraven train", "baselines"):
        config, make_experiment = set_up(board, attention, language, changes)
        judge = judge_of(board, language) if grid else None
    if language.validation and not grid:
        raise click.UsageError("--validation is for a grid; `sraven evaluate` tells the loss of a run")
    points = points_of(config, read_grid([*grid, *more_grid]), seeds, out)
    join(coordinator, processes, process_id)
    devices = make_mesh(mesh)
    configs = [config for point in points for config in point.configs]
    folders = [folder for point in points for folder in point.folders]
    outcomes = _train(
        attention,
        configs,
        folders,
        mesh=devices,
        make_experiment=make_experiment,
        save_every=save_every,
        save_minutes=save_minutes,
        events=tensorboard,
    )
    if grid:  # predictions are made by one process, which needs all of the parameters
        outcomes = [
            each._replace(state=each.state._replace(params=put_together(devices, each.state.params)))
            for each in outcomes
        ]
    if jax.process_index():
        return
    summary = select(points, outcomes, out, judge) if grid else None
    if as_json:
        print_json(summary if summary else [_summarise(*run) for run in zip(folders, outcomes, strict=True)])
    else:
        _print_runs(folders, outcomes, config.steps, board.metric)
        if summary is not None:
            _print_grid(summary, out, "--data DIR " if judge else "")
    _check_divergence(folders, outcomes)


def _train(
    attention: str, configs: "Sequence[RunConfig]", folders: Sequence[Path], **options: Any
) -> "list[Outcome]":
    """Train runs under a progress bar."""
    from baselines.train import train_runs

    runs = f", {len(configs)} runs" if len(configs) > 1 else ""
    with progress_bar(f"{attention}{runs}", configs[0].steps * len(configs)) as advance:

        def tell(steps: int, line: Mapping[str, float] | None) -> None:
            advance(steps, _describe(line) if line else "")

        try:
            return train_runs(configs, folders, progress=tell, **options)
        except KeyboardInterrupt:
            raise Stopped("interrupted; the same command goes on from the last checkpoint", 130) from None
        except OSError as error:
            where = f" ({error.filename})" if error.filename else ""
            again = "mend that, and the same command goes on from the last checkpoint"
            raise Stopped(
                f"{folders[0]} is unfinished: {error.strerror or error}{where}; {again}", 1
            ) from None


def _describe(line: Mapping[str, float]) -> str:
    """Return a line of the log as short as a progress bar needs it."""
    return "  ".join(form.format(line[name]) for name, form in _IN_BRIEF.items() if name in line)


def _summarise(folder: Path, outcome: "Outcome") -> dict[str, Any]:
    """Return what `--json` says of a run."""
    return {"folder": str(folder), "training": outcome.report, "diverged": outcome.diverged}


def _print_runs(folders: Sequence[Path], outcomes: "Sequence[Outcome]", steps: int, metric: str) -> None:
    for folder, outcome in zip(folders, outcomes, strict=True):
        last = outcome.report
        score = f", {_describe_end(last, metric)} in training" if last else ""
        if outcome.diverged is None:
            click.echo(f"{folder}: {steps:,} steps{score}")


def _describe_end(last: Mapping[str, float], metric: str) -> str:
    if "score" in last:
        return f"{metric} {last['score']:.4f} and loss {last['loss']:.4g}"
    return f"loss {last['loss']:.4f}, perplexity {last['perplexity']:,.2f}"


def _print_grid(summary: dict[str, Any], out: Path, data: str) -> None:
    from rich.table import Table

    table = Table(*summary["points"][0]["values"], f"{summary['metric']} ({summary['split']})", "", box=None)
    for place, point in enumerate(summary["points"]):
        mean, error = point["mean"], point["standard_error"]
        spread = f" ± {error:.4f}" if error is not None and math.isfinite(error) else ""
        score = f"diverged (seed {point['diverged']})" if mean is None else f"{mean:.4f}{spread}"
        chosen = "selected" if place == summary["selected"] else ""
        table.add_row(*(f"{value:g}" for value in point["values"].values()), score, chosen)
    print_table(table)
    if summary["selected"] is not None:
        best = summary["points"][summary["selected"]]
        runs = " ".join(str(out / best["folder"] / f"seed-{seed}") for seed in best["seeds"])
        click.echo(f"\nsraven evaluate {runs} {data}--out entry")


def _check_divergence(folders: Sequence[Path], outcomes: "Sequence[Outcome]") -> None:
    """Stop with exit code 1 if a run diverged."""
    from baselines.train import describe_divergence

    lost = [
        (folder, outcome)
        for folder, outcome in zip(folders, outcomes, strict=True)
        if outcome.diverged is not None
    ]
    if lost:
        folder, outcome = lost[0]
        more = f" (and {len(lost) - 1} more runs)" if len(lost) > 1 else ""
        raise Stopped(f"{folder}{more}: {describe_divergence(outcome)}; use a smaller learning rate", 1)
