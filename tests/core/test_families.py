"""Families of tasks: one entry registers one; it is loaded on first use, and no other with it."""

import ast
import sys
from dataclasses import is_dataclass
from importlib import import_module
from inspect import getsource

import pytest

from helpers.python import python
from helpers.refusals import assert_refused
from sraven.core.families import FAMILIES, find_family, generating_families, make_board_task, make_task
from sraven.core.family import Family
from sraven.core.roles import References, Rows, Scoring, Task, Wording

TASKS = {name: find_family(name).task() for name in FAMILIES}
ROLES = {Rows: "rows", Scoring: "scoring", References: "references", Wording: "wording"}


def names_of(role):
    return {name for name in vars(role) if not name.startswith("_")}


def loaded_after(code, *prefixes):
    """Return the modules with these prefixes that a fresh Python has loaded after some code."""
    program = f"import sys\n{code}\nprint(*sorted(n for n in sys.modules if n.startswith({prefixes!r})))"
    return set(python("-c", program, check=True).stdout.split())


@pytest.mark.parametrize("name", FAMILIES)
def test_family_is_what_it_says_and_its_tasks_roles_are_what_they_ask(name):
    family, task = find_family(name), TASKS[name]
    assert isinstance(family, Family) and family.name == name == task.name
    assert not family.sizes or set(family.sizes) >= set(task.splits)
    assert is_dataclass(task) and names_of(Task) <= set(dir(task))
    for role, where in ROLES.items():
        if role is not (Wording if task.wording is None else Rows):
            found = getattr(task, where)
            assert found.task is task and names_of(role) <= set(dir(found))


@pytest.mark.parametrize("name", generating_families())
def test_rows_are_what_a_dataset_asks(name):
    task = TASKS[name]
    encoded = task.rows.encode("test", 3, 5, 1)
    assert list(encoded.columns) == [column.name for column in task.columns]
    assert task.rows.find_faults("test", encoded.columns) == []
    listed = {tally: array.tolist() for tally, array in encoded.tallies.items()}
    assert task.rows.remark(listed) and task.rows.describe({"test": encoded.tallies}).title


@pytest.mark.parametrize("make", [make_task, make_board_task])
@pytest.mark.parametrize("config", [{"task": "raven"}, {"task": ["sraven"]}, {}, [], {"task": None}])
def test_unknown_families_are_refused(make, config):
    assert_refused(r"expected (one of sraven, fuzzylogic|names and values)", make, config)


# Loading


@pytest.mark.parametrize("name", generating_families())
def test_one_family_loads_nothing_of_another(name):
    code = f"""
from sraven.core.families import make_task
task = make_task({dict(TASKS[name].config)!r})
task.sample("train", 0, 2), task.split("train", 3)[0], task.rows.columns, task.scoring.metrics
"""
    package = find_family(name).package
    own = package.partition(".")[0]  # twins are made of SRAVEN's parts
    packages = "sraven.", "fuzzylogic", "baselines", "cli", "jax", "torch", "grain", "rich", "datasets"
    found = loaded_after(code, *packages, package)
    assert {
        module
        for module in found
        if not module.startswith(("sraven.core", "sraven.files", "sraven.scoring", own))
    } == set()
    assert f"{package}.task" in found


def test_drawing_and_scoring_a_puzzle_loads_no_board():
    code = "import sraven; task = sraven.SRAVEN(); task.score('test', task.sample('test', 0, 2).target)"
    assert loaded_after(code, "sraven.board", "sraven.leaderboard", "sraven.files") == set()


def test_importing_the_packages_loads_next_to_nothing():
    code = "import sraven, fuzzylogic; dir(sraven), dir(fuzzylogic)"
    assert loaded_after(code, "numpy", "numba", "pyarrow", "sraven.task", "fuzzylogic.task") == set()
    code = "from sraven import *; import fuzzylogic; SRAVEN, fuzzylogic.FuzzyLogic"
    tasks = "sraven.task", "fuzzylogic.task"
    heavy = "jax", "datasets", "matplotlib", "torch", "pandas", "fuzzylogic.metrics"
    assert loaded_after(code, *heavy, *tasks) == set(tasks)


@pytest.mark.parametrize("package", ["sraven", "sraven.text", "sraven.twins", "fuzzylogic"])
def test_every_public_name_is_found_as_type_checkers_see_it(package):
    module = import_module(package)
    [block] = [node for node in ast.parse(getsource(module)).body if isinstance(node, ast.If)]
    seen = {}
    exec(compile(ast.Module(block.body, []), package, "exec"), seen)
    assert set(seen) - {"__builtins__", "board_ids"} == set(module.__all__) <= set(dir(module))
    for name in module.__all__:
        assert getattr(module, name) is seen[name]
    assert callable(sys.modules["sraven"].boards)  # no module hides it
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'nothing'"):
        _ = module.nothing
