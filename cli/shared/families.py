"""The commands that every family of tasks has, made of its `Family`: generate, show, ambiguity.

Their options are the fields of its tasks' dataclass, which is the home of each default and help.
"""

from importlib import import_module
from inspect import cleandoc
from typing import Any

import click

from cli.lazy import LazyGroup
from cli.shared.progress import Stopped
from sraven.core.families import FAMILIES, find_family
from sraven.core.family import Family, Help

MAIN = "sraven"
"""The family whose commands need no group: `sraven generate`."""

_NEEDS = {"generate": "sizes", "show": "show", "ambiguity": "measure"}
"""The commands, each a module of `cli.commands`: what a family has to say for it to be there."""


def _help_of(family: Family, name: str) -> Help:
    """Return what the help says of a command, the family's own words or plain ones."""
    group = "" if family.name == MAIN else f"{family.commands} "
    summaries = {
        "generate": f"Write a dataset of {family.name} that load_dataset loads.",
        "show": f"Look at {family.nouns}.",
        "ambiguity": f"Measure what {family.nouns} leave open.",
    }
    plain = Help(summaries[name], f"{summaries[name]}\n\n\b\nExample:\n  sraven {group}{name}\n")
    return family.helps.get(name, plain)


def commands_of(family: Family) -> list[str]:
    """Return the names of the commands that a family has."""
    return [name for name, needed in _NEEDS.items() if getattr(family, needed)]


def _summary_of(family: Family) -> str:
    """Return what a list of commands says of a family's group."""
    return family.summary or f"Another task: {', '.join(commands_of(family))}."


def make_command(family: Family, name: str) -> click.Command:
    """Return a command of a family, which imports its tasks' module."""
    said, module = _help_of(family, name), import_module(f"cli.commands.{name}")
    return click.command(name=name, help=cleandoc(said.text), short_help=said.summary)(module.make(family))


class FamilyGroup(LazyGroup):
    """The commands of a family, each made when it is used."""

    def __init__(self, family: Family) -> None:
        text = family.text or f"Tasks of the family {family.name}."
        names, summary = tuple(commands_of(family)), _summary_of(family)
        super().__init__(family.commands, names=names, help=cleandoc(text), short_help=summary)
        self._family = family

    def load(self, name: str) -> click.Command:
        """Make a command."""
        return make_command(self._family, name)


class FamiliesGroup(LazyGroup):
    """Commands of modules, those of the main family, and a group for each other family that has some."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands, in their order: first what is about tasks."""
        about_tasks = [*commands_of(find_family(MAIN)), "count", *self._groups()]
        return list(dict.fromkeys([*about_tasks, *super().list_commands(ctx)]))

    def load(self, name: str) -> click.Command:
        """Import or make a command."""
        if name in commands_of(find_family(MAIN)):
            return make_command(find_family(MAIN), name)
        family = self._groups().get(name)
        return FamilyGroup(family) if family else super().load(name)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; an interrupt that it has nothing of its own to say of ends it in one line."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise Stopped("interrupted", 130) from None

    def _groups(self) -> dict[str, Family]:
        # A family for which there is a module, as for c4, has its commands there.
        own = {MAIN, *self._names, *self.commands}
        families = [find_family(name) for name in FAMILIES if name not in own]
        return {each.commands: each for each in families if commands_of(each)}
