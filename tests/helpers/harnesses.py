"""Programs that run a harness for language models: in a process of their own, told to stay offline."""

import os
from importlib.util import find_spec
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]


def needs(extra, *modules):
    """Skip what lacks a module, and say which extra has it. None is imported: that takes long."""
    if lacking := [name for name in modules if find_spec(name) is None]:
        pytest.skip(f"{', '.join(lacking)}: see the extra {extra}", allow_module_level=True)


def environment(folder):
    """Return an environment in which nothing asks the network, and what a harness keeps is in a folder."""
    offline = dict.fromkeys(("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "TRANSFORMERS_OFFLINE"), "1")
    return {**os.environ, **offline, "XDG_DATA_HOME": str(folder), "HF_HOME": str(folder / "hf")}
