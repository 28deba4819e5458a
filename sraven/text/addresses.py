"""Addresses of endpoints: what is sent there, what of them may be shown, and what is a secret."""

import re
from base64 import b64encode
from typing import NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

from sraven.core.errors import ConfigurationError
from sraven.core.escape import quoted

_VERSION = "api-version"
_PATH = "/chat/completions"
_HOST = re.compile(r"[\w-]+(\.[\w-]+)*\.?|[0-9a-f:.]*:[0-9a-f:.]*")


class Address(NamedTuple):
    """Where questions are sent.

    Attributes:
        url: the whole address.
        shown: the address as it may be printed.
        secrets: what it has that may not: passwords, and values of its query.
        is_azure: whether it has a version, as Azure's have, where the key is in a header of another name.
    """

    url: str
    shown: str
    secrets: tuple[str, ...]
    is_azure: bool

    @property
    def has_user(self) -> bool:
        """Whether it says who asks, so that no key can."""
        return "@" in urlsplit(self.url).netloc


def url_secrets(url: str) -> tuple[str, ...]:
    """Return what an address has that may not be shown; of one that can't be read, nothing."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ()
    user, password = parts.username or "", parts.password or ""
    basic = b64encode(f"{unquote(user)}:{unquote(password)}".encode(errors="replace")).decode()
    named = [value for name, value in parse_qsl(parts.query) if name != _VERSION]
    said = [password or user, unquote(password or user), *([basic] if user or password else []), *named]
    return tuple(filter(None, said))


def read_address(url: str) -> Address:
    """Return where questions are sent, given the address that ends in ``/v1`` or in ``/chat/completions``.

    What stands behind ``?`` is sent, too; with ``api-version`` the key is sent as Azure expects it.

    Raises:
        ConfigurationError: if nothing can be sent there.
    """
    shown = "" if {"@", "?"} & {*url} else f" {quoted(url)}"
    fault = ConfigurationError(f"--url{shown} is no address; expected one such as http://localhost:8000/v1")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
        host.encode("idna")
    except ValueError:
        raise fault from None
    is_host = _HOST.fullmatch(host)
    is_plain = url.isprintable() and " " not in url
    if not (is_plain and parts.scheme in ("http", "https") and is_host and port != 0):
        raise fault
    path = parts.path.rstrip("/").removesuffix(_PATH)
    place = parts.netloc.rpartition("@")[2]
    return Address(
        parts._replace(path=path + _PATH, fragment="").geturl(),
        f"{parts.scheme}://{place}{path}",
        url_secrets(url),
        _VERSION in dict(parse_qsl(parts.query)),
    )
