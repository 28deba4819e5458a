"""The commands that every family of tasks has: made of the family, their options of its tasks' fields."""

import json
from dataclasses import fields
from pkgutil import resolve_name

import pytest

from cli.main import cli
from cli.shared.families import summaries
from sraven import SRAVEN
from sraven.core.base.spec import settings_of
from sraven.core.tasks import families
from sraven.core.tasks.families import FAMILIES, find_family, generating_families
from sraven.core.tasks.family import Family

TASKS = {name: resolve_name(find_family(name).task)() for name in generating_families()}


@pytest.mark.parametrize("name", generating_families())
def test_options_are_the_fields_of_the_task(name):
    task, commands = TASKS[name], summaries(find_family(name))
    settings = settings_of(type(task))
    assert next(iter(commands)) == "generate"
    assert set(settings) == {field.name for field in fields(task)}
    for command in commands:
        group = cli if name == "sraven" else cli.load(find_family(name).commands)
        options = {option.name: option for option in group.load(command).params}
        for field, (default, setting) in settings.items():
            if command == "ambiguity" and not setting.measured:
                assert field not in options
                continue
            assert options[field].help == setting.meaning
            if isinstance(default, bool):
                assert options[field].is_flag
            elif default is not None:
                assert options[field].default == default


def test_default_task_of_the_commands_is_that_of_python(run):
    for name in ("sraven", "fuzzylogic"):
        group = [] if name == "sraven" else [name]
        _, out, _ = run(*group, "ambiguity", "-n", 2, "--json")
        assert json.loads(out)["config"] == TASKS[name].config


def test_entry_registers_a_family(monkeypatch, done):
    """An entry alone gives a family its commands; the words are made up where it says none."""
    twin = Family(
        name="twin",
        package="fuzzylogic",
        task="fuzzylogic.task:FuzzyLogic",
        rows="fuzzylogic.record:FuzzyLogicRows",
        scoring="fuzzylogic.scoring:FuzzyLogicScoring",
        references="fuzzylogic.references:FuzzyLogicReferences",
        nouns="sequences",
        sizes=find_family("fuzzylogic").sizes,
    )
    load = families._load
    monkeypatch.setattr(families, "_load", lambda name: twin if name == "twin:FAMILY" else load(name))
    monkeypatch.setitem(FAMILIES, "twin", "twin:FAMILY")
    assert generating_families()[-1] == "twin" and list(summaries(twin)) == ["generate"]
    assert "Another task: generate." in done("--help")
    out = done("twin", "generate", "--help")
    assert "Example:\n    sraven twin generate" in out and "--unseen-terms" in out


def test_count_has_the_defaults_of_the_task(run):
    _, out, _ = run("count", "--json")
    counted = json.loads(out)
    assert (counted["M"], counted["K"]) == (SRAVEN().M, SRAVEN().K)
