"""Programs that run a harness for language models: in a process of their own, told to stay offline."""

import json
import os
from importlib.util import find_spec
from pathlib import Path

import pytest

from helpers.python import python

TESTS = Path(__file__).parents[1]

# What is installed comes first: that is where the entry points are.
START = """
import runpy, sys
sys.path += sys.argv[1].split(":")
del sys.argv[:2]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def needs(extra, *modules):
    """Skip what lacks a module, and say which extra has it. None is imported: that takes long."""
    if lacking := [name for name in modules if find_spec(name) is None]:
        pytest.skip(f"{', '.join(lacking)}: see the extra {extra}", allow_module_level=True)


def environment(folder):
    """Return an environment in which nothing asks the network, and what a harness keeps is in a folder."""
    offline = dict.fromkeys(("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "TRANSFORMERS_OFFLINE"), "1")
    return {**os.environ, **offline, "XDG_DATA_HOME": str(folder), "HF_HOME": str(folder / "hf")}


def run_program(name, folder, *arguments):
    """Run a program of tests/harness in a folder; return what it prints, read as JSON."""
    words = [each if isinstance(each, str) else json.dumps(each) for each in arguments]
    line = "-c", START, f"{TESTS.parent}:{TESTS}", TESTS / "harness" / name, *words
    result = python(*line, cwd=folder, env=environment(folder))
    assert result.returncode == 0, result.stdout + result.stderr
    return json.loads(result.stdout)
