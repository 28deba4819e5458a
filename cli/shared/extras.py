"""What an extra installs, imported when it is asked for."""

from collections.abc import Iterator
from contextlib import contextmanager

import click

from sraven.core.system.isolation import elsewhere


@contextmanager
def needs_extra(what: str, extra: str) -> Iterator[None]:
    """Import what an extra installs; one line says so if it isn't there."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise click.UsageError(f"{what} needs {error.name}: pip install '.[{extra}]' in a checkout") from None


@contextmanager
def one_picture(count: int) -> Iterator[None]:
    """Import what draws; one line says so if that isn't installed, or if more is asked than one."""
    if count != 1:
        raise click.UsageError(f"--png shows one instance, but --count is {count}; leave out one of them")
    with elsewhere(), needs_extra("--png", "analysis"):
        yield
