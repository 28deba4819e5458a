"""A writer that is killed between any two operations on files."""

import os
from itertools import count
from unittest.mock import patch

import pytest

OPERATIONS = "replace", "unlink", "rmdir", "mkdir"


class Killed(BaseException):
    """Stands for a signal that nobody can catch: whatever is done afterwards isn't."""


def killed_everywhere(work, prepare, step=1):
    """Do some work, killed after no operation on files, after ``step``, and so on until it is done.

    Yields how many operations it was, after each time; ``prepare`` comes before each.
    """
    for operations in count(0, step):
        prepare()
        is_done = _killed_after(operations, work)
        yield operations
        if is_done:
            return


def _killed_after(operations, work):
    """Do some work until as many operations on files are done; tell whether it was all."""
    left = operations

    def until_killed(function):
        def call(*arguments, **options):
            nonlocal left
            left -= 1
            if left < 0:
                raise Killed
            return function(*arguments, **options)

        return call

    with pytest.MonkeyPatch.context() as monkeypatch:
        for name in OPERATIONS:
            monkeypatch.setattr(os, name, until_killed(getattr(os, name)))
        try:
            work()
        except Killed:
            return False
    return left >= 0


def stopped_at(owner, name, work):
    """Do some work until it calls a function, in which it is killed."""
    with patch.object(owner, name, side_effect=Killed), pytest.raises(Killed):
        work()
