"""Show loss and scores over the steps of training."""

from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.shared.options import any_path, needs_extra, output_file, spare
from cli.shared.printing import json_option, print_outcome, print_rows
from sraven.core.escape import with_error
from sraven.core.system.isolation import elsewhere

if TYPE_CHECKING:
    from baselines.plots.curves import Curves

_PICTURES = (".png", ".svg", ".pdf")


@click.command(name="curves")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, type=any_path)
@click.option(
    "--metric", help="Of the scores, in place of the board's; with a dot at its end, all that begin so."
)
@click.option("--board", help="Of logs of other code: its ceiling, baselines and chance are drawn.")
@click.option("--png", type=output_file, help="Write a picture instead.")
@click.option("--svg", type=output_file, help="Write one of lines instead.")
@click.option("--pdf", type=output_file, help="Likewise, for a paper.")
@json_option
def command(runs: tuple[Path, ...], metric: str | None, board: str | None, **files: Path | None) -> None:
    """Show how training went: last loss and scores, or pictures over steps, beside ceiling and chance.

    RUN is a run directory, or one of several runs, as of seeds or of a grid. Runs that differ in their
    seed alone are one curve: their mean, with its standard error. A run may still be in training. A file is
    the log of other code: JSON lines such as {"step": 9, "loss": 2.1, "scores": {"ood": {"accuracy": 0.3}}}.

    \b
    Example:
      sraven curves run
      sraven curves softmax linear hyla --png curves.png
      sraven curves softmax --metric rule. --svg rules.svg
      sraven curves log.jsonl --board sraven-v1 --pdf curves.pdf
    """
    with needs_extra("sraven curves", "baselines"):
        from baselines.plots.curves import find_runs, read_curves, to_json
    pictures = {kind: path for kind, path in files.items() if path is not None}
    for kind in pictures:
        with elsewhere(), needs_extra(f"--{kind}", "analysis"):
            from baselines.plots.curve_plots import save_curves
    curves = read_curves(runs, metric, board)
    inside = [file for run in find_runs([run for run in runs if run.is_dir()]) for file in run.iterdir()]
    for path in pictures.values():
        spare(
            path,
            (
                *(run for run in runs if run.is_file()),
                *(each for each in inside if each.suffix not in _PICTURES),
            ),
        )
    for kind, path in pictures.items():
        save_curves(curves, path, kind)
    print_outcome(
        value=to_json(curves),
        text="\n".join(map(str, pictures.values())) if pictures else lambda: _print_last(curves),
    )


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
