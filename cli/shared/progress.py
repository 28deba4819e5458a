"""Progress bars of long work, and the message when it ends early."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.shared.options import OF_PLACE

if TYPE_CHECKING:
    from rich.progress import ProgressColumn


STOPPING = "ends with a checkpoint after the steps at hand; once more ends at once, without"
"""What is said when a signal asks training to end."""


class Stopped(click.ClickException):
    """Work that ended early, with what to do about it."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code  # type: ignore[misc]  # click declares it on the class


@contextmanager
def interruptible(meaning: str) -> Iterator[None]:
    """Say of work that is interrupted what that means.

    Raises:
        Stopped: in place of the interrupt.
    """
    try:
        yield
    except KeyboardInterrupt:
        raise Stopped(f"interrupted; {meaning}", 130) from None


@contextmanager
def resumable(out: Path, start: str = "here") -> Iterator[None]:
    """Say of work on a directory that ends early, by an interrupt or a full disk, how it goes on.

    Args:
        out: the directory.
        start: where it goes on from.

    Raises:
        Stopped: in their place.
    """
    again = f"the same command goes on from {start}"
    try:
        with interruptible(again):
            yield
    except OSError as error:
        if error.errno in OF_PLACE:
            raise  # going on there would end the same way
        where = f" ({error.filename})" if error.filename else ""
        raise Stopped(
            f"{out} is unfinished: {error.strerror or error}{where}; mend that, and {again}", 1
        ) from None


Counts = Callable[..., None]
"""Is called with one number, or two; or with one and a note to show beside the bar."""


@contextmanager
def _bar(description: str, total: int | None, *columns: "ProgressColumn") -> Iterator[Counts]:
    """Show a bar on standard error, if that is a terminal, with more columns; yield what updates it."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    hidden = console.quiet = not console.is_terminal  # quiet: Rich before 15 ends a hidden bar's line
    done = "{task.completed:,.0f}" + ("/{task.total:,.0f}" if total else "")  # such as 1,024/20,000
    first = TextColumn("{task.description}"), BarColumn(bar_width=None), TextColumn(done)
    last = TimeRemainingColumn(), TextColumn("{task.fields[note]}")
    shown = *first, *columns, *last
    with Progress(*shown, console=console, transient=True, disable=hidden, expand=True) as progress:
        yield partial(progress.update, progress.add_task(description, total=total, note=""))


@contextmanager
def progress_bar(description: str, total: int) -> Iterator[Counts]:
    """Show a bar on standard error, if that is a terminal; yield what advances it."""
    with _bar(description, total) as update:
        yield lambda count, note="": update(advance=count, note=note)


@contextmanager
def parts_bar(
    description: str, total: int | None, noun: str = "instances", parts: str = "shards"
) -> Iterator[tuple[Counts, Counts]]:
    """Show a bar of what is done, its rate, and the parts that are done.

    Yields a callback for how many more, and one for parts that are done and how many there are.

    Args:
        description: what is done.
        total: of all; None if that isn't known.
        noun: of what is done.
        parts: what the parts are called.
    """
    from rich.progress import ProgressColumn, Task
    from rich.text import Text

    class Rate(ProgressColumn):
        """Since the work began, on all machines together."""

        def render(self, task: Task) -> Text:
            done, seconds = task.completed, task.elapsed
            return Text(f"{done / seconds:,.0f} {noun}/s" if done and seconds else "")

    with _bar(description, total, Rate()) as update:
        yield (
            lambda count, *_: update(advance=count),
            lambda done, of: update(note=f"{done:,}/{of:,} {parts}"),
        )


@contextmanager
def doing(what: str) -> Iterator[Callable[[str], None]]:
    """Show on a terminal what is being done; yield a callback for the next thing."""
    from rich.console import Console

    with Console(stderr=True).status(what) as status:
        yield status.update
