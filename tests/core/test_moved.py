"""Modules by the names that they had before."""

import sys
from importlib import import_module

import pytest

from sraven.core.moved import MOVED


@pytest.mark.parametrize("old", MOVED)
def test_a_module_is_the_same_by_its_old_name(old, monkeypatch):
    monkeypatch.delitem(sys.modules, old, raising=False)
    with pytest.warns(DeprecationWarning, match=f"{old} is {MOVED[old]} now"):
        assert import_module(old) is import_module(MOVED[old])
