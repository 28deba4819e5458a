"""How long to wait before a question is asked once more."""

import random
import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC
from email.utils import parsedate_to_datetime

FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0
"""Seconds before a second try, which double, and at most; an endpoint may ask for more."""

SAID_WAIT, SAID_STANDSTILL = 60.0, 4.0
"""Seconds: longer waits that an endpoint asks for are said, and shorter ones while all requests wait."""

LONGEST_ASKED_WAIT = 600.0
"""Seconds that an endpoint may ask to wait at most: beyond, asking ends."""


def asked_wait(headers: Mapping[str, str], now: float) -> float | None:
    """Return how many seconds an endpoint asks to wait; None if it doesn't say, or needs none.

    Args:
        headers: of its response, names in lower case: ``retry-after``, in seconds or as a date, or
            ``retry-after-ms``, which goes first.
        now: seconds since 1970.
    """
    said = headers.get("retry-after", "").strip()
    seconds = _number(headers.get("retry-after-ms", "").strip()) / 1000 or _number(said)
    with suppress(ValueError, TypeError, OverflowError):
        date = parsedate_to_datetime(said) if not seconds else None
        seconds = (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp() - now if date else seconds
    return seconds if seconds > 0 else None


def _number(text: str) -> float:
    return float(text) if re.fullmatch(r"[0-9]+(\.[0-9]*)?", text) else 0.0


def next_wait(attempt: int, asked: float | None) -> float:
    """Return how many seconds to wait after a try, from 1, at least those that were asked for; 0 is none."""
    if asked == 0:
        return 0.0
    back_off: float = min(FIRST_WAIT * 2.0 ** (attempt - 1), LONGEST_WAIT)
    # Not all at once, or the same rush comes again; and never at once, whatever little was asked for.
    spread = random.uniform(0.5, 1.0)  # noqa: S311
    return asked + FIRST_WAIT * spread if asked else back_off * spread
