"""Past findings stay closed, new inputs find nothing, and the driver finds what is planted."""

import json
from pathlib import Path

import pytest

from fuzz.targets import TARGETS
from helpers.python import python

HERE = Path(__file__).parent
FINDINGS = HERE / "findings"
INPUTS = 10
"""New inputs of a target."""

pytestmark = pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="inputs run in forks")


def drive(*arguments, script=HERE / "drive.py", **options):
    """Run the driver, in a process of its own: it forks. Return what it says."""
    ended = python(script, *arguments, **options)
    assert ended.stdout, ended.stderr
    return json.loads(ended.stdout)


def test_past_findings_stay_closed_and_new_inputs_find_nothing(tmp_path):
    result = drive("--seconds", 500, "--executions", INPUTS, "--findings", tmp_path)
    assert result["findings"] == []
    done = {name: sum(kinds.values()) for name, kinds in result["targets"].items()}
    assert done == {name: len(list((FINDINGS / name).iterdir())) + INPUTS for name in TARGETS}
    assert set(done) == {folder.name for folder in FINDINGS.iterdir()}


PLANTED = """
import os, signal, subprocess, sys, time
sys.path[:0] = [os.path.dirname({here!r}), {here!r}]
import fuzz.drive as drive, fuzz.harness as harness
from fuzz.targets import check_line

def endless():
    while True:
        pass

def silent():
    assert signal.setitimer(signal.ITIMER_REAL, 0.01)[0] > 0  # there is an end, which comes sooner here
    signal.sigwait([signal.SIGUSR1])

FAULTS = {{
    b"KeyError": lambda folder: {{}}["x"],
    b"SystemExit: 3": lambda folder: sys.exit(3),
    b"ended the process: SIGABRT": lambda folder: os.abort(),
    b"MemoryError": lambda folder: bytearray(8 << 30),
    b"ended the process: SIGPROF": lambda folder: endless(),
    b"ended the process: SIGALRM": lambda folder: silent(),
    b"did open": lambda folder: open({outside!r}, "w"),
    b"did os.mkdir": lambda folder: os.mkdir(f"{outside}-{{time.monotonic_ns()}}"),
    b"own": lambda folder: (folder / "x").write_text("x"),
    b"did subprocess.Popen": lambda folder: subprocess.run(["true"]),
    b"did exec": lambda folder: exec(compile("x = 1", "/no/such/file", "exec")),
    b"the message is no seen": lambda folder: check_line("a\\x1b"),
}}

def run(data, folder):
    FAULTS[data](folder)
    return data.decode()

drive.BATCH, harness.CPU_SECONDS = 40, 0.05
drive.TARGETS.clear()
drive.TARGETS["planted"] = harness.Target(lambda: list(FAULTS), lambda data, choose: data, run)
sys.exit(drive.main())
"""


def test_driver_finds_what_is_planted_keeps_it_and_goes_on(tmp_path):
    script = tmp_path / "planted.py"
    script.write_text(PLANTED.format(here=str(HERE.parent), outside=str(tmp_path / "outside")))
    result = drive("--executions", 60, "--findings", "found", script=script, cwd=tmp_path)
    assert sum(result["targets"]["planted"].values()) == 60
    assert len(result["findings"]) == 11
    for finding in result["findings"]:
        said = (tmp_path / "found" / "planted" / finding["first"]).read_text()
        assert finding["fault"].startswith(said)
