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
    """Run a program that lies elsewhere in a folder; return its code, output and errors."""
    script = tmp_path / "elsewhere" / "program.py"
    script.parent.mkdir()

    def run(folder, program, *arguments, path=(ROOT,)):
        script.write_text(program)
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path))}
        result = python(script, *arguments, cwd=folder, env=environment, timeout=300)
        return result.returncode, result.stdout, result.stderr

    return run


def test_a_command_that_draws_runs_none(traps, tmp_path, run_in):
    pytest.importorskip("matplotlib")
    (traps / "click.py").rename(traps / "sitecustomize.py")
    code, out, _ = run_in(traps, ENTRY, "show", "--out", "picture.png")
    assert (code, out) == (0, "picture.png\n") and (traps / "picture.png").exists()
    assert not (tmp_path / "ran").exists()


def test_a_place_for_machine_code_that_others_can_write_to_is_reported_in_one_line(
    tmp_path, run_in, monkeypatch
):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "shared"))
    assert run_in(tmp_path, ENTRY, "boards", "sraven-v1")[2] == ""
    [folder] = (tmp_path / "shared" / "sraven").iterdir()
    folder.chmod(0o777)
    code, out, errors = run_in(tmp_path, ENTRY, "boards", "sraven-v1")
    assert code == 0 and out.startswith("sraven-v1")
    assert errors == (
        f"warning: {folder} isn't used for machine code, so each process compiles again: others may read or "
        "write it; expected a folder of yours, mode 700; set NUMBA_CACHE_DIR to a folder that only you can "
        "write to\n"
    )
