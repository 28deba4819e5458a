"""Batches compared, and configurations as the oracle wants them."""

import numpy as np

from sraven.core.spec import values_of

FAR = 2**40


def config(task):
    """Return the configuration as the oracle wants it."""
    return values_of(task)


def same(batch, other):
    """Tell whether two batches are equal, bit for bit."""
    return all(np.array_equal(a, b) and a.dtype == b.dtype for a, b in zip(batch, other, strict=True))


def assert_equal_to_instances(batch, instances):
    """Compare a batch with the oracle's instances: all arrays, symbol by symbol."""
    for name, array in zip(batch._fields, batch, strict=True):
        assert array.tolist() == np.array([getattr(instance, name) for instance in instances]).tolist(), name
