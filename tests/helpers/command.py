"""The command, run in this process."""

import io
import json
from contextlib import redirect_stderr, redirect_stdout

import pytest

from cli.main import main


def sraven(*arguments):
    """Run the command in this process; return exit code, output and errors.

    What ``--json`` prints, of any command in any test, is an object or a list, or nothing but an error.
    """
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as stop:
        main([str(argument) for argument in arguments])
    if "--json" in arguments and out.getvalue():
        assert isinstance(json.loads(out.getvalue()), dict | list)
    return stop.value.code, out.getvalue(), err.getvalue()
