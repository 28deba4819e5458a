"""Names that are imported on first access."""

import sys
from types import ModuleType

import pytest

from sraven.core.lazy import lazy_names


def test_what_breaks_an_import_is_said(monkeypatch):
    """As where Numba takes a folder ``coverage`` of the working directory for the package, and fails."""
    find, _, _ = lazy_names("sraven", {"sraven.task": "SRAVEN"})
    monkeypatch.setitem(sys.modules, "sraven.task", ModuleType("x"))
    with pytest.raises(ImportError, match=r"^sraven\.task can't be imported: module 'x' has no attribute"):
        find("SRAVEN")
