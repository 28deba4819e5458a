"""Options of training: what runs are, how they are scored meanwhile, and on which devices."""

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

import click

from cli.shared.extras import needs_extra
from cli.shared.options import argument_of, join_options

if TYPE_CHECKING:
    from jax.sharding import Mesh


def _read_seeds(ctx: click.Context, param: click.Parameter, texts: Sequence[str]) -> list[int]:
    try:
        return [int(seed) for text in texts for seed in text.split(",")] or [0]
    except ValueError:
        raise click.BadParameter(f"{' '.join(texts)!r}: expected integers, such as 0,1,2") from None


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
        callback=_read_seeds,
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
        "--optimiser", metavar="NAME", help="A name of baselines.optim.OPTIMISERS.  [default: adamw]"
    ),
    click.option("--precision", metavar="default|high|highest", help="Of products of float32."),
)
"""What isn't given is the recipe's."""


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


def _names_of_sinks(**asked: bool) -> tuple[str, ...]:
    return tuple(name for name, is_asked in asked.items() if is_asked)


sink_options = argument_of(
    "sinks",
    _names_of_sinks,
    click.option("--tensorboard", is_flag=True, help="Write TensorBoard events as well."),
    click.option("--wandb", is_flag=True, help="Log to Weights & Biases as well."),
    parts=("tensorboard", "wandb"),
)
"""Adds the options; the command gets ``sinks``, names of `baselines.sinks.SINKS`."""


def check_sinks(names: Sequence[str]) -> None:
    """Import what sinks need, before there is a run.

    Raises:
        click.UsageError: if that isn't installed.
    """
    from baselines.sinks import SINKS

    for name in names:
        with needs_extra(f"--{name}", SINKS[name].extra):
            import_module(SINKS[name].needs)


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
