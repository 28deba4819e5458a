"""Commands in a folder full of traps: none of its files runs, or is read as settings."""

import json
import os

import pytest

from helpers.python import python
from sraven.core.system.isolation import ROOT

ENTRY = "import sys\nfrom sraven.__main__ import main\nsys.exit(main())\n"
"""What installers write as the command."""

TRAP = "import os\nos.makedirs({mark!r}, exist_ok=True)\nraise SystemExit('a trap ran: ' + __file__)\n"

MODULES = (
    "baselines", "cli", "click", "fuzzylogic", "jax_plugins", "matplotlib", "multiprocessing", "numba",
    "numpy", "payload", "pyarrow", "rich", "runpy", "sraven", "usercustomize", "yaml",
)  # fmt: skip


@pytest.fixture
def traps(tmp_path):
    """A folder with modules and settings that leave a mark if they are read."""
    folder = tmp_path / "traps"
    folder.mkdir()
    for name in MODULES:
        (folder / f"{name}.py").write_text(TRAP.format(mark=str(tmp_path / "ran")))
    (folder / "matplotlibrc").write_text("backend: module://payload\nfont.size: 1\nno such line\n")
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


def test_a_command_that_draws_runs_none(traps, tmp_path, run_in, run):
    pytest.importorskip("matplotlib")
    (traps / "click.py").rename(traps / "sitecustomize.py")
    line = ["show", "--png"]
    code, out, errors = run_in(traps, ENTRY, *line, "picture.png")
    assert (code, out) == (0, "picture.png\n") and "matplotlibrc" not in errors
    assert run(*line, tmp_path / "calm.png")[0] == 0
    assert (tmp_path / "calm.png").read_bytes() == (traps / "picture.png").read_bytes()
    assert not (tmp_path / "ran").exists()


def test_where_numba_would_read_settings_a_command_does_not_begin(tmp_path, run_in):
    (tmp_path / ".numba_config.yaml").write_text("CACHE_DIR: .nb")
    code, out, errors = run_in(tmp_path, ENTRY, "--version")
    assert (code, out) == (2, "") and errors.startswith("error: .numba_config.yaml lies here")


def test_a_path_that_leads_to_the_working_directory_is_left_out(traps, tmp_path, run_in):
    (traps / "sraven.py").unlink()  # it comes before the command, and so before any check
    path = "", ".", "../traps", traps, ROOT
    code, out, errors = run_in(traps, ENTRY, "boards", "fuzzylogic-v1", path=path)
    assert (code, errors) == (0, "") and out.startswith("fuzzylogic-v1")
    assert not (tmp_path / "ran").exists()


REPORT = """
import json, os, sys
from sraven.core.system.isolation import leave_working_directory
leave_working_directory()
print(json.dumps([sys.path[:3], os.environ["PYTHONPATH"], os.environ["PYTHONSAFEPATH"]]))
"""


def test_other_entries_of_the_path_stay_and_a_checkout_may_be_worked_in(tmp_path, run_in):
    here, other, link = (tmp_path / name for name in ("here", "other", "link"))
    here.mkdir()
    other.mkdir()
    link.symlink_to(ROOT)

    def report(folder, *path):
        code, out, errors = run_in(folder, REPORT, path=path)
        assert (code, errors) == (0, "")
        return json.loads(out)

    first, kept = [str(tmp_path / "elsewhere"), str(other), str(ROOT)], f"{other}{os.pathsep}{ROOT}"
    assert report(here, "", other, "below", ROOT, here) == [first, kept, "1"]
    for entries, kept in ((["", "."], str(ROOT)), ([link], str(link))):
        path, variable, _ = report(ROOT, *entries)
        assert variable == kept and kept in path


def test_a_place_for_machine_code_that_others_can_write_to_is_reported_in_one_line(
    tmp_path, run_in, monkeypatch
):
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(shared))
    code, out, errors = run_in(tmp_path, ENTRY, "boards", "sraven-v1")
    assert code == 0 and out.startswith("sraven-v1")
    assert errors == (
        f"warning: NUMBA_CACHE_DIR={shared} isn't used for machine code, so each process compiles again: "
        f"{shared} can be written to by others; set NUMBA_CACHE_DIR to a folder that only you can write to\n"
    )
    assert list(shared.iterdir()) == []
