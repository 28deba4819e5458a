"""Numba's settings come from NUMBA_* variables alone.

It also reads ``.numba_config.yaml`` of the working directory, when it is imported and whenever it
compiles. That file may name a folder of machine code or a class to import, and Numba offers no way to
switch it off. So its module of settings is run with the name of no file in the place of that name.
"""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import InspectLoader, Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

NOWHERE = os.path.join(os.devnull, "none")
"""A path at which there is never a file."""

_CONFIG, _FILE = "numba.core.config", ".numba_config.yaml"


class _WithoutFile(Loader):
    """Loads a module whose code names a file, with the name of no file in its place."""

    def __init__(self, loader: InspectLoader) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> None:
        """Leave it to Python."""

    def exec_module(self, module: ModuleType) -> None:
        code = self._loader.get_code(module.__name__)
        assert code is not None
        constants = (NOWHERE if each == _FILE else each for each in code.co_consts)
        exec(code.replace(co_consts=tuple(constants)), module.__dict__)  # noqa: S102  # Numba's own code


class _NumbaFinder(MetaPathFinder):
    """Finds the module in which Numba reads its settings, as soon as it is imported."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != _CONFIG:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and isinstance(spec.loader, InspectLoader):
            spec.loader = _WithoutFile(spec.loader)
        return spec


@contextmanager
def from_environment_alone() -> Iterator[None]:
    """Import Numba so that it reads no file of settings, now or later.

    If it has read one already, since the caller imported it before, what was there is dropped.
    """
    finder = _NumbaFinder()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
    config = sys.modules[_CONFIG]
    if getattr(config, "_config_fname", NOWHERE) != NOWHERE:
        config._config_fname = NOWHERE  # type: ignore[attr-defined]
        config.reload_config()
