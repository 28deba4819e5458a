"""Configurations as canonical JSON, and the digests that give them an identity.

A configuration is a frozen dataclass, and its digest names what was made with it. So a field that it
gets after a release is declared with `added`: where it has its default, it is left out, and old
configurations keep their values and digests.

The field is also the one home of its default and of what it means: with `setting`, commands make their
options of it.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields
from typing import Any

SEED_LIMIT = (1 << 63) - 1
"""The greatest seed."""

_ADDED = "added"
_SETTING = "setting"


@dataclass(frozen=True)
class FieldOption:
    """What a command says of a field of a configuration.

    Attributes:
        meaning: one line for the help.
        option: name of the option without dashes; that of a switch turns a default of True off.
        values: what stands for the value in the help; empty for its type.
        measured: whether measurements of the task have it, too; they leave others at the default.
    """

    meaning: str
    option: str
    values: str = ""
    measured: bool = True


def canonical_json(value: Any) -> str:
    """Return the one text that stands for a JSON value: sorted keys, no spaces, ASCII.

    Raises:
        ValueError: for NaN and infinities, which JSON lacks.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def digest(config: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the canonical JSON of a configuration, in hexadecimal."""
    return hashlib.sha256(canonical_json(config).encode()).hexdigest()


def added(default: Any) -> Any:
    """Return the field of a configuration that it got after a release.

    Args:
        default: what all that was made before had; it never changes.
    """
    return field(default=default, kw_only=True, metadata={_ADDED: True})


def setting(
    default: Any,
    meaning: str,
    *,
    option: str = "",
    values: str = "",
    measured: bool = True,
    is_added: bool = False,
) -> Any:
    """Return a field of a configuration that commands offer as an option.

    Args:
        default: its default; a function makes one for each configuration, by keyword alone.
        meaning: one line for the help.
        option: name of the option, if it isn't that of the field.
        values: what stands for the value in the help, if it isn't its type.
        measured: whether measurements of the task have it, too.
        is_added: whether the configuration got it after a release, as one of `added`.
    """
    metadata = {_SETTING: FieldOption(meaning, option, values, measured), _ADDED: is_added}
    if callable(default):
        return field(default_factory=default, kw_only=True, metadata=metadata)
    return field(default=default, kw_only=is_added, metadata=metadata)


def settings_of(kind: Any) -> dict[str, tuple[Any, FieldOption]]:
    """Return the default and the setting of each field of a configuration that has one, by name.

    Where a function makes the default, it is None here.
    """
    return {
        each.name: (None if each.default is MISSING else each.default, each.metadata[_SETTING])
        for each in fields(kind)
        if _SETTING in each.metadata
    }


def values_of(config: Any) -> dict[str, Any]:
    """Return the fields of a configuration, a dataclass, but for added ones at their default."""
    left_out = {
        each.name
        for each in fields(config)
        if each.metadata.get(_ADDED) and getattr(config, each.name) == each.default
    }
    return {name: value for name, value in asdict(config).items() if name not in left_out}


def task_config(name: str, task: Any) -> dict[str, Any]:
    """Return the configuration of a task, a dataclass with its version: all that determines its instances."""
    return {"task": name, "version": task.version, **values_of(task)}
