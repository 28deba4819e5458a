"""The Hub as a service: names of what is there, calls that are tried again, failures in one line."""

import logging
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from sraven.core.errors import HubError, OutputError
from sraven.core.escape import escape

T = TypeVar("T")

PREFIX = "hf://datasets/"
"""The beginning of a dataset's URI, as in `datasets` and `fsspec`."""

KIND, MODEL = "dataset", "model"
"""The Hub's names for kinds of repositories."""

PREFIXES = {KIND: PREFIX, MODEL: "hf://"}
"""The beginning of the URI of each kind."""

HUBS_OWN = (".gitattributes",)
"""Files of a repository that the Hub itself puts there."""

TRIES, FIRST_WAIT = 5, 1.0
"""Attempts of a call that fails for want of the server, and seconds before the second; then twice as long
each time."""

_PART = r"[A-Za-z0-9][A-Za-z0-9._-]{0,95}"
_REVISION = r"[A-Za-z0-9][A-Za-z0-9._/-]{0,199}"


@dataclass(frozen=True)
class Place:
    """A dataset or a model on the Hub.

    Attributes:
        repository: ``user/name``.
        revision: a tag, a branch or a commit; None for the newest commit of the main branch.
        kind: `KIND` or `MODEL`.
    """

    repository: str
    revision: str | None = None
    kind: str = KIND

    def __str__(self) -> str:
        return f"{PREFIXES[self.kind]}{self.repository}" + (f"@{self.revision}" if self.revision else "")


def read_place(text: str, kind: str = KIND) -> Place:
    """Return the place that a text names: ``user/name``, or ``hf://datasets/user/name@TAG``.

    Args:
        text: what a user wrote.
        kind: of the repository; that of a model is ``hf://user/name@TAG``.

    Raises:
        OutputError: if it names none.
    """
    prefix = PREFIXES[kind]
    found = re.fullmatch(rf"({_PART}/{_PART})(?:@({_REVISION}))?", text.removeprefix(prefix))
    if not found:
        raise OutputError(
            f"{escape(text)} names no {kind} on the Hub; expected user/name, or {prefix}user/name@TAG"
        )
    return Place(found[1], found[2], kind)


def insist(call: Callable[[], T]) -> T:
    """Return what a call returns, which is made again if the server fails or the line drops.

    Only for calls that may be made twice.
    """
    for attempt in range(TRIES - 1):
        try:
            return call()
        except Exception as error:
            if not _is_passing(_cause(error)):
                raise
        time.sleep(FIRST_WAIT * 2**attempt)
    return call()


def _is_passing(error: BaseException) -> bool:
    """Return whether an error may be gone in a while: the server's, or the line's."""
    from huggingface_hub.errors import HfHubHTTPError

    if not isinstance(error, HfHubHTTPError):
        return isinstance(error, _line_error())
    status = _status(error)
    return status is not None and (status >= 500 or status == 429)


def _line_error() -> type[Exception]:
    """Return what errors of the line are: those of the library for HTTP, another one in each version."""
    from huggingface_hub.errors import HfHubHTTPError

    base: type[Exception] = HfHubHTTPError.__bases__[0]
    return base


def _status(error: Any) -> int | None:
    response = getattr(error, "response", None)
    return None if response is None else int(response.status_code)


@contextmanager
def in_one_line(place: Place, doing: str) -> Iterator[None]:
    """Turn what goes wrong on the Hub into one line: what was requested, what the Hub says, what to do.

    Args:
        place: of what.
        doing: what is done to it, such as "publishing".

    Raises:
        OutputError: for what the caller has to change: a token, a right, a name, a conflict.
        HubError: for what the server or the line did.
    """
    log = logging.getLogger("huggingface_hub")
    level = log.level
    log.setLevel(logging.ERROR)  # it warns of each failed try; the last one's error is raised here
    try:
        yield
    except Exception as error:
        explained = _explain(_cause(error), place, doing)
        if explained is None:
            raise
        raise explained from None
    finally:
        log.setLevel(level)


def _cause(error: Exception) -> Exception:
    """Return what happened: the library says what failed, an upload or a download, and why behind it."""
    from huggingface_hub.errors import LocalEntryNotFoundError

    inner = error.__cause__
    wrapped = isinstance(error, RuntimeError | LocalEntryNotFoundError)
    return inner if wrapped and isinstance(inner, Exception) else error


_REFUSALS: dict[int, str] = {
    401: "the token isn't valid; hf auth login, or HF_TOKEN, gives another",
    403: "the token may not write there; it needs the right to write, in a namespace of yours",
    409: "somebody else changed it meanwhile; look at it, and run the same command again",
    412: "somebody else changed it meanwhile; look at it, and run the same command again",
    413: "the Hub finds it too large",
    422: "the Hub found another checksum than was sent; run the same command again",
}
"""Advice for the caller by HTTP status."""


def _explain(error: Exception, place: Place, doing: str) -> Exception | None:
    """Return an error that says what happened, in one line; None for one that isn't the Hub's."""
    from huggingface_hub import errors

    for kind, words in {
        errors.LocalTokenNotFoundError: "it takes a token: hf auth login, or HF_TOKEN",
        errors.OfflineModeIsEnabled: "it takes the network, but HF_HUB_OFFLINE is set",
        errors.GatedRepoError: "it is gated; ask for access on its page",
        errors.RevisionNotFoundError: "there is no such revision; leave it out for the newest",
        errors.RepositoryNotFoundError: f"the Hub knows no such {place.kind}; it takes the right name, and a "
        "token that may see it",
    }.items():
        if isinstance(error, kind):
            return OutputError(f"{doing} {place}: {words}")
    if isinstance(error, errors.HfHubHTTPError):
        status = _status(error)
        if status in _REFUSALS:
            return OutputError(f"{doing} {place}: {_REFUSALS[status]} (HTTP {status})")
        return HubError(f"{doing} {place}: the Hub answered HTTP {status} {TRIES} times; try again later")
    if isinstance(error, _line_error()):
        reason = escape(next(iter(str(error).splitlines()), "") or type(error).__name__)
        return HubError(f"{doing} {place}: the line to the Hub failed ({reason}); try again")
    return None
