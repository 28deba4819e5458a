"""Show loss and scores over the steps of training."""

from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.shared.options import any_path, needs_extra, picture_file
from cli.shared.printing import json_option, print_outcome, print_rows
from sraven.core.escape import with_error

if TYPE_CHECKING:
    from baselines.plots.curves import Curves


@click.command(name="curves")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, type=any_path)
@click.option(
    "--metric", help="Of the scores, in place of the board's; with a dot at its end, all that begin so."
)
@click.option("--board", help="Of logs of other code: its ceiling, baselines and chance are drawn.")
@click.option("--out", type=picture_file, help="Write a picture instead: FILE.svg, .pdf or .png.")
@json_option
def command(runs: tuple[Path, ...], metric: str | None, board: str | None, out: Path | None) -> None:
    """Show how training went: last loss and scores, or pictures over steps, beside ceiling and chance.

    RUN is a run directory, or one of several runs, as of seeds or of a grid. Runs that differ in their
    seed alone are one curve: their mean, with its standard error. A run may still be in training. A file is
    the log of other code: JSON lines such as {"step": 9, "loss": 2.1, "scores": {"ood": {"accuracy": 0.3}}}.

    \b
    Example:
      sraven curves run
      sraven curves softmax linear hyla --out curves.png
      sraven curves softmax --metric rule. --out rules.svg
      sraven curves log.jsonl --board sraven-v1 --out curves.pdf
    """
    with needs_extra("sraven curves", "baselines"):
        from baselines.plots.curves import read_curves, to_json
    curves = read_curves(runs, metric, board)
    if out is not None:
        with needs_extra("--out", "analysis"):
            from baselines.plots.curve_plots import save_curves
        save_curves(curves, out, out.suffix[1:])
    print_outcome(value=to_json(curves), text=str(out) if out else lambda: _print_last(curves))


def _print_last(curves: "Curves") -> None:
    """Print the last value of each curve beside ceiling and chance."""
    rows = []
    for quantity in curves.quantities:
        bounds = curves.bounds(quantity).named
        sides = [f"{bounds[kind]:.3g}" if kind in bounds else "" for kind in ("ceiling", "chance")]
        for group in curves.groups:
            if curve := group.curves.get(quantity):
                error = float(curve.error[-1])
                last = with_error(float(curve.mean[-1]), None if isnan(error) else error)
                rows.append((curves.title(quantity), group.title, f"{curve.steps[-1]:,}", last, *sides))
    print_rows((curves.heading, "runs", "steps", "last", "ceiling", "chance"), rows)
    if curves.notes:
        click.echo("\n".join(curves.notes))
