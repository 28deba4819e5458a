"""Options that commands share, and how they print."""

import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import reduce, wraps
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

import click

from sraven.core.ground.jsonable import as_json
from sraven.core.system.isolation import elsewhere

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

F = TypeVar("F", bound=Callable[..., Any])


class Stopped(click.ClickException):
    """Work that ended early, with what to do about it."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code  # type: ignore[misc]  # click declares it on the class


def size_option(name: str, default: int, help_text: str) -> Callable[[F], F]:
    """Return an option for the number of instances of a split."""
    return click.option(name, type=int, default=default, show_default=True, help=help_text)


def join_options(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Return a decorator that adds several options, in this order."""
    return lambda function: reduce(lambda decorated, option: option(decorated), reversed(options), function)


def argument_of(
    name: str, make: Callable[..., Any], *options: Callable[[F], F], parts: Iterable[str] | None = None
) -> Callable[[F], F]:
    """Return a decorator that adds options and hands the command what is made of them, as one argument.

    Args:
        name: of the argument.
        make: returns it; its parameters are the options' names, those with a default optional.
        options: what to add.
        parts: the options' names; None for the parameters of ``make``.
    """
    names = list(signature(make).parameters if parts is None else parts)

    def decorate(command: F) -> F:
        @wraps(command)
        def with_argument(**values: Any) -> Any:
            chosen = {part: values.pop(part) for part in names if part in values}
            return command(**{name: make(**chosen)}, **values)

        return join_options(*options)(cast(F, with_argument))

    return decorate


threads_option = click.option("--threads", type=click.IntRange(1), help="Threads to use.  [default: all]")
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")

output_options = join_options(
    click.option(
        "--format",
        "file_format",
        default="parquet",
        show_default=True,
        metavar="parquet|arrow",
        help="Format of the files.",
    ),
    click.option(
        "--out", type=click.Path(path_type=Path), help="Directory to write.  [default: named after the task]"
    ),
    threads_option,
    click.option("--force", is_flag=True, help="Replace another dataset in the same place."),
    json_option,
)
"""Options of commands that write a dataset."""

which_options = join_options(
    click.option("--split", default="train", show_default=True, help="Split to look into, or all."),
    click.option("--index", type=int, default=0, show_default=True, help="First instance to show."),
    click.option(
        "-n", "--count", type=click.IntRange(1, 1000), default=1, show_default=True, help="How many to show."
    ),
)
"""Options that choose instances to show."""


def print_json(value: Any) -> None:
    """Print a value as JSON on standard output; dataclasses may be in it."""
    click.echo(json.dumps(as_json(value), indent=2, allow_nan=False))


def _console(width: int | None = 200) -> "Console":
    """Return standard output, of a given width where it isn't a terminal."""
    from rich.console import Console

    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=width)


def print_table(table: "Table") -> None:
    """Print a table on standard output."""
    _console().print(table)


def print_renderables(renderables: "Iterable[RenderableType]") -> None:
    """Print what `rich` can render on standard output, one below the other."""
    console = _console(None if "COLUMNS" in os.environ else 200)
    for renderable in renderables:
        console.print(renderable)


@contextmanager
def needs_extra(what: str, extra: str) -> Iterator[None]:
    """Import what an extra installs; one line says so if it isn't there."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise click.UsageError(f"{what} needs {error.name}: pip install 'sraven[{extra}]'") from None


@contextmanager
def one_picture(count: int) -> Iterator[None]:
    """Import what draws; one line says so if that isn't installed, or if more is asked than one."""
    if count != 1:
        raise click.UsageError(f"--png shows one instance, but --count is {count}; leave out one of them")
    with elsewhere(), needs_extra("--png", "analysis"):
        yield


class Advance(Protocol):
    """Moves a progress bar."""

    def __call__(self, count: int, note: str = "") -> None:
        """Add to what is done, and show a note beside it."""


@contextmanager
def progress_bar(description: str, total: int) -> Iterator[Advance]:
    """Show a bar on standard error, if that is a terminal; yield what advances it."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=None),  # whatever the words leave
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
    )
    hidden = console.quiet = not console.is_terminal  # quiet: Rich before 15 ends a hidden bar's line
    with Progress(*columns, console=console, transient=True, disable=hidden, expand=True) as progress:
        bar = progress.add_task(description, total=total, note="")
        yield lambda count, note="": progress.update(bar, advance=count, note=note)
