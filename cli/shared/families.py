"""Groups of commands that are imported when they are needed; and those that every family of tasks has.

The latter, generate, show and ambiguity, are made of its `Family`: their options are the fields of its tasks'
dataclass, which is the home of each default and help.
"""

from difflib import get_close_matches
from importlib import import_module
from inspect import cleandoc
from typing import Any

import click

from cli.shared.progress import Stopped
from sraven.core.families import FAMILIES, find_family
from sraven.core.family import Family, Help

MAIN = "sraven"
"""The family whose commands need no group: `sraven generate`."""

_NEEDS = {"generate": "sizes", "show": "show", "ambiguity": "measure"}
"""The commands, each a module of `cli.commands`: what a family has to say for it to be there."""


class LazyGroup(click.Group):
    """Finds command ``x`` as ``command`` in module ``x`` of a package, whose text begins with its summary.

    Others can be added to it as to any group, with ``add_command``.

    Args:
        package: where the modules are.
        names: of the commands, in the order of the help.
    """

    def __init__(self, *args: Any, package: str = "", names: tuple[str, ...] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._package, self._names = package, names

    def load(self, name: str) -> click.Command:
        """Return a command that there is."""
        if name in self.commands:
            return self.commands[name]
        module = import_module(f"{self._package}.{name}")
        command: click.Command = module.command
        command.short_help = (module.__doc__ or "").partition("\n")[0]
        return command

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands, in their order."""
        return [*self._names, *self.commands]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command; None if there is no such."""
        return self.load(cmd_name) if cmd_name in self.list_commands(ctx) else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that arguments begin with; the nearest ones are named if there is no such."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            near = get_close_matches(args[0], self.list_commands(ctx), n=2, cutoff=0.6)
            guess = f"; did you mean {' or '.join(near)}?" if near else ""
            raise click.UsageError(f"{error.message.rstrip('.')}{guess}", error.ctx) from None


def _help_of(family: Family, name: str) -> Help:
    """Return what the help says of a command, the family's own words or plain ones."""
    summaries = {
        "generate": f"Write a dataset of {family.name} that load_dataset loads.",
        "show": f"Look at {family.nouns}.",
        "ambiguity": f"Measure what {family.nouns} leave open.",
    }
    plain = Help(summaries[name], f"{summaries[name]}\n\n\b\nExample:\n  sraven {family.commands} {name}\n")
    return family.helps.get(name, plain)


def commands_of(family: Family) -> list[str]:
    """Return the names of the commands that a family has."""
    return [name for name, needed in _NEEDS.items() if getattr(family, needed)]


def make_command(family: Family, name: str) -> click.Command:
    """Return a command of a family, which imports its tasks' module."""
    said, module = _help_of(family, name), import_module(f"cli.commands.{name}")
    return click.command(name=name, help=cleandoc(said.text), short_help=said.summary)(module.make(family))


class FamilyGroup(LazyGroup):
    """The commands of a family, each made when it is used."""

    def __init__(self, family: Family) -> None:
        text = family.text or f"Tasks of the family {family.name}."
        names = tuple(commands_of(family))
        summary = family.summary or f"Another task: {', '.join(names)}."
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
