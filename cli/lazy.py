"""A group of commands of which each has a module, which is imported when it is needed."""

from difflib import get_close_matches
from importlib import import_module
from typing import Any

import click


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
        command = module.command
        assert isinstance(command, click.Command)
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
