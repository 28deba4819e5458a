"""Wrong answers, sorted: how each predictor errs."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.ticker import MaxNLocator, PercentFormatter

from baselines.analysis.plots.frame import PAGE, Picture, name_rows, write_beside
from baselines.views.style import SMALL
from sraven.plots import ON_DARK, ON_LIGHT

_FILLS = (
    ("#4f9dc5", ""),
    ("#cfe4f0", "////"),
    ("#f3d9a4", "...."),
    ("#f4f2ee", ""),
    ("#b5651d", "\\\\\\\\"),
    ("#d9d9d9", "xxxx"),
)
"""Fill and pattern of kinds, from the first: neighbours differ in lightness and in pattern."""


def errors_picture(shares: Mapping[str, Sequence[float]], kinds: Sequence[str], title: str = "") -> Picture:
    """Return the picture of wrong answers by kind, a bar for each predictor, as long as many are wrong.

    Args:
        shares: of all answers, ``[kinds]`` by predictor, or by any other row.
        kinds: such as ``valid alternative``, at most six.
        title: of the whole.
    """
    rows, ends = list(shares), [sum(each) for each in shares.values()]
    longest = max([*ends, 1e-3])
    said = [f"{end:.1%}" for end in ends]

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        for i, row in enumerate(rows):
            _draw_bar(axes, i, shares[row], kinds, longest)
            write_beside(axes, said[i], ends[i], i)
        name_rows(axes, rows)
        axes.set(xlabel="share of answers", xlim=(0, longest * (1.06 + 0.012 * max(map(len, said)))))
        ticks = np.asarray(MaxNLocator(6).tick_values(0, longest))
        axes.set_xticks(ticks[ticks <= min(1.0, 1.05 * longest)])
        axes.xaxis.set_major_formatter(PercentFormatter(1, decimals=0 if longest > 0.05 else 1))
        figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=min(3, len(kinds)))

    height = 0.3 * len(rows) + 0.65 + 0.16 * -(-len(kinds) // 3)
    return Picture(draw, PAGE, height, title)


def _draw_bar(axes: Axes, row: int, shares: Sequence[float], kinds: Sequence[str], longest: float) -> None:
    """Draw the parts of a bar, with their numbers where there is room."""
    begin = 0.0
    for (fill, pattern), kind, share in zip(_FILLS, kinds, shares, strict=False):
        look: dict[str, Any] = {"color": fill, "hatch": pattern, "label": kind if row == 0 else None}
        axes.barh(row, share, left=begin, height=0.66, edgecolor=ON_LIGHT, linewidth=0.5, **look)
        if share > 0.062 * longest:
            text = axes.text(begin + share / 2, row, f"{share:.1%}", **_NUMBER)
            text.set_path_effects([withStroke(linewidth=2, foreground=ON_DARK)])
        begin += share


_NUMBER: dict[str, Any] = {"fontsize": SMALL, "ha": "center", "va": "center", "color": ON_LIGHT}
