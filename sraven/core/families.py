"""The task families by name. They are found by name, so that the core imports none of them."""

from collections.abc import Mapping
from functools import cache
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, cast

from sraven.core.errors import ConfigurationError
from sraven.core.escape import escape
from sraven.core.family import Family
from sraven.core.packages import PACKAGES, check_packages
from sraven.core.versions import check_version

if TYPE_CHECKING:
    from sraven.core.roles import Task

FAMILIES = {
    "sraven": "sraven.family:FAMILY",
    "fuzzylogic": "fuzzylogic.family:FAMILY",
    "sraven-text": "sraven.text.family:FAMILY",
    "sraven-twins": "sraven.twins.family:FAMILY",
    "sraven-text-twins": "sraven.text.family:TWINS",
}
"""The place of each `Family`, by name. An entry here is all that registers one."""


@cache
def _load(reference: str) -> Family:
    package = reference.partition(".")[0]
    if package in PACKAGES:
        check_packages(package)
    family = resolve_name(reference)
    assert isinstance(family, Family), f"{reference} is no family"
    return family


def find_family(name: str) -> Family:
    """Return a family by its name, one of `FAMILIES`."""
    return _load(FAMILIES[name])


def generating_families() -> tuple[str, ...]:
    """Return the names of the families that generate their instances, as rows of a dataset."""
    return tuple(name for name in FAMILIES if find_family(name).sizes)


# Configurations


def _make(config: Mapping[str, Any], with_rows: bool) -> Any:
    """Return the task of a configuration, whose family may have to have rows."""
    if not isinstance(config, Mapping):
        raise ConfigurationError(f"the configuration is {config!r}; expected names and values")
    values = dict(config)
    name = values.pop("task", None)
    if not isinstance(name, str) or name not in FAMILIES or (with_rows and not find_family(name).sizes):
        allowed = generating_families() if with_rows else FAMILIES
        raise ConfigurationError(f"task={name!r}: expected one of {', '.join(allowed)}")
    check_version(values.get("version"))  # first, since another version may have other names
    try:
        return find_family(name).task(**values)
    except TypeError as error:
        raise ConfigurationError(
            f"the configuration of task {name!r} is wrong: {escape(str(error))}"
        ) from None


def make_task(config: Mapping[str, Any]) -> "Task":
    """Return the task of a configuration, as the manifest of a dataset holds it.

    Raises:
        ConfigurationError: for a task that generates nothing, an unknown version, or values out of range.
    """
    return cast("Task", _make(config, with_rows=True))


def make_board_task(config: Mapping[str, Any]) -> "Task":
    """Return the task of a configuration, as a board holds it: it may have no datasets of its own.

    Raises:
        ConfigurationError: for an unknown task or version, or values out of range.
    """
    return cast("Task", _make(config, with_rows=False))
