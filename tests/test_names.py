"""Names in the documentation and in docstrings exist: modules, their members, and files."""

import re
import subprocess
from importlib import import_module
from inspect import get_annotations
from pkgutil import resolve_name

import pytest

from helpers.checkout import REPOSITORY

OURS = ("sraven", "fuzzylogic", "baselines", "cli")

DOTTED = re.compile(r"`((?:sraven|fuzzylogic|baselines|cli)(?:\.\w+)+)`")
FILE = re.compile(
    r"`((?:sraven|fuzzylogic|baselines|cli|tests|docs)/[\w/.-]+\.(?:py|md|yaml|toml|json|cfg))`"
)

LATER = {"docs/leaderboard/reproduced.yaml"}
"""Files that are made when there is something to write into them."""

TEXTS = [
    name
    for name in subprocess.run(
        ["git", "ls-files", "*.py", "docs/*.md", "*.md"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    if name != "CHANGELOG.md" and not name.startswith(("docs/leaderboard/submissions", "docs/results/"))
]


def found(pattern):
    """Return what a pattern finds, each with the texts that have it."""
    places = {}
    for name in TEXTS:
        for match in pattern.findall((REPOSITORY / name).read_text()):
            places.setdefault(match, []).append(name)
    return places


def lacks_an_extra(name):
    """Return whether a dotted name is of a module that needs what isn't installed, such as PyTorch."""
    try:
        import_module(name)
    except ModuleNotFoundError as error:
        return str(error.name).partition(".")[0] not in OURS
    return False


def is_there(name):
    """Return whether there is a module of a dotted name, or what it names in one, as a field of a class."""
    holder, _, last = name.rpartition(".")
    try:
        resolve_name(name)
    except (ImportError, AttributeError):
        if lacks_an_extra(name):
            return True
        try:
            return last in get_annotations(resolve_name(holder))
        except (ImportError, AttributeError, TypeError, ValueError):
            return False
    return True


@pytest.mark.filterwarnings("ignore")  # of modules that are imported
def test_names_of_modules_and_what_they_hold():
    assert {name: places for name, places in found(DOTTED).items() if not is_there(name)} == {}


def test_files():
    lacking = {name: places for name, places in found(FILE).items() if not (REPOSITORY / name).exists()}
    assert {name: places for name, places in lacking.items() if name not in LATER} == {}
