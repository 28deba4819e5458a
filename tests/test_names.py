"""Whatever the documentation and the texts of the code name is there: modules, what is in them, and files."""

import re
import subprocess
from inspect import get_annotations
from pkgutil import resolve_name

import pytest

from helpers.checkout import REPOSITORY

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


def is_there(name):
    """Tell whether there is a module of a dotted name, or what it names in one, such as a field of a class."""
    holder, _, last = name.rpartition(".")
    try:
        resolve_name(name)
    except (ImportError, AttributeError):
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
