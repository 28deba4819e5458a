"""Analyse the latent codes of trained runs."""

import shlex
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from cli.shared.imports import import_option, needs_extra
from cli.shared.options import read_integers
from cli.shared.outputs import output_directory
from cli.shared.printing import json_option, print_outcome, print_rows
from cli.shared.progress import doing, quiet_downloads, resumable
from sraven.core.system.isolation import elsewhere

_SHOWN = ("f1", "accuracy", "balanced_accuracy")
"""Metrics of a probe that are printed, where it has them."""


@click.command(name="analyse")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, type=click.Path())
@click.option("--out", required=True, type=output_directory, help="Directory to write.")
@click.option(
    "--pair",
    "pairs",
    multiple=True,
    metavar="self|row3",
    help="Tokens whose codes are looked at; may be repeated.  [default: all that there are]",
)
@click.option(
    "--protocol",
    default="board",
    show_default=True,
    metavar="NAME",
    help="Instances: board; paper-code (sraven); fixed_context, fixed_query, uniform (fuzzylogic).",
)
@click.option(
    "-n", "n", type=int, help="Instances of a part.  [default: 10,240 of sraven, 16,384 of fuzzylogic]"
)
@click.option(
    "--layers", callback=read_integers, metavar="N[,N...]", help="That are looked at, from 1.  [default: all]"
)
@click.option("--no-figures", is_flag=True, help="Leave out pictures and t-SNE, which takes longest.")
@import_option
@json_option
def command(
    runs: tuple[str, ...],
    out: Path,
    pairs: tuple[str, ...],
    protocol: str,
    n: int | None,
    layers: list[int],
    no_figures: bool,
) -> None:
    """Analyse the latent codes of finished runs, every number beside its controls.

    RUN is a run directory, or one of several runs, as of seeds or of a grid; or hf://user/name, one that was
    published.
    A run is analysed in whole: probes, similarity of codes, topographic similarity, causal edits,
    calibration, pictures. Codes are written first, and used again if they are there. Of several runs, it is
    whether those with more structure in their codes generalise better: their topographic similarity
    against their scores.

    \b
    Example:
      sraven analyse run --out analysis
      sraven analyse run --protocol fixed_context --no-figures --out analysis-fixed
      sraven analyse softmax linear hyla --out across
    """
    with needs_extra("sraven analyse", "baselines"):
        from baselines.load import local_run
        from baselines.views.curves import find_runs

        quiet_downloads()
        folders = find_runs([local_run(run) for run in runs])
    with elsewhere(), needs_extra("sraven analyse", "analysis"):
        from baselines.analysis.analysed import AnalysisOptions
        from baselines.analysis.comparison import analyse_runs
        from baselines.analysis.report import analyse_run

        if not no_figures:  # what they need is missed before the work, not after
            from baselines.analysis import drawing  # noqa: F401
    options = AnalysisOptions(protocol, pairs, n, tuple(layers), not no_figures)
    line = shlex.join(["sraven", *click.get_current_context().obj])  # as it was typed
    show: Callable[[Mapping[str, Any], Path], None]
    with resumable(out), doing("reading") as on_progress:
        if len(folders) == 1:
            content, show = analyse_run(folders[0], out, options, line, on_progress), print_analysis
        else:
            content, show = analyse_runs(folders, out, options, line, on_progress), _print_across
    print_outcome(value=content, text=lambda: show(content, out))


def print_analysis(content: Mapping[str, Any], out: Path) -> None:
    """Print what an analysis of a run found, in brief, and where the rest is."""
    _print_decoding(content)
    last = content["layers"][-1]
    print_rows(
        ("pair", "tasks", "their distance", "of codes", "ρ", "p", "untrained"),
        _topography(content["topography"], str(last)),
        title=f"topographic similarity, layer {last}",
    )
    if any(content.get("edits", {}).values()):
        print_rows(
            ("pair", "layers", "done to codes", "symbol of B", "still of A", "other"),
            _edits(content["edits"]),
            title="edits from rule A to rule B",
        )
    if "calibration" in content:
        names = "cross_entropy", "floor", "excess", "kl"
        print_rows(
            ("part", "cross-entropy", "of the posterior", "excess", "KL to the posterior"),
            (
                (part, *(f"{found[name]['value']:.4f}" for name in names))
                for part, found in content["calibration"].items()
            ),
            title="against the exact posterior, nats a position",
        )
    for note in content["notes"]:
        click.echo(note)
    pictures = f", {len(content['figures'])} pictures" if content.get("figures") else ""
    click.echo(f"\n{out}: codes, analysis.json{pictures}")


def _print_decoding(content: Mapping[str, Any]) -> None:
    """Print a table for each metric of the probes: a row for each layer, its codes beside their controls."""
    judged = content["judged"]
    for pair, layers in content["decoding"].items():
        probes = {layer: {"codes": each["probe"], **each["controls"]} for layer, each in layers.items()}
        scored = next(iter(probes.values()))["majority"]["scores"][judged]["metrics"]
        headings = [name.replace("_", " ") for name in next(iter(probes.values()))]
        for metric in (name for name in _SHOWN if name in scored):
            print_rows(
                ("layer", *headings),
                (
                    (layer, *(_cell(probe, judged, metric, name) for name, probe in of_layer.items()))
                    for layer, of_layer in probes.items()
                ),
                title=f"probes, {pair}, {judged}: {metric.replace('_', ' ')}",
            )


def _cell(probe: Mapping[str, Any], part: str, metric: str, name: str) -> str:
    from baselines.analysis.pages import score_of

    if probe["notes"] and not probe["kept"]:
        return "constant"
    return score_of(probe, part, metric, interval=name == "codes")


def _topography(found: Mapping[str, Any], last: str) -> Iterator[tuple[str, ...]]:
    from baselines.analysis.pages import by_structure

    untrained = by_structure(found["untrained"])
    for where, each in by_structure(found["trained"]).items():
        pair, layer, kind, name, way = where
        if layer == last:
            other = untrained[where]["correlation"]
            rho = each["note"] if each["correlation"] is None else f"{each['correlation']:.3f}"
            p = "–" if each["p"] is None else f"{each['p']:.2g}"
            before = "–" if other is None else f"{other:.3f}"
            yield pair, kind, name.replace("_", " "), way, rho, p, before


def _edits(found: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    for pair, rates in found.items():
        for each in rates:
            layers = "–" if each["kind"] == "none" else each["layers"]
            shares = (f"{share['value']:.3f}" for share in each["over_pairs"].values())
            yield pair, layers, each["kind"].replace("_", " "), *shares


def _print_across(content: Mapping[str, Any], out: Path) -> None:
    """Print how topographic similarity goes with scores over runs, and how many stand behind it."""
    from baselines.analysis.pages import with_interval

    names = "pair", "layer", "tasks", "task_distance", "code_distance"
    print_rows(
        ("pair", "layer", "tasks", "their distance", "of codes", "ρ with ood", "partial on test", "runs"),
        (
            (
                *(each[name].replace("_", " ") for name in names),
                *(with_interval(each[name], 2) for name in ("correlation", "partial")),
                f"{each['runs']:,}",
            )
            for each in content["across"]
        ),
    )
    for statement in dict.fromkeys(each["statement"] for each in content["across"]):
        click.echo(statement)
    click.echo(f"\n{out}: codes and numbers of each run, analysis.json")
