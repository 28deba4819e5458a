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

ROOT = Path(__file__).resolve().parents[2]
"""The folder of the project's packages."""

PACKAGES = ("sraven", "fuzzylogic", "baselines", "cli")

_MARK = '__part_of__ = "sraven"'
"""A line of each package's ``__init__``: a foreign file in its place lacks it."""

_REINSTALL = "install sraven again with pip install --force-reinstall --no-deps"


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
        raise InstallationError(f"{folder / '__init__.py'} is missing; {_REINSTALL}")
    found = Path(spec.origin).resolve()
    if found.parent != folder:
        raise InstallationError(
            f"SRAVEN's package {name} is in {ROOT}, but Python finds {found} first; rename that, "
            f"uninstall it, or take its folder off Python's path"
        )
    source = getattr(spec.loader, "get_source", lambda name: None)(name)
    if source is not None and _MARK not in source.splitlines():
        raise InstallationError(
            f"{found} isn't SRAVEN's: another project's was put over it; uninstall that, and {_REINSTALL}"
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
