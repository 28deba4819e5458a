"""Analyse the latent codes of trained runs."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from cli.shared.options import any_path, import_option, needs_extra, output_directory
from cli.shared.printing import json_option, print_outcome, print_rows
from cli.shared.progress import doing, resumable

_SHOWN = ("f1", "accuracy", "balanced_accuracy")
"""Metrics of a probe that are printed, where it has them."""


@click.command(name="analyse")
@click.argument("run", metavar="RUN", type=any_path)
@click.option("--out", required=True, type=output_directory, help="Directory to write.")
@click.option(
    "--protocol",
    default="board",
    show_default=True,
    metavar="NAME",
    help="Instances: board; of fuzzylogic also fixed_context, fixed_query, uniform.",
)
@click.option(
    "-n", "n", type=int, help="Instances of a part.  [default: 10,240 of sraven, 16,384 of fuzzylogic]"
)
@click.option("--no-figures", is_flag=True, help="Leave out pictures and t-SNE, which takes longest.")
@import_option
@json_option
def command(run: Path, out: Path, protocol: str, n: int | None, no_figures: bool) -> None:
    """Analyse the latent codes of a finished run, every number beside its controls.

    Of it are analysed: probes, similarity of codes, pictures. Codes are written first.

    \b
    Example:
      sraven analyse run --out analysis
      sraven analyse run --protocol fixed_context --no-figures --out analysis-fixed
    """
    with needs_extra("sraven analyse", "baselines"):
        import baselines.load  # noqa: F401
    with needs_extra("sraven analyse", "analysis"):
        from baselines.analysis.report import analyse_run

        if not no_figures:  # what they need is missed before the work, not after
            from baselines.analysis import drawing  # noqa: F401
    line = shlex.join(["sraven", *click.get_current_context().obj])  # as it was typed
    with resumable(out), doing("reading") as on_progress:
        content = analyse_run(run, out, line, on_progress, protocol=protocol, n=n, figures=not no_figures)
    print_outcome(value=content, text=lambda: print_analysis(content, out))


def print_analysis(content: Mapping[str, Any], out: Path) -> None:
    """Print what probes of an analysis read off, beside their controls, and where the rest is."""
    judged = content["judged"]
    for pair, layers in content["decoding"].items():
        probes = {layer: {"codes": each["probe"], **each["controls"]} for layer, each in layers.items()}
        controls = next(iter(probes.values()))
        scored = controls["majority"]["scores"][judged]["metrics"]
        for metric in (name for name in _SHOWN if name in scored):
            rows = []
            for layer, found in probes.items():
                cells = (_score(each, judged, metric, name == "codes") for name, each in found.items())
                rows.append((layer, *cells))
            headings = (name.replace("_", " ") for name in controls)
            title = f"probes, {pair}, {judged}: {metric.replace('_', ' ')}"
            print_rows(("layer", *headings), rows, title=title)
    for note in content["notes"]:
        click.echo(note)
    pictures = f", {len(content['figures'])} pictures" if content.get("figures") else ""
    click.echo(f"\n{out}: codes, analysis.json{pictures}")


def _score(probe: Mapping[str, Any], part: str, metric: str, with_interval: bool) -> str:
    """Return what a probe scores on a part; a dash where it has no score."""
    found = probe["scores"].get(part, {"metrics": {}})["metrics"].get(metric, {"value": None})
    if found["value"] is None:
        return "–"
    ends = f" [{found['low']:.3f}, {found['high']:.3f}]" if with_interval and found["low"] is not None else ""
    return f"{found['value']:.3f}{ends}"
