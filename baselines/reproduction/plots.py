"""Figures of results as pictures, and the picture that README begins with.

No other module of the package imports matplotlib.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.lines import Line2D

from baselines.config import TextRecipe
from baselines.reproduction.figures import ATTENTIONS, Chart, Figure
from baselines.reproduction.pages import is_drawn, picture_name
from baselines.reproduction.results import Estimate, FigureStanding, RowSummary
from baselines.reproduction.tables import number, reported
from baselines.views.style import panels_of
from sraven.board.board import Board
from sraven.core.palette import palette, save_figure
from sraven.core.spec import digest
from sraven.plots import FAINT, INK, PAPER

COLOURS = {title: palette()[name].light for name, title in ATTENTIONS.items()}
"""Those of the leaderboard's page, of hues that colour-blind readers can distinguish."""

MARKERS = {ATTENTIONS[name]: mark for name, mark in {"softmax": "s", "linear": "^", "hyla": "o"}.items()}
"""Of points, so that attentions are apart without colour as well."""

SPLITS: Mapping[str, Literal["-", ":"]] = {"ood": "-", "test": ":"}
"""Splits that are drawn, and the styles of their lines."""

HEADLINE = "headline.svg"
"""Name of the picture that README and documentation begin with."""

PANELS = {
    "table-a1-fuzzylogic": "Fuzzy logic: R², 1 is perfect",
    "table-a1-sraven": "SRAVEN: share of puzzles solved",
}
"""Figures that it shows, which have a row for each attention, and the titles of their panels."""

_VERSION = 4
"""Of the drawing: raised where what is drawn of the same numbers changes."""

_MUTED, _CAUTION = (palette()[name].light for name in ("muted", "caution"))

_DIGITS = 6
"""Decimal places of what is drawn: more than can be seen, fewer than differ between machines."""

_FONT: Any = {"font.size": 11, "svg.fonttype": "none", "svg.hashsalt": "sraven", "font.family": "sans-serif"}

_LEGEND: Any = {"loc": "outside upper left", "frameon": False, "fontsize": 10, "labelcolor": INK}

Series = Mapping[str, Mapping[str, Mapping[str, list[tuple[str, float, float | None]]]]]
"""By panel, then attention, then split: place across, mean and standard error."""


def series_of(figure: Figure, summaries: Sequence[RowSummary]) -> Series:
    """Return what is drawn: means over seeds, of what ran; what nothing ran of has no panel, and no place."""
    chart = _chart(figure)
    series: dict[str, dict[str, dict[str, list[tuple[str, float, float | None]]]]] = {}
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
        numbers: all that is drawn, as JSON values: a file with their digest is up to date.
        draw: draws it.
    """

    numbers: Any
    draw: Callable[[], Canvas]

    @property
    def digest(self) -> str:
        """Of what is drawn; the picture's file has it."""
        return digest(self.numbers)


def pictures_of(standings: Sequence[FigureStanding]) -> dict[str, ResultPicture]:
    """Return the pictures by the names of their files; the headline if its figures are there."""
    pictures = {}
    for standing in filter(is_drawn, standings):
        figure, series = standing.figure, series_of(standing.figure, standing.summaries[0])
        numbers = {"version": _VERSION, "name": figure.name, "series": series}
        pictures[picture_name(figure)] = ResultPicture(numbers, partial(_draw_chart, figure, series))
    found = {each.figure.name: each for each in standings}
    if PANELS.keys() <= found.keys():
        panels = [_panel(found[name], title) for name, title in PANELS.items()]
        drawn = {"version": _VERSION, "panels": panels}
        pictures[HEADLINE] = ResultPicture(drawn, partial(_draw_headline, panels))
    return pictures


def drawn_digest(path: Path) -> str | None:
    """Return the digest that a picture's file has; None if it has none, or isn't there."""
    found = re.search(r"sraven:([0-9a-f]{64})", path.read_text("utf-8")) if path.is_file() else None
    return found[1] if found else None


def save_picture(picture: ResultPicture, path: Path) -> None:
    """Write a picture as SVG, light or dark as its reader has it."""
    with mpl.rc_context(_FONT):
        save_figure(picture.draw(), path, "svg", Description=f"sraven:{picture.digest}")


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
    canvas.legend(handles=_keys(), ncols=5, **_LEGEND)
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


