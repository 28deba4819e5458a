"""JSON Schemas of the project's files, and how a value that breaks one is described."""

import json
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Any

_LONGEST = 80


@cache
def read_schema(name: str) -> dict[str, Any]:
    """Return a schema, such as ``board`` or ``submission``."""
    return dict(json.loads(files(__name__).joinpath(f"{name}.json").read_text()))


def _shown(value: Any) -> str:
    """Return a value in so few characters that it fits a line, none of them for terminals."""
    text = ascii(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def _place(path: Iterable[Any]) -> str:
    names = ((f"[{name}]" if isinstance(name, int) else f".{_shown(name)[1:-1]}") for name in path)
    return "".join(names).removeprefix(".")


def _problem(error: Any) -> str:
    """Return what is wrong and what is allowed, in our words for the keywords that our schemas use."""
    value, allowed = error.instance, error.validator_value
    names = {"object": "names and values", "array": "a list", "string": "a text", "null": "nothing"}
    names["integer"] = "an integer"

    def is_wrong(expected: str) -> str:
        return f"is {_shown(value)}; expected {expected}"

    match error.validator:
        case "required":
            missing = next(name for name in allowed if name not in value)
            return f"lacks {missing!r}"
        case "dependentRequired":
            name, missing = next((n, m) for n in allowed for m in allowed[n] if n in value and m not in value)
            return f"has {name!r} but lacks {missing!r}"
        case "additionalProperties":
            strange = next(name for name in value if name not in error.schema.get("properties", {}))
            return f"has {_shown(strange)}; expected only {', '.join(error.schema['properties'])}"
        case "type":
            kinds = [allowed] if isinstance(allowed, str) else allowed
            return is_wrong(" or ".join(names.get(kind, f"a {kind}") for kind in kinds))
        case "enum":
            return is_wrong(f"one of {', '.join(map(_shown, allowed))}")
        case "const":
            return is_wrong(_shown(allowed))
        case "pattern":
            return is_wrong(error.schema.get("description", f"what matches {allowed}"))
        case "minimum":
            return is_wrong(f"{allowed:,} or more")
        case "maximum":
            return is_wrong(f"{allowed:,} or less")
        case "minItems":
            return f"has {len(value)} entries; expected {allowed} or more"
        case "maxItems":
            return f"has {len(value)} entries; expected {allowed} or fewer"
        case "minLength":
            return "is empty"
        case "maxProperties":
            return f"has {len(value):,} entries; expected {allowed:,} or fewer"
        case "maxLength":
            return f"has {len(value):,} characters; expected {allowed:,} or fewer"
        case _:
            return str(error.message)


def find_problem(value: Any, name: str) -> str | None:
    """Return the first thing in which a value breaks a schema, such as ``model.heads is -1; ...``.

    Args:
        value: what JSON can hold.
        name: of the schema.
    """
    from jsonschema import Draft202012Validator, validators

    # To JSON Schema 1.0 is an integer; to us it isn't: a seed must have one way to be written.
    types = Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda checker, number: isinstance(number, int) and not isinstance(number, bool)
    )
    validator = validators.create(
        Draft202012Validator.META_SCHEMA, Draft202012Validator.VALIDATORS, type_checker=types
    )
    errors = sorted(validator(read_schema(name)).iter_errors(value), key=lambda e: list(map(str, e.path)))
    if not errors:
        return None
    first = errors[0]
    of_name = "has a name that " if "propertyNames" in first.schema_path else ""
    return f"{_place(first.path)} {of_name}{_problem(first)}".strip()
