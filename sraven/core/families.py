"""The task families by name. They are found by name, so that the core imports none of them."""

from collections.abc import Mapping
from pkgutil import resolve_name
from typing import Any

from sraven.core.errors import ConfigurationError
from sraven.core.spec import BENCHMARK_VERSION
from sraven.core.task import Task

FAMILIES = {"sraven": "sraven.task:SRAVEN", "fuzzylogic": "fuzzylogic.task:FuzzyLogic"}
"""The class of each family's tasks. A family's name is that of its package, which holds its boards."""


def make_task(config: Mapping[str, Any]) -> Task:
    """Return the task of a configuration, as a manifest or a board holds it.

    Raises:
        ConfigurationError: for an unknown task, another version, or values out of range.
    """
    if not isinstance(config, Mapping):
        raise ConfigurationError(f"the configuration is {config!r}; expected names and values")
    values = dict(config)
    name, version = values.pop("task", None), values.pop("version", None)
    if not isinstance(name, str) or name not in FAMILIES:
        raise ConfigurationError(f"task={name!r}: expected one of {', '.join(FAMILIES)}")
    if version != BENCHMARK_VERSION:
        raise ConfigurationError(f"version={version!r}: this is benchmark version {BENCHMARK_VERSION!r}")
    try:
        task: Task = resolve_name(FAMILIES[name])(**values)
    except TypeError as error:
        raise ConfigurationError(f"the configuration of task {name!r} is wrong: {error}") from None
    return task
