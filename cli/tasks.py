"""Tasks by the name that configurations give them."""

from collections.abc import Callable, Mapping
from typing import Any

from fuzzylogic.task import FuzzyLogic
from sraven.core.errors import ConfigurationError
from sraven.core.spec import BENCHMARK_VERSION
from sraven.core.task import Task
from sraven.task import SRAVEN

TASKS: dict[str, Callable[..., Task]] = {"sraven": SRAVEN, "fuzzylogic": FuzzyLogic}


def make_task(config: Mapping[str, Any]) -> Task:
    """Return the task of a configuration, as a manifest holds it.

    Raises:
        ConfigurationError: for an unknown task, another version, or values out of range.
    """
    if not isinstance(config, Mapping):
        raise ConfigurationError(f"the configuration is {config!r}; expected names and values")
    values = dict(config)
    name, version = values.pop("task", None), values.pop("version", None)
    if not isinstance(name, str) or name not in TASKS:
        raise ConfigurationError(f"task={name!r}: expected one of {', '.join(TASKS)}")
    if version != BENCHMARK_VERSION:
        raise ConfigurationError(f"version={version!r}: this is benchmark version {BENCHMARK_VERSION!r}")
    try:
        return TASKS[name](**values)
    except TypeError as error:
        raise ConfigurationError(f"the configuration of task {name!r} is wrong: {error}") from None
