"""Modular sums of two terms: a complete toy family, to see what a third task of the benchmark takes.

An instance shows pairs (a, b) with w1 * a + w2 * b modulo P, and asks for the sum of one more pair. A
combination is the pair of weights (w1, w2); some are held out of training.
"""

from contextlib import contextmanager

import pytest

from sraven.core.tasks.families import FAMILIES

ENTRY = "helpers.sums.family:FAMILY"
"""What registers the family: an entry of `FAMILIES`, and nothing else."""

BOARD = "sums-v1"


@contextmanager
def registered():
    """Let the family be one of the benchmark's."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setitem(FAMILIES, "sums", ENTRY)
        yield
