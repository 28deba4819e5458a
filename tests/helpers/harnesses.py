"""What tests of harnesses for language models need."""

from importlib.util import find_spec

import pytest


def needs(extra, *modules):
    """Skip what lacks a module, and say which extra has it. None is imported: that takes long."""
    if lacking := [name for name in modules if find_spec(name) is None]:
        pytest.skip(f"{', '.join(lacking)}: see the extra {extra}", allow_module_level=True)
