"""Past findings stay closed, new inputs find nothing, and the driver finds what is planted."""

import json
from pathlib import Path

import pytest

from fuzz.drive import make_inputs
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


def test_past_findings_stay_closed():
    answers = drive("--replay", FINDINGS)
    assert len(answers) == len(list(FINDINGS.glob("*/*")))
    assert [answer for answer in answers if answer["fault"]] == []


def test_new_inputs_find_nothing(tmp_path):
    result = drive("--seconds", 500, "--executions", 1, "--batch", INPUTS, "--findings", tmp_path)
    assert result["findings"] == []
    done = {name: sum(kinds.values()) for name, kinds in result["targets"].items()}
    assert done == {name: min(INPUTS, target.batch) for name, target in TARGETS.items()}


PLANTED = """
import os, select, subprocess, sys, time, types
sys.path[:0] = [os.path.dirname({here!r}), {here!r}]
import fuzz.drive as drive, fuzz.harness as harness
from fuzz.targets import check_line

def endless():
    while True:
        pass

FAULTS = {{
    b"traceback": lambda folder: {{}}["x"],
    b"exit": lambda folder: sys.exit(3),
    b"abort": lambda folder: os.abort(),
    b"memory": lambda folder: bytearray(8 << 30),
    b"endless": lambda folder: endless(),
    b"silent": lambda folder: os.kill(os.getpid(), 19),
    b"write": lambda folder: open({outside!r}, "w"),
    b"folder": lambda folder: os.mkdir(f"{outside}-{{time.monotonic_ns()}}"),
    b"own": lambda folder: (folder / "x").write_text("x"),
    b"program": lambda folder: subprocess.run(["true"]),
    b"code": lambda folder: exec(compile("x = 1", "/no/such/file", "exec")),
    b"unseen": lambda folder: check_line("a\\x1b"),
    b"long": lambda folder: check_line("a" * 10_000),
}}

def run(data, folder):
    FAULTS[data](folder)
    return data.decode()

def wait(sources, *_):
    # For an answer, or until a process is stopped: in the place of a time in which nothing happens.
    while True:
        found = select.select(sources, [], [], 0.05)
        if found[0] or os.waitid(os.P_ALL, 0, os.WSTOPPED | os.WNOHANG | os.WNOWAIT):
            return found

harness.CPU_SECONDS, harness.select = 0.05, types.SimpleNamespace(select=wait)
target = harness.Target(lambda: list(FAULTS), lambda data, choose: data, run, 40)
drive.TARGETS.clear()
drive.TARGETS["planted"] = target
sys.exit(drive.main())
"""

SAID = {
    "traceback": "KeyError",
    "exit": "SystemExit: 3",
    "abort": "ended the process: SIGABRT",
    "memory": "MemoryError",
    "endless": "ended the process: SIGPROF",
    "silent": "ended the process: nothing happens any more",
    "write": "did open",
    "folder": "did os.mkdir",
    "program": "did subprocess.Popen",
    "code": "did exec",
    "unseen": "the message is no seen, bounded line",
    "long": "the message is no seen, bounded line",
}


def test_driver_finds_what_is_planted_keeps_it_and_goes_on(tmp_path):
    script = tmp_path / "planted.py"
    script.write_text(PLANTED.format(here=str(HERE.parent), outside=str(tmp_path / "outside")))
    result = drive("--executions", 1, "--findings", "found", script=script, cwd=tmp_path)
    assert sum(result["targets"]["planted"].values()) == 40
    found = {}
    for finding in result["findings"]:
        data = (tmp_path / "found" / "planted" / finding["first"]).read_text()
        found[data] = finding["fault"]
    assert set(found) - {"long"} == set(SAID) - {"long"}  # which of these two comes first is chance
    for data, fault in found.items():
        assert fault.startswith(SAID[data]), (data, fault)


def test_same_seed_gives_the_same_inputs():
    def made(seed, number):
        target = TARGETS["yaml"]
        return make_inputs(target, "yaml", seed, number, target.seeds(), INPUTS)

    assert made(0, 0) == made(0, 0) and len(made(0, 0)) == INPUTS
    assert made(0, 0) != made(1, 0) and made(0, 0) != made(0, 1)
