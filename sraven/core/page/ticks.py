"""Which numbers stand along the axes of a plot, and which of them find room."""

import math
from collections.abc import Sequence

from sraven.core.page.lettering import FONT, SMALL_FONT, text_width

_APART = 6.0  # between words side by side


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Return round numbers that enclose a range, evenly apart."""
    span = max(high - low, 1e-9)
    power = 10.0 ** math.floor(math.log10(span / most))
    steps = (factor * power for factor in (1, 2, 2.5, 5, 10, 20))
    step = next(step for step in steps if step * (most - 1) >= span)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(number * step, 12) for number in range(first, max(last, first + 1) + 1)]


def log_ticks(low: float, high: float, marks: Sequence[int]) -> list[int]:
    """Return the marks, and round numbers of a log axis that are far enough from them and each other."""
    for steps in ((1, 2, 5), (1, 3), (1,)):
        powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        found = [step * 10**power for power in powers for step in steps if power >= 0]
        found = [number for number in found if low <= number <= high]
        if len(found) <= 5:
            break
    found = found[:: -(-len(found) // 5)] if found else []
    apart = (high / low) ** 0.16
    near = [number for number in found if all(max(number / m, m / number) >= apart for m in marks)]
    return sorted({*near, *marks})


def readable_ticks(places: Sequence[tuple[float, str]], low: float) -> dict[int, bool]:
    """Return which words below an axis find room, and whether they do on a phone too, where they are large.

    Args:
        places: middles and words, the most important first.
        low: where the axis begins.

    Returns:
        By number in the list; what isn't there has no room at all.
    """
    found = dict[int, bool]()
    for size in (FONT, SMALL_FONT):
        halves = [(text_width(text, size) + _APART) / 2 for _, text in places]
        for number, (middle, _) in enumerate(places):
            is_free_there = middle - halves[number] >= low and all(
                abs(middle - places[other][0]) >= halves[number] + halves[other] for other in found
            )
            if number not in found and is_free_there:
                found[number] = size == FONT
    return found
