"""Fixtures of the command line's tests."""

import pytest

from cli.main import main


@pytest.fixture
def run(capsys):
    """Run a command line in this process; return exit code, standard output and error."""

    def run(*arguments):
        with pytest.raises(SystemExit) as stop:
            main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return stop.value.code, out, err

    return run
