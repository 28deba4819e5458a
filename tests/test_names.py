"""Names in the documentation and in docstrings exist: modules, their members, and files.

Lists that are written by hand, in help and on pages, have all names of their table."""

import re
import subprocess
from importlib import import_module
from inspect import get_annotations
from pkgutil import resolve_name

import pytest

from baselines.config import PRECISIONS
from baselines.model.attention import ACTIVATIONS, ATTENTION, MODULES
from baselines.model.config import POSITIONS
from baselines.model.feedforward import FEEDFORWARD
from baselines.model.networks import NETWORKS, OURS as OUR_NETWORKS
from baselines.recipes import RECIPES
from baselines.train.optim import LR_SCHEDULES, OPTIMISERS, WEIGHT_DECAY_MASKS
from helpers.checkout import REPOSITORY
from helpers.commands import find_command
from sraven import SRAVEN
from sraven.divisions import DIVISIONS
from sraven.rules import RULE_SETS

OURS = ("sraven", "fuzzylogic", "baselines", "cli")

DOTTED = re.compile(r"`((?:sraven|fuzzylogic|baselines|cli)(?:\.\w+)+)`")
FILE = re.compile(
    r"`((?:sraven|fuzzylogic|baselines|cli|tests|docs)/[\w/.-]+\.(?:py|md|yaml|toml|json|cfg))`"
)

PARTS = re.compile(rf"`(\w+)`,?\s+(?:in |of |from |\()\s*(?:the module )?{FILE.pattern}")

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


def test_what_a_page_names_of_a_file_is_in_that_file():
    places = {match: names for match, names in found(PARTS).items() if (REPOSITORY / match[1]).exists()}
    assert ("DIVIDE", "tests/helpers/oracle.py") in places
    text = {path: (REPOSITORY / path).read_text() for _, path in places}
    assert {match: names for match, names in places.items() if not has(text[match[1]], match[0])} == {}


def has(text, name):
    """Return whether a text has a name, by itself and not as a part of a longer one."""
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text) is not None


def option(line, name):
    """Return the help of an option of a command."""
    return next(each.help for each in find_command(line).params if each.name == name)


def page(name):
    """Return a page of the documentation."""
    return (REPOSITORY / "docs" / f"{name}.md").read_text()


TRAINING = {
    "network": OUR_NETWORKS,
    "activation": ACTIVATIONS,
    "feedforward": FEEDFORWARD,
    "position": POSITIONS,
    "lr_schedule": LR_SCHEDULES,
    "weight_decay_mask": WEIGHT_DECAY_MASKS,
    "optimiser": OPTIMISERS,
    "precision": PRECISIONS,
    "recipe": RECIPES,
}
LISTS = {
    **{
        f"sraven train --{name}": (lambda n=name: option("train", n), table)
        for name, table in TRAINING.items()
    },
    "sraven generate --holdout": (lambda: option("generate", "holdout"), DIVISIONS),
    "sraven generate --rules": (lambda: option("generate", "rule_set"), RULE_SETS),
    "SRAVEN": (lambda: SRAVEN.__doc__, DIVISIONS),
    "sraven.md, divisions": (lambda: page("sraven"), DIVISIONS),
    "sraven.md, rules": (lambda: page("sraven").replace("−", "-"), [rule.name for rule in RULE_SETS["ten"]]),
    "rules.md, metrics": (
        lambda: page("rules"),
        [name for name in SRAVEN(M=3, K=8).scoring.metrics if "." not in name],
    ),
    "baselines.md, attentions": (lambda: page("baselines"), [*ATTENTION, *MODULES]),
    "baselines.md, networks": (lambda: page("baselines"), OUR_NETWORKS),
    "api-baselines.md": (
        lambda: page("api-baselines"),
        [place.partition(":")[0] for place in MODULES.values()]
        + [make.__module__ for make in map(NETWORKS.get, OUR_NETWORKS) if isinstance(make, type)],
    ),
}


@pytest.mark.parametrize("place", LISTS)
def test_lists_have_all_names_of_their_table(place):
    read, names = LISTS[place]
    assert [name for name in names if not has(read(), name)] == []
