"""A writer that is killed between any two operations on files."""

import os

import pytest

OPERATIONS = "replace", "unlink", "rmdir", "mkdir"


class Killed(BaseException):
    """Stands for a signal that nobody can catch: whatever is done afterwards isn't."""


def killed_after(operations, monkeypatch, work):
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

    with monkeypatch.context() as patch:
        for name in OPERATIONS:
            patch.setattr(os, name, until_killed(getattr(os, name)))
        try:
            work()
        except Killed:
            return False
    return left >= 0


def stopped_at(owner, name, work):
    """Do some work until it calls a function, in which it is killed."""

    def stop(*_, **__):
        raise Killed

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owner, name, stop)
        with pytest.raises(Killed):
            work()
