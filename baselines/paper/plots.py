"""Figures of results as pictures; no other module of the package imports matplotlib."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.lines import Line2D

from baselines.paper.figures import ATTENTIONS, Chart, Figure
from baselines.paper.pages import is_drawn, picture_name
from baselines.paper.results import FigureStanding, RowSummary
from baselines.plots.style import LEGEND, RESULTS, frame, panels_of
from sraven.core.spec import digest
from sraven.palette import palette, save_figure
from sraven.plots import INK, PAPER

COLOURS = {title: palette()[name].light for name, title in ATTENTIONS.items()}
"""Those of the leaderboard's page, of hues that colour-blind readers can distinguish."""

MARKERS = {ATTENTIONS[name]: mark for name, mark in {"softmax": "s", "linear": "^", "hyla": "o"}.items()}
"""Of points, so that attentions are apart without colour as well."""

SPLITS: Mapping[str, Literal["-", ":"]] = {"ood": "-", "test": ":"}
"""Splits that are drawn, and the styles of their lines."""

_VERSION = 4
"""Of the drawing: raised where what is drawn of the same numbers changes."""

_DIGITS = 6
"""Decimal places of what is drawn: more than can be seen, fewer than differ between machines."""

Series = dict[str, dict[str, dict[str, list[tuple[str, float, float | None]]]]]
"""By panel, then attention, then split: place across, mean and standard error."""


def series_of(figure: Figure, summaries: Sequence[RowSummary]) -> Series:
    """Return what is drawn: means over seeds, of what ran; what nothing ran of has no panel, and no place."""
    chart = _chart(figure)
    series: Series = {}
    for summary in summaries:
        labels = summary.row.labels
        panel = f"{chart.panel} {labels[chart.panel]}".removeprefix("model ") if chart.panel else ""
        lines = series.setdefault(panel, {}).setdefault(labels["attention"], {})
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


def _chart(figure: Figure) -> Chart:
    assert figure.chart is not None, "a table has no picture"
    return figure.chart


class ResultPicture(NamedTuple):
    """A picture of results.

    Attributes:
        figure: of the paper.
        series: what is drawn of it.
    """

    figure: Figure
    series: Series

    @property
    def digest(self) -> str:
        """Of all that is drawn: a file that has it is up to date."""
        return digest({"version": _VERSION, "name": self.figure.name, "series": self.series})


def pictures_of(standings: Sequence[FigureStanding], results: Path) -> dict[Path, ResultPicture]:
    """Return the pictures of figures by the paths of their files, beside the pages in a folder."""
    return {
        results / picture_name(each.figure): ResultPicture(
            each.figure, series_of(each.figure, each.summaries[0])
        )
        for each in filter(is_drawn, standings)
    }


def drawn_digest(path: Path) -> str | None:
    """Return the digest that a picture's file has; None if it has none, or isn't there."""
    found = re.search(r"sraven:([0-9a-f]{64})", path.read_text("utf-8")) if path.is_file() else None
    return found[1] if found else None


def save_picture(picture: ResultPicture, path: Path) -> None:
    """Write a picture as SVG, light or dark as its reader has it."""
    with mpl.rc_context(RESULTS):
        save_figure(_draw_chart(*picture), path, "svg", Description=f"sraven:{picture.digest}")


# A figure ---------------------------------------------------------------------------------------------


def _draw_chart(figure: Figure, series: Series) -> Canvas:
    """Draw a panel for each value of a column of which something ran, with a line for each attention."""
    chart = _chart(figure)
    drawn = [points for lines in series.values() for splits in lines.values() for points in splits.values()]
    ran = {place for points in drawn for place, *_ in points}
    places = [each for each in dict.fromkeys(row.labels[chart.across] for row in figure.rows) if each in ran]
    canvas = Canvas(figsize=(5.8, 2.5 * -(-len(series) // 2) + 0.9), facecolor=PAPER, layout="constrained")
    panels = panels_of(canvas, len(series), 2, sharey=True, sharex=True)
    for axes, (title, lines) in zip(panels, series.items(), strict=True):
        _draw(axes, title, lines, places)
    metric = figure.board.metric
    canvas.supylabel({"r2_per_sequence": "R² per sequence"}.get(metric, metric), color=INK, fontsize=11)
    canvas.supxlabel(chart.across, color=INK, fontsize=11)
    canvas.legend(handles=_keys(), ncols=5, **LEGEND)
    return canvas


def _draw(axes: Axes, title: str, lines: Mapping[str, Any], places: Sequence[str]) -> None:
    """Draw a panel: attentions side by side, so that no error bar hides another."""
    for place, (attention, splits) in enumerate(lines.items()):
        aside = (place - (len(lines) - 1) / 2) * 0.08
        for split, style in SPLITS.items():
            if not splits[split]:
                continue
            across, means, errors = zip(*splits[split], strict=True)
            axes.errorbar(
                [places.index(each) + aside for each in across],
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
    frame(axes, title)
    axes.set_xticks(range(len(places)), [place.replace(" %", "%") for place in places])
    axes.set_xlim(-0.4, len(places) - 0.6)


def _keys() -> list[Any]:
    """Return what the legend shows."""
    attentions = [
        Line2D([], [], color=COLOURS[name], marker=MARKERS[name], label=name) for name in ATTENTIONS.values()
    ]
    splits = [
        Line2D([], [], color=INK, linestyle=style, label=split, linewidth=1.0)
        for split, style in SPLITS.items()
    ]
    return [*attentions, *splits]
