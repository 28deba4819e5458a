"""Variables of the environment for as long as they are needed."""

import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def variables(**values: str) -> Iterator[None]:
    """Give environment variables that have no value one, for this process and those that it starts."""
    new = {name: value for name, value in values.items() if not os.environ.get(name)}
    os.environ.update(new)
    try:
        yield
    finally:
        for name in new:
            os.environ.pop(name, None)