def frame(axes: Axes, title: str, **options: Any) -> None:
    """Set title, ticks and grid."""
    axes.set_title(title, loc="left", color=INK, **{"fontsize": 11, **options})
    axes.tick_params(labelsize=10, color=FAINT, labelcolor=INK, labelbottom=True)
    axes.grid(color=FAINT, linewidth=0.5, alpha=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(FAINT)


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


# The headline -----------------------------------------------------------------------------------------


def _panel(standing: FigureStanding, title: str) -> dict[str, Any]:
    """Return what is drawn of a task: scores of each attention without ablation, and what bounds them."""
    rows = {
        summary.row.changes["attention"]: summary
        for summary in standing.summaries[0]
        if summary.row.changes.get("feedforward", "mlp") == "mlp"
    }
    scores = [
        {
            "known": _rounded(rows[name].estimate("test")),
            "held out": _rounded(rows[name].estimate("ood")),
            "reported": _rounded(reported(rows[name].row)),
        }
        for name in ATTENTIONS
    ]
    ours = any(each["held out"] for each in scores)
    return {
        "title": title if ours else f"{title}, as reported",
        "scores": scores,
        "bounds": _bounds(standing.figure.board),
    }


def _rounded(found: Estimate | None) -> tuple[float, float, str] | None:
    """Return mean, error and both in words."""
    if found is None:
        return None
    return round(found.mean, _DIGITS), round(found.error or 0.0, _DIGITS), number(found)


def _bounds(board: Board | TextRecipe) -> list[tuple[float, str, str]]:
    """Return the ceiling on held-out combinations, and the baselines: value, style and label of each."""
    split = board.primary_split
    ceiling = board.ceiling(split, board.metric)
    found = [(ceiling.value, "--", f"ceiling {ceiling.value:.3g}")] if ceiling else []
    lower = [line for line in board.reference_levels(split) if line.is_baseline]
    return found + [(line.value, ":", f"{line.title} {line.value:.2g}") for line in reversed(lower)]


def _draw_headline(panels: Sequence[Mapping[str, Any]]) -> Canvas:
    """Draw three attentions on known and on held-out combinations, a panel for each task."""
    canvas = Canvas(figsize=(5.2, 6.2), facecolor=PAPER)
    canvas.set_layout_engine("constrained", h_pad=0.08)
    for axes, panel in zip(canvas.subplots(len(panels), 1), panels, strict=True):
        labels = {True: 0, False: 0}  # of bounds on either half: they stand in lines of their own
        for value, style, text in panel["bounds"]:
            is_right = value > 0.5
            line = {"color": _CAUTION, "linestyle": style, "linewidth": 1.2, "clip_on": False, "zorder": 1}
            axes.axvline(value, ymax=1 + 0.09 * labels[is_right], **line)
            at = {"xytext": (4 if is_right else -4, 4 + 13 * labels[is_right]), "textcoords": "offset points"}
            side = {"ha": "right" if is_right else "left", "color": _CAUTION, "fontsize": 10}
            axes.annotate(text, (value, 1), xycoords=("data", "axes fraction"), **at, **side)
            labels[is_right] += 1
        for place, (attention, scores) in enumerate(zip(ATTENTIONS.values(), panel["scores"], strict=True)):
            named = {name.replace(" ", "_"): each for name, each in scores.items()}
            _draw_scores(axes, place, attention, **named)
        pad = 10 + 13 * max(labels.values())
        frame(axes, panel["title"], x=-0.15, fontsize=12, fontweight="bold", pad=pad)
        axes.set_yticks(range(len(ATTENTIONS)), list(ATTENTIONS.values()), fontweight="bold")
        axes.set_ylim(len(ATTENTIONS) - 0.5, -0.8)
        axes.set_xlim(0, 1)
        axes.grid(visible=False, axis="y")
        axes.tick_params(length=0)
    marks: dict[str, Any] = {"markeredgecolor": INK, "marker": "o", "linestyle": ""}
    handles = [
        Line2D([], [], markerfacecolor=PAPER, label="known combinations", **marks),
        Line2D([], [], markerfacecolor=INK, label="held-out combinations", **marks),
        Line2D(
            [], [], color=_MUTED, marker="|", markersize=14, linestyle="", label="those, as the paper reports"
        ),
    ]
    canvas.legend(handles=handles, ncols=2, **_LEGEND)
    return canvas


def _draw_scores(axes: Axes, place: int, attention: str, known: Any, held_out: Any, reported: Any) -> None:
    """Draw a row: what the paper reports as a band, and our score on known and on held-out combinations."""
    ink = COLOURS[attention]
    mark: dict[str, Any] = {"marker": MARKERS[attention], "markersize": 8}
    score, colour = held_out or reported, INK if held_out else _MUTED
    if reported:
        mean, error, _ = reported
        axes.barh(place, 2 * error, 0.5, left=mean - error, color=_MUTED, alpha=0.25, zorder=1)
        axes.plot([mean, mean], [place - 0.25, place + 0.25], color=_MUTED, linewidth=1.5, zorder=2)
    if known and held_out:
        axes.plot([held_out[0], known[0]], [place, place], color=ink, linestyle=":", linewidth=1, zorder=3)
        axes.plot(known[0], place, color=ink, markerfacecolor=PAPER, clip_on=False, zorder=4, **mark)
    if held_out:
        axes.errorbar(held_out[0], place, xerr=held_out[1], color=ink, linewidth=1.6, zorder=5, **mark)
    if score:
        at: dict[str, Any] = {"xytext": (0, 14), "textcoords": "offset points", "ha": "center"}
        axes.annotate(score[2], (score[0], place), **at, fontsize=10, color=colour)
