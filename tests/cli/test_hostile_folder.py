"""Commands in a folder full of traps: none of its files runs."""

import os

import pytest

from helpers.python import python
from sraven.core.packages import ROOT

ENTRY = "import sys\nfrom sraven.__main__ import main\nsys.exit(main())\n"
"""What installers write as the command."""

TRAP = "import os\nos.makedirs({mark!r}, exist_ok=True)\nraise SystemExit('a trap ran: ' + __file__)\n"

MODULES = (
    "baselines", "cli", "click", "fuzzylogic", "jax_plugins", "matplotlib", "multiprocessing", "numba",
    "numpy", "payload", "pyarrow", "rich", "runpy", "sraven", "usercustomize", "yaml",
)  # fmt: skip


@pytest.fixture
def traps(tmp_path):
    """A folder with modules and settings that leave a mark if they are run."""
    folder = tmp_path / "traps"
    folder.mkdir()
    for name in MODULES:
        (folder / f"{name}.py").write_text(TRAP.format(mark=str(tmp_path / "ran")))
    (folder / "matplotlibrc").write_text("backend: module://payload\n")
    return folder


@pytest.fixture
def run_in(tmp_path):
    """Run the command, which lies elsewhere, in a folder; return its code, output and errors."""
    script = tmp_path / "elsewhere" / "program.py"
    script.parent.mkdir()
    script.write_text(ENTRY)

    def run(folder, *arguments):
        result = python(script, *arguments, cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)})
        return result.returncode, result.stdout, result.stderr

    return run


def test_a_command_that_draws_runs_none(traps, tmp_path, run_in):
    pytest.importorskip("matplotlib")
    (traps / "click.py").rename(traps / "sitecustomize.py")
    code, out, _ = run_in(traps, "show", "--out", "picture.png")
    assert (code, out) == (0, "picture.png\n") and (traps / "picture.png").exists()
    assert not (tmp_path / "ran").exists()


def test_a_place_for_machine_code_that_cannot_be_used_is_reported_in_one_line(tmp_path, run_in, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", "/dev/null")
    code, _, err = run_in(tmp_path, "verify", ".")  # compiles nothing before it says that this is no dataset
    warning, error = err.splitlines()
    assert warning.startswith("warning: /dev/null/sraven/sraven-") and "isn't used for machine" in warning
    assert code == 2 and error.startswith("error: . has no manifest.json")
