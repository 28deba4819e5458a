"""Programs of the harnesses run without a network."""

import inspect

import pytest

from helpers import offline
from helpers.harnesses import TESTS, environment
from helpers.python import python


@pytest.fixture(scope="session")
def run(tmp_path_factory):
    """Run a program that may not ask the network, in a folder; return what it prints."""
    start = tmp_path_factory.mktemp("start")
    forbids = inspect.getsource(offline) + "\n\nforbid_network()\n"
    (start / "sitecustomize.py").write_text(forbids)  # to every Python that starts
    # Not the checkout: beside it lies what a build left, which says nothing of how the project is installed.
    (start / "helpers").symlink_to(TESTS / "helpers")

    def run(folder, program, *words):
        settings = {**environment(start), "PYTHONPATH": str(start)}
        result = python(TESTS / "harness" / program, *words, cwd=folder, env=settings)
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout

    return run
