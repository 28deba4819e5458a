"""`sraven train`"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli.options import Stopped, needs_extra, progress_bar

if TYPE_CHECKING:
    from baselines.step import Report


@click.command(name="train")
@click.argument("board_id", metavar="BOARD")
@click.option("--attention", required=True, help="softmax, linear, hyla, or one of the ablations.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), required=True, help="Run directory.")
@click.option(
    "--recipe", default="paper", show_default=True, metavar="paper|paper-code", help="Details of training."
)
@click.option("--steps", type=int, help="Updates.  [default: the board's budget]")
@click.option("--seed", "seeds", type=int, multiple=True, help="Several make a directory each.  [default: 0]")
@click.option("--batch-size", type=int, help="Instances of an update.  [default: 128]")
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
@click.option("--save-every", type=click.IntRange(1), default=1000, show_default=True, help="Steps.")
def command(
    board_id: str, attention: str, out: Path, seeds: tuple[int, ...], save_every: int, **changes: Any
) -> None:
    """Train a baseline on a board's training split.

    What isn't given is the recipe's. The same line again goes on with a run that was interrupted,
    and ends in the same parameters. OUT gets the configuration, a log with a line for every 100
    steps (log.jsonl), and checkpoints.

    \b
    Example:
      sraven train fuzzylogic-v1 --attention hyla --steps 5000 --out run
    """
    with needs_extra("sraven train", "baselines"):
        from baselines.recipes import make_config
        from baselines.train import DivergenceError, train
    from sraven.core.boards import read_board

    board = read_board(board_id)
    for seed in seeds or (0,):
        config = make_config(board, attention, seed=seed, **changes)
        goal = out / f"seed-{seed}" if len(seeds) > 1 else out
        with progress_bar(f"seed {seed}", config.steps) as advance:
            last: list[Report] = []

            def tell(steps: int, report: "Report", advance: Any = advance, last: Any = last) -> None:
                last[:] = [report]
                advance(steps)

            try:
                train(config, goal, save_every=save_every, progress=tell)
            except KeyboardInterrupt:
                raise Stopped("interrupted; the same command goes on from the last checkpoint", 130) from None
            except DivergenceError as error:
                raise Stopped(f"{goal}: {error}; use a smaller learning rate", 1) from None
        score = (
            f", {board.metric} {last[0].score:.4f} and loss {last[0].loss:.4g} in training" if last else ""
        )
        click.echo(f"{goal}: {config.steps:,} steps{score}")
