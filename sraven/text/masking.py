"""Keys: read, and kept out of whatever is printed or written; what else texts may not have there."""

import html
import json
import os
import re
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any
from urllib.parse import quote

from sraven.core.errors import ConfigurationError

MASKED, REPLACED = "[secret]", "\N{REPLACEMENT CHARACTER}"

LEAST_SECRET = 6
"""Characters of a secret at least: what is shorter, such as the key `none` of a local server, hides nothing,
and its letters are anywhere in a reply."""

_HALF = re.compile("[\ud800-\udfff]")


def map_texts(value: Any, change: Callable[[str], str]) -> Any:
    """Return a value of JSON with all its texts changed, names of fields among them."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {change(name): map_texts(each, change) for name, each in value.items()}
    return [map_texts(each, change) for each in value] if isinstance(value, list) else value


def without_halves(text: str) -> str:
    """Return a text with U+FFFD for each half of a pair (surrogate), which no file in UTF-8 can hold."""
    return _HALF.sub(REPLACED, text)


def _spellings(secret: str) -> set[str]:
    """Return how a secret stands in texts: as it is, or escaped for an address, a page or JSON."""
    in_json = json.dumps(secret)[1:-1]
    return {secret, quote(secret, safe=""), html.escape(secret), in_json, in_json.replace("/", "\\/")}


def make_mask(secrets: Iterable[str]) -> Callable[[str], str]:
    """Return a function that hides secrets in a text; those shorter than `LEAST_SECRET` stay."""
    spelt = {each for secret in secrets if len(secret) >= LEAST_SECRET for each in _spellings(secret)}
    pattern = "|".join(map(re.escape, sorted(spelt, key=len, reverse=True))) or "(?!)"
    return partial(re.compile(pattern).sub, MASKED)


def read_key(name: str) -> str:
    """Return a key from the environment, without the white space that a file of variables leaves around it.

    Raises:
        ConfigurationError: if there is none that can be sent. The message never has the key, nor what was
            given for the name if that may be the key itself.
    """
    shown = name if re.fullmatch("[A-Z][A-Z0-9_]{0,39}", name) else ""
    key = os.environ.get(name, "").strip() if name and "=" not in name and "\0" not in name else ""
    if not key:
        raise ConfigurationError(
            f"the environment has no {shown}; set it, or leave --key-env out"
            if shown
            else "the environment has no variable as --key-env names it; it takes the name, not the key"
        )
    if not re.fullmatch("[!-~]+", key):
        raise ConfigurationError(
            f"the key in {shown or 'the variable that --key-env names'} can't be sent: expected letters, "
            "digits and signs of ASCII without spaces"
        )
    return key
