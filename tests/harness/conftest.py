"""Programs of the harnesses run without a network."""

import os

import pytest

from helpers.checkout import REPOSITORY
from helpers.python import python

TESTS = REPOSITORY / "tests"
OFFLINE = dict.fromkeys(("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "TRANSFORMERS_OFFLINE"), "1")


@pytest.fixture(scope="session")
def run(tmp_path_factory):
    """Run a program that may not ask the network, in a folder; return what it prints."""
    start = tmp_path_factory.mktemp("start")
    forbids = "from helpers.offline import forbid_network\n\nforbid_network()\n"
    (start / "sitecustomize.py").write_text(forbids)  # to every Python that starts
    # Not the checkout: beside it lies what a build left, which says nothing of how the project is installed.
    (start / "helpers").symlink_to(TESTS / "helpers")
    folders = {"PYTHONPATH": str(start), "XDG_DATA_HOME": str(start), "HF_HOME": str(start / "hf")}

    def run(folder, program, *words):
        settings = {**os.environ, **OFFLINE, **folders}
        result = python(TESTS / "harness" / program, *words, cwd=folder, env=settings)
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout

    return run
