"""Values as JSON has them."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from math import isfinite
from typing import Any


def as_json(value: Any) -> Any:
    """Return a value as JSON values, its parts too: an equal value is read back from them.

    Dataclasses become names and values, but for fields that they don't show (``repr=False``); tuples become
    lists; NaN and infinities, for which JSON has no number, become null. What else JSON can't hold stays, and
    is refused by whoever writes it.
    """
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: as_json(getattr(value, each.name)) for each in fields(value) if each.repr}
    if isinstance(value, Mapping):
        return {name: as_json(content) for name, content in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(content) for content in value]
    return None if isinstance(value, float) and not isfinite(value) else value
