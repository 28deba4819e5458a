"""Options of training: configuration, scores on the way, logging and devices."""

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.shared.extras import needs_extra
from cli.shared.options import any_path, argument_of, join_options, read_integers

if TYPE_CHECKING:
    from jax.sharding import Mesh

    from baselines.runs.config_file import ConfigFile


recipe_options = join_options(
    click.option(
        "--recipe",
        default="paper",
        show_default=True,
        metavar="paper|paper-code",
        help="Details of training.",
    ),
    click.option("--steps", type=int, help="Updates.  [default: the board's budget, or the size's]"),
    click.option(
        "--seeds",
        "--seed",
        "seeds",
        multiple=True,
        callback=lambda *given: read_integers(*given) or [0],
        metavar="N[,N...]",
        help="Several make a directory each.  [default: 0]",
    ),
    click.option(
        "--grid",
        multiple=True,
        metavar="NAME=X,Y...",
        help="Points to train together, of learning_rate, weight_decay, warmup: --grid A=1,2 B=3,4.",
    ),
    click.option("--batch-size", type=int, help="Instances of an update.  [default: 128; c4: by size]"),
    click.option("--learning-rate", type=float, help="Its peak."),
    click.option("--weight-decay", type=float),
    click.option("--warmup", type=int, help="Updates over which the rate rises."),
    click.option("--layers", type=int),
    click.option("--width", type=int, help="Of the embedding."),
    click.option("--heads", type=int),
    click.option("--qkv-width", type=int, help="Of queries, keys and values, over all heads."),
    click.option("--mlp-width", type=int),
    click.option("--activation", help="Of HYLA's value network: relu, silu, gelu, sigmoid, tanh."),
    click.option("--feedforward", metavar="mlp|moe|none"),
    click.option("--attention-dropout", type=float),
    click.option("--position", metavar="NAME", help="relative_one_way or relative_both_ways."),
    click.option("--lr-schedule", metavar="NAME", help="warmup_cosine, or as the published code has it."),
    click.option("--weight-decay-mask", metavar="NAME", help="no_biases, or no_vectors."),
    click.option(
        "--optimiser", metavar="NAME", help="A name of baselines.training.optim.OPTIMISERS.  [default: adamw]"
    ),
    click.option("--precision", metavar="default|bfloat16|high|highest", help="Of products of float32."),
)
"""The recipe has the values of those that aren't given."""


scoring_options = argument_of(
    "scoring",
    dict,
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


def _names_of_sinks(**given: bool) -> tuple[str, ...]:
    return tuple(name for name, is_given in given.items() if is_given)


sink_options = argument_of(
    "sinks",
    _names_of_sinks,
    click.option("--tensorboard", is_flag=True, help="Write TensorBoard events as well."),
    click.option("--wandb", is_flag=True, help="Log to Weights & Biases as well."),
)
"""Adds the options; the command gets ``sinks``, names of `baselines.runs.sinks.SINKS`."""


def check_sinks(names: Sequence[str]) -> None:
    """Import what sinks need, before there is a run.

    Raises:
        click.UsageError: if that isn't installed.
    """
    from baselines.runs.sinks import SINKS

    for name in names:
        with needs_extra(f"--{name}", SINKS[name].extra):
            import_module(SINKS[name].needs)


def _devices(
    mesh: str | None, coordinator: str | None, processes: int | None, process_id: int | None
) -> "Callable[[], Mesh]":
    """Return what joins the other processes, and returns the devices of all."""

    def join_all() -> "Mesh":
        from baselines.training.processes import join
        from baselines.training.sharding import make_mesh

        join(coordinator, processes, process_id)
        return make_mesh(mesh)

    return join_all


device_options = argument_of(
    "join_devices",
    _devices,
    click.option(
        "--mesh", metavar="data=N,fsdp=N", help="Devices.  [default: one, or all of several processes]"
    ),
    click.option("--coordinator", metavar="HOST:PORT|auto", help="Of several processes; auto under Slurm."),
    click.option("--processes", type=int, help="How many there are, unless auto."),
    click.option("--process-id", type=int, help="Which this is, from 0, unless auto."),
)


_ARGUMENTS = {"board": "board_id"}
"""Arguments that have another name than their field."""


def _read_config(ctx: click.Context, param: click.Parameter, path: Path | None) -> "ConfigFile | None":
    """Read the file before other options are: what it says stands wherever the command line says nothing."""
    if path is None or ctx.resilient_parsing:
        return None
    with needs_extra("--config", "baselines"):
        from baselines.runs.config_file import read_config_file
    file = read_config_file(path)
    values = {_ARGUMENTS.get(name, name): value for name, value in file.values.items()}
    seeds = {"seeds": [str(seed) for seed in file.seeds]} if file.seeds else {}
    ctx.default_map = {**(ctx.default_map or {}), **values, **seeds}
    return file


config_options = join_options(
    click.option(
        "--config",
        "config_file",
        type=any_path,
        is_eager=True,
        callback=_read_config,
        metavar="FILE|RUN",
        help="YAML or JSON of a run; other options go before what it says.",
    ),
    click.option(
        "--print-config", is_flag=True, help="Print what --config reads, as JSON, and train nothing."
    ),
)
"""Adds both; the command gets ``config_file`` and ``print_config``."""
