"""Modules by the names that they had before 0.2: each still imports as what it is now, with a warning."""

import sys
import warnings
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

MOVED = {
    "sraven.core.task": "sraven.core.roles",
    "sraven.core.estimate": "sraven.core.means",
    "sraven.core.composition": "sraven.scoring.combinations",
    "sraven.errors": "sraven.mistakes",
    "sraven.estimate": "sraven.measure",
    "sraven.scoring.errors": "sraven.scoring.mistakes",
    "fuzzylogic.errors": "fuzzylogic.mistakes",
    "fuzzylogic.estimate": "fuzzylogic.measure",
    "baselines.analysis.decoding": "baselines.analysis.probes",
}
"""Those that the documentation named, by their old names."""


class _Moved:
    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        return ModuleSpec(name, _moved) if name in MOVED else None

    def create_module(self, spec: ModuleSpec) -> None:
        """Leave it to Python."""

    def exec_module(self, module: ModuleType) -> None:
        old = module.__name__
        warnings.warn(f"{old} is {MOVED[old]} now", DeprecationWarning, stacklevel=2)
        sys.modules[old] = import_module(MOVED[old])


_moved: Any = _Moved()
sys.meta_path.insert(0, _moved)
