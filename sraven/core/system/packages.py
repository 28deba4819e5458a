"""Check that the project's packages are its own, as their names are common ones.

Another project may be installed over one of them, or lie in front of it on Python's path.
"""

from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path

from sraven.core.errors import InstallationError
from sraven.core.system.isolation import ROOT

PACKAGES = ("sraven", "fuzzylogic", "baselines", "cli")

_MARK = '__part_of__ = "sraven"'
"""A line of each package's ``__init__``: a foreign file in its place lacks it."""


def check_packages(*names: str) -> None:
    """Check that what Python finds by the names of packages of this project are these, importing none.

    Raises:
        InstallationError: (an ImportError) for the first that isn't; it says what it is, and what to do.
    """
    for name in names:
        _check(name)


@cache
def _check(name: str) -> None:
    folder, spec = ROOT / name, _find(name)
    if spec is None or spec.origin is None:  # a folder without this file is a namespace
        raise InstallationError(f"{folder / '__init__.py'} is missing; {_reinstall()}")
    found = Path(spec.origin).resolve()
    if found.parent != folder:
        raise InstallationError(
            f"SRAVEN's package {name} is in {ROOT}, but Python finds {_describe(found)} first; rename that, "
            f"uninstall it, or take its folder off Python's path"
        )
    source = getattr(spec.loader, "get_source", lambda name: None)(name)
    if source is not None and _MARK not in source.splitlines():
        raise InstallationError(
            f"{_describe(found)} isn't SRAVEN's: another project's was put over it; {_reinstall(found)}"
        )


def _find(name: str) -> ModuleSpec | None:
    """Return how Python would import a package, or has."""
    try:
        return find_spec(name)
    except ValueError:  # somebody made a module of that name by hand
        return None


def installed_versions(names: Iterable[str]) -> dict[str, str]:
    """Return the versions of distributions, as far as they are installed."""
    from importlib.metadata import PackageNotFoundError, version

    found = {}
    for name in names:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def _others(path: Path) -> list[str]:
    """Return the names of the other distributions that installed a file."""
    from importlib.metadata import distributions

    end = "/".join(path.parts[-2:])
    return sorted(
        {
            each.metadata["Name"]
            for each in distributions()
            for file in each.files or ()
            if str(file).endswith(end) and Path(str(each.locate_file(file))).resolve() == path
        }
        - {"sraven"}
    )


def _describe(path: Path) -> str:
    others = _others(path)
    return f"{path} (of {', '.join(others)})" if others else str(path)


def _reinstall(path: Path | None = None) -> str:
    others = _others(path) if path else []
    first = f"run pip uninstall {' '.join(others)}, then " if others else ""
    return f"{first}install sraven again with pip install --force-reinstall --no-deps"
