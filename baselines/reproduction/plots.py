"""Figures of results as pictures; the only module of the package that imports matplotlib."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from baselines.reproduction.cells import ReadBoard, read_board_once
from baselines.reproduction.sets import ATTENTIONS, Chart, Figure
from baselines.reproduction.summaries import Summary
from sraven.core.ground.spec import digest
from sraven.core.page.palette import follow_scheme, palette
from sraven.core.system.files import replacing
from sraven.plots import FAINT, INK, PAPER

COLOURS = {title: palette()[name].light for name, title in ATTENTIONS.items()}
"""Those of the leaderboard's page, of hues that colour-blind readers tell apart."""

MARKERS = {ATTENTIONS[name]: mark for name, mark in {"softmax": "s", "linear": "^", "hyla": "o"}.items()}
"""Of points, so that attentions are apart without colour as well."""

SPLITS: Mapping[str, Literal["-", ":"]] = {"ood": "-", "test": ":"}
"""What is drawn, and how its lines are."""

_VERSION = 4
"""Of the drawing: raised where what is drawn of the same numbers changes."""

_DIGITS = 6
"""Decimal places of what is drawn: more than can be seen, fewer than differ between machines."""

_FONT: Any = {"font.size": 11, "svg.fonttype": "none", "svg.hashsalt": "sraven", "font.family": "sans-serif"}

Series = Mapping[str, Mapping[str, Mapping[str, list[tuple[str, float, float | None]]]]]
"""By panel, then attention, then split: place across, mean and standard error."""


def series_of(figure: Figure, summaries: Sequence[Summary]) -> Series:
    """Return what is drawn: means over seeds, of what ran; what nothing ran of has no panel, and no place."""
    chart = _chart(figure)
    series: dict[str, dict[str, dict[str, list[tuple[str, float, float | None]]]]] = {}
    for summary in summaries:
        labels = summary.row.labels
        panel = f"{chart.panel} {labels[chart.panel]}" if chart.panel else ""
        lines = series.setdefault(_title(panel), {}).setdefault(labels["attention"], {})
        for split in SPLITS:
            points = lines.setdefault(split, [])
            if found := summary.estimate(split):
                error = None if found.error is None else round(found.error, _DIGITS)
                points.append((labels[chart.across], round(found.mean, _DIGITS), error))
    return {
        panel: lines
        for panel, lines in series.items()
        if any(points for splits in lines.values() for points in splits.values())
    }


def _title(panel: str) -> str:
    """Return the title of a panel; a model says itself what it is."""
    return panel.removeprefix("model ")


def _chart(figure: Figure) -> Chart:
    assert figure.chart is not None, "a table has no picture"
    return figure.chart


def picture_digest(figure: Figure, summaries: Sequence[Summary]) -> str:
    """Return the digest of what is drawn; the picture's file has it."""
    return digest({"version": _VERSION, "name": figure.name, "series": series_of(figure, summaries)})


def drawn_digest(path: Path) -> str | None:
    """Return the digest that a picture's file has; None if it has none, or isn't there."""
    found = re.search(r"sraven:([0-9a-f]{64})", path.read_text("utf-8")) if path.is_file() else None
    return found[1] if found else None


def save_picture(
    figure: Figure, summaries: Sequence[Summary], path: Path, read: ReadBoard = read_board_once
) -> None:
    """Write a figure as SVG: a panel for each value of a column of which something ran, a line for each
    attention; light or dark as its reader has it.

    Args:
        figure: of the paper, with a chart.
        summaries: of its rows, at full length.
        path: the file to write.
        read: returns a board, given its id.
    """
    chart, series = _chart(figure), series_of(figure, summaries)
    drawn = [points for lines in series.values() for splits in lines.values() for points in splits.values()]
    ran = {place for points in drawn for place, *_ in points}
    places = [each for each in dict.fromkeys(row.labels[chart.across] for row in figure.rows) if each in ran]
    columns = min(2, len(series))
    rows = -(-len(series) // columns)
    with mpl.rc_context(_FONT):
        canvas = Canvas(figsize=(5.8, 2.5 * rows + 0.9), facecolor=PAPER, layout="constrained")
        grid = canvas.subplots(rows, columns, squeeze=False, sharey=True, sharex=True)
        panels = [axes for line in grid for axes in line]
        for axes, (title, lines) in zip(panels, series.items(), strict=False):
            _draw(axes, title, lines, places)
        for axes in panels[len(series) :]:
            axes.set_visible(False)
        metric = read(figure.rows[0].board).metric
        canvas.supylabel(_axis(metric), color=INK, fontsize=11)
        canvas.supxlabel(chart.across, color=INK, fontsize=11)
        canvas.legend(
            handles=_keys(), loc="outside upper left", ncols=5, frameon=False, fontsize=10, labelcolor=INK
        )
        with replacing(path) as temporary:
            description = f"sraven:{picture_digest(figure, summaries)}"
            canvas.savefig(temporary, format="svg", metadata={"Date": None, "Description": description})
            temporary.write_text(follow_scheme(temporary.read_text("utf-8")), "utf-8")


def _draw(axes: Axes, title: str, lines: Mapping[str, Any], places: Sequence[str]) -> None:
    """Draw a panel: attentions side by side, so that no error bar hides another."""
    for number, (attention, splits) in enumerate(lines.items()):
        aside = (number - (len(lines) - 1) / 2) * 0.08
        for split, style in SPLITS.items():
            if not splits[split]:
                continue
            across, means, errors = zip(*splits[split], strict=True)
            axes.errorbar(
                [places.index(place) + aside for place in across],
                means,
                yerr=[error or 0.0 for error in errors],
                color=COLOURS[attention],
                linestyle=style,
                linewidth=1.3 if split == "ood" else 0.9,
                marker=MARKERS[attention],
                markersize=5 if split == "ood" else 3.5,
                markerfacecolor=COLOURS[attention] if split == "ood" else PAPER,
                capsize=2,
            )
    axes.set_title(title, loc="left", fontsize=11, color=INK)
    axes.set_xticks(range(len(places)), [place.replace(" %", "%") for place in places])
    axes.set_xlim(-0.4, len(places) - 0.6)
    axes.tick_params(labelsize=10, color=FAINT, labelcolor=INK, labelbottom=True)
    axes.grid(color=FAINT, linewidth=0.5, alpha=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(FAINT)


def _axis(metric: str) -> str:
    return {"r2_per_sequence": "R² per sequence", "accuracy": "accuracy"}.get(metric, metric)


def _keys() -> list[Any]:
    """Return what the legend shows."""
    from matplotlib.lines import Line2D

    attentions = [
        Line2D([], [], color=COLOURS[name], marker=MARKERS[name], label=name) for name in ATTENTIONS.values()
    ]
    splits = [
        Line2D([], [], color=INK, linestyle=style, label=split, linewidth=1.0)
        for split, style in SPLITS.items()
    ]
    return [*attentions, *splits]
