"""Variables of the environment: for as long as they are needed, and what is wrong with them."""

import os
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from errno import EACCES, EISDIR, ELOOP, ENAMETOOLONG, ENOENT, ENOTDIR

from sraven.core.escape import quoted

_OF_PLACE = (EACCES, EISDIR, ELOOP, ENAMETOOLONG, ENOENT, ENOTDIR)


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


def certificates_fault(error: OSError) -> str:
    """Return what is wrong with the variable that names certificates; nothing if it isn't that.

    Args:
        error: what came of it, which names no file.
    """
    if not isinstance(error, ssl.SSLError) and error.errno not in _OF_PLACE:
        return ""
    name = next((name for name in ("SSL_CERT_FILE", "SSL_CERT_DIR") if os.environ.get(name)), "")
    said = "no certificates are in it" if isinstance(error, ssl.SSLError) else error.strerror or error
    advice = "name a file of certificates, or unset it"
    return f"{name}={quoted(os.environ[name])}: {said}; {advice}" if name else ""
