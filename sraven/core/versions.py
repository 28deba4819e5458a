"""The versions of the benchmark: all that were ever published, for each can be made for ever.

A version is part of every random stream. A new one is a line in `VERSIONS`, which makes it the
default of new tasks; tasks, boards and datasets of the others go on as they were. What differs from
one version to the next stands in tables by version, which `latest` reads: so far what is scored by
combination (``BY_COMBINATION`` of the tasks). Rules are none of it: a task names its set of them.
"""

from collections.abc import Mapping
from typing import Any, TypeVar

from sraven.core.errors import ConfigurationError
from sraven.core.escape import escape
from sraven.core.spec import setting

T = TypeVar("T")


VERSIONS = {"1": "2026-11-20"}
"""The days on which they were published, by name, the oldest first. No line ever changes or goes."""


def current_version() -> str:
    """Return the version of new tasks: the newest."""
    return next(reversed(VERSIONS))


def version_setting() -> Any:
    """Return the field ``version`` of a task: by keyword, the newest unless another one is given."""
    return setting(
        current_version,
        "Version of the benchmark whose instances these are.  [default: the newest]",
        option="benchmark-version",
        values="VERSION",
    )


def check_version(version: Any) -> str:
    """Return a version if this installation can make it.

    Raises:
        ConfigurationError: if it can't, or the value is no version.
    """
    if not isinstance(version, str) or version not in VERSIONS:
        allowed = f"version{'s' * (len(VERSIONS) > 1)} {', '.join(map(repr, VERSIONS))}"
        raise ConfigurationError(
            f"version={escape(repr(version))}: this sraven makes benchmark {allowed}; another one takes a "
            "newer sraven"
        )
    return version


def latest(changes: Mapping[str, T], version: str) -> T:
    """Return what holds in a version, given what changed by version: the last change up to it.

    Args:
        changes: by the version that brought it; the first version must be there.
        version: one of `VERSIONS`.
    """
    order = list(VERSIONS)
    return [changes[name] for name in order[: order.index(check_version(version)) + 1] if name in changes][-1]
