"""The task families by name. They are found by name, so that the core imports none of them."""

from collections.abc import Mapping
from pkgutil import resolve_name
from typing import Any

from sraven.core.ground.errors import ConfigurationError
from sraven.core.system.packages import check_packages
from sraven.core.tasks.task import Task
from sraven.core.tasks.versions import check_version

FAMILIES = {"sraven": "sraven.task:SRAVEN", "fuzzylogic": "fuzzylogic.task:FuzzyLogic"}
"""The class of each family's tasks, which generate their instances."""

CORPORA = {"c4": "baselines.lm.task:C4"}
"""The class of each task whose instances are a corpus: boards have it, but nothing makes datasets of it."""


def package_of(family: str) -> str:
    """Return the package of a family of either kind, which holds its boards."""
    return (FAMILIES | CORPORA)[family].partition(":")[0].rpartition(".")[0]


def _make(config: Mapping[str, Any], classes: Mapping[str, str]) -> Task:
    if not isinstance(config, Mapping):
        raise ConfigurationError(f"the configuration is {config!r}; expected names and values")
    values = dict(config)
    name = values.pop("task", None)
    if not isinstance(name, str) or name not in classes:
        raise ConfigurationError(f"task={name!r}: expected one of {', '.join(classes)}")
    check_version(values.get("version"))  # first, since another version may have other names
    try:
        check_packages(classes[name].partition(".")[0])
        task: Task = resolve_name(classes[name])(**values)
    except TypeError as error:
        raise ConfigurationError(f"the configuration of task {name!r} is wrong: {error}") from None
    return task


def make_task(config: Mapping[str, Any]) -> Task:
    """Return the task of a configuration, as the manifest of a dataset holds it.

    Raises:
        ConfigurationError: for a task that generates nothing, an unknown version, or values out of range.
    """
    return _make(config, FAMILIES)


def make_board_task(config: Mapping[str, Any]) -> Task:
    """Return the task of a configuration, as a board holds it: it may also be that of a corpus.

    Raises:
        ConfigurationError: for an unknown task or version, or values out of range.
    """
    return _make(config, FAMILIES | CORPORA)
