"""JSON Schemas of the project's files, and how a value that breaks one is described."""

import json
from collections.abc import Callable, Iterable
from functools import cache
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import Any

from sraven.core.escape import escape, quoted
from sraven.files.files import read_bounded
from sraven.files.names import ADDRESS, address_fault, name_fault, text_fault

_MOST = 80
_MOST_ERRORS = 1_000


@cache
def read_schema(name: str) -> dict[str, Any]:
    """Return a schema, such as ``board`` or ``submission``."""
    return dict(json.loads(files(__name__).joinpath(f"{name}.json").read_text("utf-8")))


def _place(path: Iterable[Any]) -> str:
    names = ((f"[{name}]" if isinstance(name, int) else f".{escape(name, _MOST)}") for name in path)
    return "".join(names).removeprefix(".")


def _problem(error: Any) -> str:
    """Return what is wrong and what is allowed, in our words for the keywords that our schemas use."""
    value, allowed = error.instance, error.validator_value
    names = {"object": "names and values", "array": "a list", "string": "a text", "null": "nothing"}
    names["integer"] = "an integer"

    def is_wrong(expected: str) -> str:
        return f"is {quoted(value, _MOST)}; expected {expected}"

    match error.validator:
        case "required":
            missing = next(name for name in allowed if name not in value)
            return f"lacks {missing!r}"
        case "dependentRequired":
            name, missing = next((n, m) for n in allowed for m in allowed[n] if n in value and m not in value)
            return f"has {name!r} but lacks {missing!r}"
        case "additionalProperties":
            strange = next(name for name in value if name not in error.schema.get("properties", {}))
            return f"has {quoted(strange, _MOST)}; expected only {', '.join(error.schema['properties'])}"
        case "type":
            kinds = [allowed] if isinstance(allowed, str) else allowed
            return is_wrong(" or ".join(names.get(kind, f"a {kind}") for kind in kinds))
        case "enum":
            return is_wrong(f"one of {', '.join(map(quoted, allowed))}")
        case "const":
            return is_wrong(quoted(allowed))
        case "pattern":
            return is_wrong(error.schema.get("description", f"what matches {allowed}"))
        case "format":
            if allowed == "address":
                return is_wrong(ADDRESS)
            return f"is {quoted(value, _MOST)}, which {error.cause}; expected characters that can be seen"
        case "minimum" | "maximum" as bound:
            return is_wrong(f"{allowed:,} or {'more' if bound == 'minimum' else 'less'}")
        case "minLength":
            return "is empty"
        case "minItems" | "maxItems" | "maxProperties" | "maxLength" as bound:
            unit = "characters" if bound == "maxLength" else "entries"
            limit = f"{allowed:,} or {'more' if bound == 'minItems' else 'fewer'}"
            return f"has {len(value):,} {unit}; expected {limit}"
        case _:
            return escape(error.message, 300)


_FORMATS = {"name": name_fault, "text": text_fault, "address": address_fault}
"""Formats of texts: functions that return what is wrong with one."""


def _check_format(find_fault: Callable[[str], str | None]) -> Callable[[object], bool]:
    def check(value: object) -> bool:
        if isinstance(value, str) and (fault := find_fault(value)):
            raise ValueError(fault)
        return True

    return check


@cache
def _validator(name: str) -> Any:
    """Return what checks values against a schema."""
    from jsonschema import Draft202012Validator, FormatChecker, validators

    # To JSON Schema 1.0 is an integer; to us it isn't: a seed must have one way to be written.
    types = Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda checker, number: isinstance(number, int) and not isinstance(number, bool)
    )
    formats = FormatChecker(formats=())
    for format_name, find_fault in _FORMATS.items():
        formats.checks(format_name, raises=ValueError)(_check_format(find_fault))
    keywords = Draft202012Validator.VALIDATORS
    validator = validators.create(Draft202012Validator.META_SCHEMA, keywords, type_checker=types)
    return validator(read_schema(name), format_checker=formats)


def find_problem(value: Any, name: str) -> str | None:
    """Return the first thing in which a value breaks a schema, such as ``model.heads is -1; ...``.

    Args:
        value: what JSON can hold.
        name: of the schema.
    """
    some = islice(_validator(name).iter_errors(value), _MOST_ERRORS)
    errors = sorted(some, key=lambda e: list(map(str, e.path)))
    if not errors:
        return None
    first = errors[0]
    of_name = "has a name that " if "propertyNames" in first.schema_path else ""
    return f"{_place(first.path)} {of_name}{_problem(first)}".strip()


def read_described(path: Path, name: str) -> dict[str, Any]:
    """Return the object of JSON that a file holds, as a schema describes it.

    Raises:
        OSError: if the file can't be read, is no plain file or is too large.
        ValueError: if it holds something else; the message says what.
    """
    try:
        value = json.loads(read_bounded(path))
    except RecursionError:
        raise ValueError("values are nested too deep") from None
    if problem := find_problem(value, name):
        raise ValueError(problem)
    return dict(value)
