"""Which points of a plot have their names beside them, and where: a name covers nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sraven.core.page.attention import family_of
from sraven.core.page.lettering import FONT, text_width
from sraven.core.page.scale import (
    FLOOR,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    Box,
    Point,
    Scale,
    is_free,
)
from sraven.core.page.words import REFERENCE, score

_MOST, _MOST_LETTERS = 6, 40


@dataclass(frozen=True)
class Label:
    """The name of a point: where the foot of its letters is, and which end of it (or the middle) is there."""

    name: str
    text: str
    x: float
    y: float
    anchor: str


class BoundLine(NamedTuple):
    """A line across a plot: its class, its score, what stands at it, and at which end."""

    key: str
    value: float
    label: str
    is_left: bool


def bounds(scale: Scale) -> list[BoundLine]:
    """Return the lines across a plot. High up, marks are at the right, where most training is."""
    found = (
        []
        if scale.best is None
        else [BoundLine("ceiling", scale.best, f"ceiling {score(scale.best)}", False)]
    )
    for line in scale.lower:
        is_left = scale.y(line.value) < (TOP + FLOOR) / 2
        found.append(BoundLine("lower", line.value, f"{line.title} {score(line.value)}", is_left))
    return found


def _box(point: Point, beside: float) -> Box:
    """Return what a point and its error bar take, with a margin beside it."""
    side = 5 + beside
    return point.x - side, min(point.high, point.y - 5), point.x + side, max(point.low, point.y + 5)


def _bound_boxes(scale: Scale) -> list[Box]:
    """Return what the lines across a plot and their labels take."""
    boxes: list[Box] = []
    for bound in bounds(scale):
        y, width = scale.y(bound.value), text_width(bound.label)
        start, end = (LEFT, LEFT + width) if bound.is_left else (WIDTH - RIGHT - width, WIDTH)
        boxes += [(LEFT, y - 2, WIDTH, y + 2), (start, y - 22, end, y)]
    return boxes


def _places(point: Point, width: float, is_best: bool) -> list[tuple[Box, float, str]]:
    """Return where a label may stand, the best place first: its box, its x and its anchor.

    Only the best of a kind may have its label above or below: among others, whose it is isn't clear.
    """
    x, y, half = point.x, point.y, FONT / 2 + 1
    places = [((x + 9, y - half, x + 9 + width, y + half), x + 9, "start")]
    places += [((x - 9 - width, y - half, x - 9, y + half), x - 9, "end")]
    for middle in (min(point.high, y - 6) - half, max(point.low, y + 6) + half) if is_best else ():
        places.append(((x - width / 2, middle - half, x + width / 2, middle + half), x, "middle"))
        places.append(((x - 5, middle - half, x - 5 + width, middle + half), x - 5, "start"))
    return places


def _is_inside(box: Box) -> bool:
    return box[0] > LEFT and box[2] < WIDTH and box[1] > TOP - 10 and box[3] < FLOOR


def place_labels(scale: Scale, points: Sequence[Point]) -> list[Label]:
    """Return a few names of points, given the best first, where they cover nothing and no other is near.

    The best of each family comes first. A name is there as a whole or not at all.
    """
    family = {point.name: family_of(point.entry).key for point in points}
    best = {family[point.name]: point.name for point in reversed(points)}.values()
    taken, labels = _bound_boxes(scale), list[Label]()
    for point in sorted(points, key=lambda p: (p.name not in best, family[p.name] == REFERENCE)):
        text = point.entry.title
        if len(text) > _MOST_LETTERS:
            continue
        blocked = [*taken, _box(point, 0), *[_box(other, 6) for other in points if other is not point]]
        for box, x, anchor in _places(point, text_width(text), point.name in best):
            if _is_inside(box) and is_free(box, blocked):
                labels.append(Label(point.name, text, x, (box[1] + box[3]) / 2 + 4, anchor))
                taken.append(box)
                break
        if len(labels) == _MOST:
            break
    return labels
