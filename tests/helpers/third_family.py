"""The toy family of `helpers.sums`, registered as one of the benchmark's for a while."""

from contextlib import contextmanager

import pytest

from sraven.core.families import FAMILIES

ENTRY = "helpers.sums.family:FAMILY"
"""What registers the family: an entry of `FAMILIES`, and nothing else."""

BOARD = "sums-v1"


@contextmanager
def registered():
    """Let the family be one of the benchmark's."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setitem(FAMILIES, "sums", ENTRY)
        yield
