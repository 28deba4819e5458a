"""Configurations as canonical JSON, and the digests that give them an identity.

A configuration is a frozen dataclass, and its digest names what was made with it. So a field that it
gets after a release is declared with `added`: where it has its default, it is left out, and old
configurations keep their values and digests.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, field, fields
from typing import Any

SEED_LIMIT = (1 << 63) - 1
"""The greatest seed."""

_ADDED = "added"


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
