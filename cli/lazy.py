"""A group of commands that imports a command's module only when the command runs."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click


class LazyGroup(click.Group):
    """Finds command ``x`` as ``command`` in module ``x`` of a package.

    Args:
        package: where the modules are.
        summaries: the commands' names, with a line on each for the help.
    """

    def __init__(self, *args: Any, package: str, summaries: Mapping[str, str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._package, self._summaries = package, summaries

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names, in the order of the summaries."""
        return list(self._summaries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in self._summaries:
            return None
        command = import_module(f"{self._package}.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands from the summaries, so that help imports none of them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(self._summaries.items()))
