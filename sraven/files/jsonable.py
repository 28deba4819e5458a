"""Values as JSON has them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from math import isfinite
from typing import Any


def as_json(value: Any) -> Any:
    """Return a value as JSON values, its parts too: an equal value is read back from them.

    Dataclasses become names and values, but for fields that they don't show (``repr=False``); tuples and
    arrays become lists; NaN and infinities, for which JSON has no number, become null. What else JSON can't
    hold stays, and is refused by whoever writes it.
    """
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: as_json(getattr(value, each.name)) for each in fields(value) if each.repr}
    if isinstance(value, Mapping):
        return {name: as_json(content) for name, content in value.items()}
    if hasattr(value, "tolist"):  # an array, or a number of NumPy's
        return as_json(value.tolist())
    if isinstance(value, list | tuple):
        return [as_json(content) for content in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def json_differences(
    one: Any, other: Any, are_near: Callable[[Any, Any], bool] = lambda one, other: False, place: str = ""
) -> Iterator[str]:
    """Yield where two JSON values differ, as dotted names.

    Args:
        one: the first.
        other: the second; the order of its names is that of the result.
        are_near: returns whether unequal values count as equal, unless they are objects or lists.
        place: the dotted name of both, with a dot in front.
    """
    if one == other:
        return
    if isinstance(one, dict) and isinstance(other, dict):
        parts = [(f"{place}.{name}", one.get(name), other.get(name)) for name in {**other, **one}]
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        parts = [(f"{place}[{n}]", *pair) for n, pair in enumerate(zip(one, other, strict=True))]
    else:
        if not are_near(one, other):
            yield place.removeprefix(".")
        return
    for at, first, second in parts:
        yield from json_differences(first, second, are_near, at)
