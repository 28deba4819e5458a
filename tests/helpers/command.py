"""The command, run in this process."""

import io
from contextlib import redirect_stderr, redirect_stdout

import pytest

from cli.main import main


def sraven(*arguments):
    """Run the command in this process; return exit code, output and errors."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as stop:
        main([str(argument) for argument in arguments])
    return stop.value.code, out.getvalue(), err.getvalue()
