"""Untrusted JSON: one reading only, and no number or nesting that costs more than its file."""

import json
from collections.abc import Callable, Sequence
from typing import Any

_MOST_DIGITS = 25
_DEEPEST = 50


def _without_repeats(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name stands twice in an object")
    return found


def _integer(text: str) -> int:
    if len(text) > _MOST_DIGITS:
        raise ValueError(f"a number has {len(text):,} digits")
    return int(text)


def _float(text: str) -> float:
    value = float(text) if len(text) <= 4 * _MOST_DIGITS else float("inf")
    if value in (float("inf"), float("-inf")):
        raise ValueError("a number is out of range")
    return value


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _check_depth(value: Any) -> None:
    level = [value]
    for _ in range(_DEEPEST):
        inside = [each.values() if isinstance(each, dict) else each for each in level]
        level = [child for each in inside for child in each if isinstance(child, dict | list)]
        if not level:
            return
    raise ValueError(f"it is nested deeper than {_DEEPEST}")


def _parse(data: bytes, encoding: str, pairs: Callable[[Any], Any], constant: Callable[[str], None]) -> Any:
    try:
        value = json.loads(
            data.decode(encoding),
            object_pairs_hook=pairs,
            parse_int=_integer,
            parse_float=_float,
            parse_constant=constant,
        )
    except RecursionError:
        raise ValueError(f"it is nested deeper than {_DEEPEST}") from None
    if isinstance(value, dict | list):
        _check_depth(value)
    return value


def parse_json(data: bytes) -> Any:
    """Return the value of a JSON text in UTF-8.

    Raises:
        ValueError: if it is none, has NaN or infinities, a name twice in an object, a number of many
            digits, or is nested deep.
    """
    return _parse(data, "utf-8", _without_repeats, _no_constant)


def parse_loosely(data: bytes) -> Any:
    """Return the value of a JSON text that is paid for already, as most programs read it.

    It may begin with a byte order mark; NaN and infinities are None, and of a name that stands twice in an
    object the last one counts.

    Raises:
        ValueError: if it is none, has a number of many digits, or is nested deep.
    """
    return _parse(data, "utf-8-sig", dict, lambda name: None)
