"""Names that are imported on first access."""

from helpers.python import python


def test_what_breaks_an_import_is_said(tmp_path):
    """Numba takes a folder ``coverage`` of the working directory for the package, and fails."""
    (tmp_path / "coverage").mkdir()
    found = python("-c", "from sraven import SRAVEN", cwd=tmp_path)
    assert found.returncode == 0 or "coverage" in found.stderr.splitlines()[-1]
    program = (
        "import sys, types; sys.modules['sraven.task'] = types.ModuleType('x'); from sraven import SRAVEN"
    )
    found = python("-c", program)
    last = found.stderr.splitlines()[-1]
    assert last.startswith("ImportError: sraven.task can't be imported: module 'x' has no attribute 'SRAVEN'")
