"""Imports of what an extra installs."""

from collections.abc import Iterator
from contextlib import contextmanager

import click


@contextmanager
def needs_extra(what: str, extra: str) -> Iterator[None]:
    """Import what an extra installs; one line says so if it isn't there."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise click.UsageError(f"{what} needs {error.name}: pip install '.[{extra}]' in a checkout") from None
