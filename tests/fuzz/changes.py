"""Changes of inputs: as bytes, as JSON, as Parquet. All randomness is the caller's."""

import json
import re
from contextlib import suppress
from copy import deepcopy

from helpers.parquet_forgery import put_together, take_apart

BYTES = (0, 1, 0x7F, 0x80, 0xFF, 0x0A, 0x0D, 0x1B, 0x22, 0x27, 0x2C, 0x3A, 0x5B, 0x7B)
"""Bytes that mean something in one format or another."""

NUMBERS = (
    *b"-1 0 1 00 1e999 -0.0 NaN 1_000 0x1F 1:20:30 2147483648 9223372036854775808 35184372088832".split(),
    *(b"1e-400", b"true", b"null", b"9" * 400, b"9" * 5000),
)
"""What stands in place of a number."""

TOKENS = (
    *b"&a *a !!python/name:os.system --- ... ? | > <<: ~ %YAML # {} [] {{ ]] [[[[[[[[".split(),
    *(b"\\ud800", b"\\x1b[2J"),
    *("\u202e \u200b \u3164 \u0301\u0301\u0301\u0301 \ufeff \u0430".encode().split()),
    *(b"\0", b"\r\n", b"\n\n", b"\t", b"\xff", b"..", b"../../x", b"/dev/zero", b"\x1f\x8b", b"PAR1"),
    *(b"https://github.com@evil.example", b'"', b"'", b": ", b"- ", b"text", b"step", b"loss"),
)

VALUES = (
    *(None, True, False, 0, -1, 1, 2, 2**31, 2**45, 2**63, 10**400, 0.5, -0.0, 1e300, 1e-300, float("nan")),
    *("", "a", " ", "\x1b[2J", "\u202e", "\u200b", "a\n"),
    *("../..", "/dev/zero", "\ud800", "x" * 300, "0" * 64),
    *([], [[]], [None], [1, "a"], {}, {"a": 1}, {"": None}, [[[[[[[[[[[[]]]]]]]]]]]]),
)
"""What stands in place of a value of JSON."""


def _slice(data, choose):
    start = choose.randrange(len(data) + 1)
    return start, min(len(data), start + choose.randint(1, 40))


def _flip(data, choose):
    changed = bytearray(data or b"\0")
    for _ in range(choose.randint(1, 3)):
        changed[choose.randrange(len(changed))] = choose.choice((*BYTES, choose.randrange(256)))
    return bytes(changed)


def _remove(data, choose):
    start, end = _slice(data, choose)
    return data[:start] + data[end:]


def _repeat(data, choose):
    start, end = _slice(data, choose)
    return data[:end] + data[start:end] * choose.choice((1, 1, 2, 50)) + data[end:]


def _insert(data, choose):
    start, _ = _slice(data, choose)
    return data[:start] + choose.choice(TOKENS) + data[start:]


def _renumber(data, choose):
    places = list(re.finditer(rb"-?\d[\d.eE+-]*", data))
    if not places:
        return _insert(data, choose)
    place = choose.choice(places)
    return data[: place.start()] + choose.choice(NUMBERS) + data[place.end() :]


_OF_BYTES = (_flip, _flip, _remove, _repeat, _insert, _insert, _renumber)


def change_bytes(data, choose):
    """Change a few places of a text or file, without knowing its format."""
    for _ in range(choose.choice((1, 1, 1, 2, 3, 6))):
        data = choose.choice(_OF_BYTES)(data, choose)
    return data[: 1 << 16]


def _places(value):
    """Yield all places of a value of JSON: what holds something, and under which name."""
    names = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for name in names:
        yield value, name
        yield from _places(value[name])


def change_json(data, choose):
    """Change values and names of JSON; now and then its bytes."""
    try:
        value = json.loads(data)
        places = list(_places(value))
    except (ValueError, RecursionError):
        places = []
    if not places or choose.random() < 0.15:
        return change_bytes(data, choose)
    for _ in range(choose.choice((1, 1, 1, 2, 4))):
        if not (places := list(_places(value))):
            break
        holder, name = choose.choice(places)
        what = choose.random()
        if what < 0.3 and isinstance(holder, dict):
            holder[choose.choice(("", "x", "\x1b[2J", "a" * 300, str(name) + "\u200b"))] = holder.pop(name, 0)
        elif what < 0.4:
            del holder[name]
        else:
            holder[name] = deepcopy(choose.choice((*VALUES, [holder[name]] * 2)))
    return json.dumps(value).encode()[: 1 << 16]


def _thrift_places(fields):
    """Yield the numbers and lists in a struct of Thrift: what holds each, and under which number."""
    for place, (kind, value) in fields.items():
        if kind in (5, 6, 9):
            yield fields, place
        for each in value[1] if kind == 9 and value[0] == 12 else [value] * (kind == 12):
            yield from _thrift_places(each)


def _change_thrift(fields, choose):
    """Change, drop or double something in a struct of Thrift."""
    holder, place = choose.choice(list(_thrift_places(fields)))
    kind, value = holder[place]
    if choose.random() < 0.05:
        del holder[place]
    elif kind == 9:
        of, values = value
        others = [values[:-1], values * 2, values[::-1]]
        others += [[number, *values[1:]] for number in (0, 1, -1, 8, 2**31 - 1) if of in (5, 6)]
        values[:] = choose.choice(others)
    else:
        near = [0, 1, -1, value + 1, value - 1, 2 * value, -value]
        holder[place] = kind, choose.choice([*near, 2**31 - 1, 10**6, 10**9, choose.randrange(64)])


def change_parquet(data, choose):
    """Change a file's bytes, or its metadata, which stays well-formed."""
    for _ in range(choose.randint(1, 4)):
        if choose.random() < 0.6:
            with suppress(Exception):  # of bytes that are no file any more
                body, metadata = take_apart(data)
                _change_thrift(metadata, choose)
                data = put_together(body, metadata)
                continue
        data = _flip(data, choose) if choose.random() < 0.9 else _remove(data, choose)
    return data
