"""A process that has imported the harnesses, whose forks run programs without a network."""

import inspect

import pytest

from helpers import offline
from helpers.forks import Forks
from helpers.harnesses import TESTS, environment


@pytest.fixture(scope="session")
def run(tmp_path_factory):
    """Run a program that may not ask the network, in a folder; return what it prints.

    What takes long to import is imported once: those that come later have it.
    """
    folder = tmp_path_factory.mktemp("start")
    forbids = inspect.getsource(offline) + "\n\nforbid_network()\n"
    (folder / "sitecustomize.py").write_text(forbids)  # to every Python that starts
    with Forks(folder, {**environment(folder), "PYTHONPATH": str(folder)}) as forks:

        def run(folder, program, *words, imports=()):
            result = forks.run(folder, TESTS / "harness" / program, *words, imports=imports)
            assert result.returncode == 0, result.stdout + result.stderr
            return result.stdout

        yield run
