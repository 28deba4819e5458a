"""Public names that are imported on first access (PEP 562): importing their package costs nothing.

A package's ``__init__`` runs before the command has made sure of what it imports, so nothing is imported
here but what Python has loaded anyway.
"""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(
    package: str, modules: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package.

    For who checks types, the package imports the same names ``as`` themselves below ``TYPE_CHECKING``.

    Args:
        package: its name.
        modules: the public names by the module that defines them, separated by spaces; ``name:defined``
            where it is called otherwise there.
    """
    words = ((word.partition(":"), module) for module, names in modules.items() for word in names.split())
    homes = {name: (module, defined or name) for (name, _, defined), module in words}

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, defined = homes[name]
        try:
            value = getattr(import_module(module), defined)
        except AttributeError as error:  # Python would say that there is no such name, whatever the cause
            raise ImportError(f"{module} can't be imported: {error}") from error
        setattr(sys.modules[package], name, value)
        return value

    return find, lambda: sorted({*vars(sys.modules[package]), *homes}), sorted(homes)
