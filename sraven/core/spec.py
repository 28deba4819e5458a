"""Configurations as canonical JSON, and the digests that give them an identity."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

BENCHMARK_VERSION = "1"
"""Part of every random stream: raised only when generated instances change."""

BENCHMARK_DATE = "2026-11-20"
"""When this benchmark version was published."""

SEED_LIMIT = (1 << 63) - 1
"""The greatest seed."""


def canonical_json(value: Any) -> str:
    """Return the one text that stands for a JSON value: sorted keys, no spaces, ASCII.

    Raises:
        ValueError: for NaN and infinities, which JSON lacks.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def digest(config: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the canonical JSON of a configuration, in hexadecimal."""
    return hashlib.sha256(canonical_json(config).encode()).hexdigest()
