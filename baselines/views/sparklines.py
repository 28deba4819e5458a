"""Learning curves for the terminal: a line of eight heights for each quantity and configuration."""

import numpy as np
from numpy.typing import NDArray
from rich.console import Group as Lines, RenderableType
from rich.text import Text

from baselines.views.curves import LOSS, Curve, Curves, Values, view

HEIGHTS = "▁▂▃▄▅▆▇█"

_LONGEST = 26
"""Columns of a name at most; longer ones get a letter each."""


def columns_of(curve: Curve, end: int, width: int) -> Values:
    """Return a curve's means over as many equal ranges of steps, up to a step: NaN where it has ended.

    A range without a step has what lies between its neighbours.
    """
    place = np.minimum((curve.steps * width - 1) // end, width - 1)
    counts = np.bincount(place, minlength=width)
    sums = np.bincount(place, np.nan_to_num(curve.mean), minlength=width)
    filled = np.flatnonzero(counts)
    found: NDArray[np.float64] = np.interp(np.arange(width), filled, sums[filled] / counts[filled])
    found[filled[-1] + 1 :] = np.nan
    return found


def sparkline(values: Values, low: float, high: float) -> str:
    """Return values as heights between two bounds; what is beyond has the least or the greatest."""
    shares = (values - low) / (high - low if high > low else 1.0)
    places = np.clip(np.nan_to_num(shares) * len(HEIGHTS), 0, len(HEIGHTS) - 1).astype(int)
    return "".join(" " if np.isnan(value) else HEIGHTS[at] for value, at in zip(values, places, strict=True))


def _heading(curves: Curves, quantity: str) -> Text:
    low, high = view(curves, quantity)
    lines = "".join(f", {name} {value:.3g}" for name, value in curves.bounds(quantity).named.items())
    scale = ", log scale" if quantity == LOSS and low > 0 else ""
    title = Text(f"\n{curves.title(quantity)}", style="bold")
    return title.append(f"  ▁ {low:.3g}  █ {high:.3g}{scale}{lines}", style="not bold")


def _labels(curves: Curves) -> tuple[list[str], list[Text]]:
    """Return what stands before the curves of each group, and what explains it."""
    titles = [group.title for group in curves.groups]
    if max(map(len, titles)) <= _LONGEST:
        return titles, []
    letters = [chr(ord("a") + place) if place < 26 else str(place) for place in range(len(titles))]
    return letters, [Text(f"{letter}  {title}") for letter, title in zip(letters, titles, strict=True)]


def _last(quantity: str, curve: Curve) -> str:
    mean, error = curve.mean[-1], curve.error[-1]
    forms = (".3g", ".1g") if quantity == LOSS else (".4f", ".4f")
    return f"{mean:{forms[0]}}" + (f" ± {error:{forms[1]}}" if np.isfinite(error) else "")


def _draw(curves: Curves, quantity: str, curve: Curve, end: int, room: int) -> str:
    values, bounds = columns_of(curve, end, room), np.array(view(curves, quantity))
    if quantity == LOSS and bounds[0] > 0:
        values, bounds = np.log(values), np.log(bounds)
    return sparkline(values, *bounds)


def render(curves: Curves, width: int) -> RenderableType:
    """Return the curves for a terminal of so many columns, one block for each quantity."""
    shown = [(name, curve) for group in curves.groups for name, curve in group.curves.items()]
    end = max(int(curve.steps[-1]) for _, curve in shown)
    labels, legend = _labels(curves)
    longest = max(map(len, labels))
    room = max(8, width - longest - max(len(_last(*each)) for each in shown) - 5)
    lines = [Text(f"{curves.heading}, steps 1 to {end:,}, and the last value"), *legend]
    for quantity in curves.quantities:
        lines.append(_heading(curves, quantity))
        for label, group in zip(labels, curves.groups, strict=True):
            if quantity in group.curves:
                curve = group.curves[quantity]
                drawn = _draw(curves, quantity, curve, end, room)
                lines.append(Text(f" {label:<{longest}}  {drawn}  {_last(quantity, curve)}"))
    if curves.notes:
        lines += [Text(""), *map(Text, curves.notes)]
    return Lines(*lines)
