"""Figures of an analysis: legible, within their edges, and the same bytes again."""

from itertools import combinations

import numpy as np
import pytest
from matplotlib import rc_context
from matplotlib.axis import Tick
from matplotlib.text import Text

from baselines.plots import frame, maps
from baselines.plots.clouds import Cloud, cloud_picture
from baselines.plots.probes import CONTROLS, LayerCurve, decoding_picture
from baselines.plots.style import COLOURS, MARKS, STYLE
from sraven.rules import RULES

NAMES = [rule.name for rule in RULES]
LEGIBLE = 7.0


def decoding():
    layers = [0.2, 0.4, 0.8, 0.9]
    low, high = [value - 0.03 for value in layers], [value + 0.03 for value in layers]
    curves = [LayerCurve(name, layers, low, high) for name in ("hyla", "softmax", "linear")]
    controls = [LayerCurve(name, [0.1 + 0.05 * i], control=True) for i, name in enumerate(CONTROLS)]
    constant = LayerCurve("hyla", [None, 0.5, 0.6, 0.7])
    panels = {"in distribution": [*curves, *controls], "ood": [constant, *controls]}
    return decoding_picture(panels, ["1", "2", "3", "4"], "accuracy")


def clouds(across=2):
    rng = np.random.default_rng(0)
    rules = np.arange(300) % 8
    positions = rng.normal(size=(300, 2)) + 9 * rng.normal(size=(8, 2))[rules]
    some = [
        Cloud("layers 1 to 4: rule", positions, rules, NAMES, "neighbours alike: 0.83, dealt 0.13"),
        Cloud("layers 1 to 4: symbol in column 1", positions, rng.random(300), note="neighbours 0.02"),
        Cloud("function", positions, np.arange(300) % 46, note="46 functions"),
    ]
    return cloud_picture(some, across, title="hyla, seed 0, layer 4")


def similarity():
    values = np.linspace(-1, 1, 64).reshape(8, 8)
    return maps.similarity_picture({"raw": values, "centred": -values}, NAMES, "layer 4")


def codes():
    array, labels = np.random.default_rng(0).normal(size=(64, 16)), np.repeat(NAMES, 8)
    return maps.codes_picture(array, np.full(64, 0.6), labels, "layer 4", "mean 0.6")


PICTURES = {
    "many clouds": lambda: clouds(across=3),
    **{make.__name__: make for make in (decoding, clouds, similarity, codes)},
}


def laid_out(picture):
    """Return a picture as a figure whose layout is done, and its texts."""
    with rc_context(STYLE):
        figure = frame.figure_of(picture)
        figure.draw_without_rendering()
    return figure, [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]


@pytest.mark.parametrize("name", PICTURES)
def test_text_can_be_read_is_not_cut_and_does_not_collide(name):
    figure, texts = laid_out(PICTURES[name]())
    width, height = figure.get_size_inches()
    assert width <= frame.PAGE
    assert min(text.get_fontsize() for text in texts) >= LEGIBLE
    drawn = figure.get_tightbbox()
    assert min(drawn.x0, drawn.y0) >= -0.02
    assert drawn.x1 <= width + 0.02 and drawn.y1 <= height + 0.02
    at_ticks = {id(text) for text in figure.findobj(Tick) for text in (text.label1, text.label2)}
    boxes = [(text.get_text(), text.get_window_extent()) for text in texts if id(text) not in at_ticks]
    for (one, here), (other, there) in combinations(boxes, 2):
        across = min(here.x1, there.x1) - max(here.x0, there.x0)
        down = min(here.y1, there.y1) - max(here.y0, there.y0)
        assert across <= 1 or down <= 1, f"{one!r} and {other!r} collide"


def test_the_same_picture_has_the_same_bytes(tmp_path):
    first = [path.read_bytes() for path in frame.save_picture(clouds(), tmp_path / "a.first")]
    second = frame.save_picture(clouds(), tmp_path / "second")
    assert [path.name for path in second] == ["second.svg", "second.png"]
    assert [path.read_bytes() for path in second] == first
    assert b"<dc:date>" not in first[0] and b"<text" in first[0]


def luminance(colour):
    linear = [each / 12.92 if each <= 0.04 else ((each + 0.055) / 1.055) ** 2.4 for each in colour[:3]]
    return np.dot([0.2126, 0.7152, 0.0722], linear)


def test_scales_are_monotone_in_grey():
    sequential = [luminance(frame.SEQUENTIAL(x)) for x in np.linspace(0, 1, 50)]
    assert (np.diff(sequential) < 0).all()
    half = [luminance(frame.DIVERGING(x)) for x in np.linspace(0.5, 1, 50)]
    assert (np.diff(half) < 0).all()
    assert len(COLOURS) == len(MARKS) == len(RULES)
