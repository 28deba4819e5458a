"""Entry point of `sraven`: finds its commands, turns errors into one line."""

import os
import sys
import warnings
from contextlib import suppress
from io import TextIOWrapper
from typing import Any

import click

from cli.shared.families import FamiliesGroup
from cli.shared.options import OF_PLACE

COMMANDS = (
    "count",
    "merge",
    "verify",
    "publish",
    "export",
    "boards",
    "score",
    "errors",
    "compare",
    "plot",
    "submit",
    "leaderboard",
    "train",
    "curves",
    "reproduce",
    "c4",
    "evaluate",
    "analyse",
    "text",
    "reference",
    "freeze",
    "bench",
)
"""Names of commands, in the order of the help; command ``x`` is ``command`` in module
``x`` of the package, whose text begins with its summary. Those that every family of tasks has, such as
`sraven generate`, are made in `cli.shared.families`."""


_LONGEST = 2000
"""Characters of an error at most."""

_INTERRUPTED, _PIPE_CLOSED = 130, 128 + 13
"""The exit codes of an interrupt and of a reader that is gone, as a shell gives them."""


@click.group(
    cls=FamiliesGroup,
    package="cli.commands",
    names=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name="sraven", prog_name="sraven", message="%(prog)s %(version)s")
def cli() -> None:
    """SRAVEN: a benchmark for compositional generalisation in context.

    \b
    Example:
      sraven generate --M 4 --K 8 --holdout 0.25
      sraven COMMAND --help
    """


def _fail(message: str, code: int) -> int:
    line = " ".join(message.split())
    if len(line) > _LONGEST or not (line.isascii() and line.isprintable()):
        from sraven.core.escape import escape  # a message may repeat untrusted input

        line = escape(line, _LONGEST)
    click.echo(f"error: {line}", err=True)
    return code


def _show_log() -> None:
    """Show on a terminal what the library logs, such as that it compiles."""
    import logging

    log = logging.getLogger("sraven")
    log.setLevel(logging.INFO)
    log.addHandler(logging.StreamHandler())


def _run(arguments: list[str] | None) -> int:
    """Run the command line; return its exit code.

    2 stands for bad usage, a path or a network that can't be used included; 1 for a failed check or write, as
    on a full disk; 130 for an interrupt; 141 if who reads the output goes.
    """
    stdout = sys.stdout
    try:
        typed = sys.argv[1:] if arguments is None else arguments
        code = cli.main(arguments, prog_name="sraven", standalone_mode=False, obj=typed)
        sys.stdout.flush()  # a reader that is gone is found here, not when Python ends
        return code if isinstance(code, int) else 0
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return 2
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx else "sraven"
        return _fail(f"{error.format_message().rstrip('.')}; see {command} --help", 2)
    except click.ClickException as error:
        return _fail(error.format_message(), error.exit_code)
    except (click.Abort, KeyboardInterrupt) as error:
        if isinstance(error.__cause__, EOFError):  # which click takes for an interrupt, too
            return _fail(f"something that was read ends too early: {error.__cause__ or 'no more input'}", 1)
        return _fail("interrupted", _INTERRUPTED)
    except SystemExit as end:  # a closed pipe that rich found, or click, which puts a stream in its place
        if not isinstance(end.__context__, BrokenPipeError) and sys.stdout is stdout:
            raise
        return _PIPE_CLOSED
    except BrokenPipeError:  # as in `sraven show | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _PIPE_CLOSED
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        is_ours = type(error).__module__ == "sraven.core.errors"  # no network: nothing was checked
        return _fail(f"{where}{error.strerror or error}", 2 if is_ours or error.errno in OF_PLACE else 1)
    except ValueError as error:
        if type(error).__module__ != "sraven.core.errors":
            raise
        return _fail(str(error), 2)


def _format_warning(message: Warning | str, category: type[Warning], *where: Any, **line: Any) -> str:
    """Return a warning of the project's as one line; those of others name where they come from."""
    if category.__module__ == "sraven.core.errors":
        return f"warning: {message}\n"
    return _format_other(message, category, *where, **line)


_format_other = warnings.formatwarning


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit."""
    warnings.formatwarning = _format_warning
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # better a ? than a traceback
            stream.reconfigure(errors="replace")
    sys.exit(_run(arguments))


def console() -> None:
    """Run the command line of this process, and end it."""
    if sys.stderr.isatty():
        _show_log()
    try:
        main()
    except SystemExit as end:
        if end.code == _INTERRUPTED and "jax" in sys.modules:
            # XLA may be at work, and would find the interpreter gone.
            for stream in (sys.stdout, sys.stderr):
                with suppress(OSError, ValueError):
                    stream.flush()
            os._exit(_INTERRUPTED)
        raise
