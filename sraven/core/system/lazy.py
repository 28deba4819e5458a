"""Public names that are imported on first access (PEP 562): importing their package costs nothing.

A package's ``__init__`` runs before the command has made sure of what it imports, so nothing is imported
here but what Python has loaded anyway.
"""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package.

    Args:
        package: its name.
        homes: the module that defines each of its public names, with ":" and the name there if that is
            another one.
    """

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, _, defined = homes[name].partition(":")
        value = getattr(import_module(module), defined or name)
        setattr(sys.modules[package], name, value)
        return value

    return find, lambda: sorted({*vars(sys.modules[package]), *homes})
