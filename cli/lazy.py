"""A group of commands that imports a command's module only when the command runs."""

import re
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import Any

import click
from click.shell_completion import CompletionItem

from cli.completion import with_values

_SUMMARY = re.compile(r'"""(.+)"""')


@cache
def read_summaries(package: str, names: tuple[str, ...]) -> Mapping[str, str]:
    """Return the names of commands, each with the summary that its module begins with.

    The modules are read, and not imported: `sraven --help` is to answer at once.

    Args:
        package: where the modules are, or packages for groups of commands.
        names: of the commands.
    """
    summaries = {}
    for name in names:
        folder = files(package)
        module = folder / f"{name}.py"
        with (module if module.is_file() else folder / name / "__init__.py").open(encoding="utf-8") as text:
            found = _SUMMARY.match(text.readline())
        assert found, f"{package}.{name} has to begin with its summary, as text on one line"
        summaries[name] = found[1]
    return summaries


class LazyGroup(click.Group):
    """Finds command ``x`` as ``command`` in module ``x`` of a package.

    Others can be added to it as to any group, with ``add_command``.

    Args:
        package: where the modules are.
        names: of the commands, in the order of the help.
    """

    def __init__(self, *args: Any, package: str = "", names: tuple[str, ...] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._package, self._names = package, names

    def summaries(self) -> Mapping[str, str]:
        """Return the names of the commands, in their order, with a line on each."""
        added = {name: command.get_short_help_str(100) for name, command in self.commands.items()}
        return {**read_summaries(self._package, self._names), **added}

    def load(self, name: str) -> click.Command:
        """Return a command that there is."""
        if name in self.commands:
            return self.commands[name]
        command = import_module(f"{self._package}.{name}").command
        assert isinstance(command, click.Command)
        return command

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names, in the order of the summaries."""
        return list(self.summaries())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command; if a shell completes a line, it offers its values."""
        if cmd_name not in self.summaries():
            return None
        command = self.load(cmd_name)
        return with_values(command) if ctx.resilient_parsing else command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the commands that begin so, from the summaries: none is imported."""
        found = self.summaries().items()
        commands = [CompletionItem(name, help=text) for name, text in found if name.startswith(incomplete)]
        return commands or click.Command.shell_complete(self, ctx, incomplete)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that arguments begin with; the nearest ones are named if there is no such."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            near = get_close_matches(args[0], self.summaries(), n=2, cutoff=0.6)
            guess = f"; did you mean {' or '.join(near)}?" if near else ""
            raise click.UsageError(f"{error.message.rstrip('.')}{guess}", error.ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands from the summaries, so that help imports none of them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(self.summaries().items()))
