"""Files of Python that belong to no package, as modules."""

import importlib.util
import sys


def import_file(path, monkeypatch):
    """Return a script as a module; it finds those beside it."""
    spec = importlib.util.spec_from_file_location(f"script_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    monkeypatch.syspath_prepend(path.parent)
    spec.loader.exec_module(module)
    return module
