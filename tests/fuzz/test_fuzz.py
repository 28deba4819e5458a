"""Past findings stay closed, a hundred new inputs find nothing, and the driver finds what is planted."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from fuzz.targets import TARGETS

HERE = Path(__file__).parent
FINDINGS = HERE / "findings"

PAST = sorted(f"{path.parent.name}/{path.name}" for path in FINDINGS.glob("*/*"))

pytestmark = pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="inputs run in forks")


def drive(*arguments, **options):
    """Run the driver, in a process of its own: it forks."""
    command = [sys.executable, str(HERE / "drive.py"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


@pytest.fixture(scope="session")  # a module's would be made again when its tests move between processes
def replayed():
    """The faults of past findings, by their names; nothing if they stay closed."""
    answers = json.loads(drive("--replay", FINDINGS).stdout)
    return {f"{answer['target']}/{answer['input']}": answer["fault"] for answer in answers}


@pytest.mark.parametrize("name", PAST)
def test_past_finding_stays_closed(name, replayed):
    assert replayed[name] == ""


@pytest.fixture(scope="session")
def attacked(tmp_path_factory):
    """The result of a batch for each target."""
    folder = tmp_path_factory.mktemp("fuzz")
    ended = drive("--seconds", 500, "--executions", 1, "--batch", 100, "--findings", folder)
    assert ended.stdout, ended.stderr
    return json.loads(ended.stdout)


@pytest.mark.parametrize("name", TARGETS)
def test_new_inputs_find_nothing(name, attacked):
    target = attacked["targets"][name]
    assert target["executions"] == min(100, TARGETS[name].batch) and target["answers"]
    assert [found for found in attacked["findings"] if found["target"] == name] == []


PLANTED = """
import os, subprocess, sys, time
sys.path[:0] = [{here!r}, {here!r} + "/.."]
import fuzz.drive as drive, fuzz.harness as harness
from fuzz.checks import check_line

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

harness.CPU_SECONDS, harness.QUIET_SECONDS = 0.05, 10
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
    script.write_text(PLANTED.format(here=str(HERE), outside=str(tmp_path / "outside")))
    command = [sys.executable, str(script), "--executions", "1", "--out", "r.json", "--findings", "found"]
    for count, batch in enumerate((40, 1)):
        ended = subprocess.run(
            [*command, "--batch", str(batch)], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        result = json.loads((tmp_path / "r.json").read_text())
        assert ended.returncode == (1 if batch == 40 else ended.returncode), ended.stderr
        assert result["executions"] == 40 + count == result["targets"]["planted"]["executions"]
        assert len(result["runs"]) == 1 + count
    found = {}
    for finding in result["findings"]:
        data = (tmp_path / "found" / "planted" / finding["first"]).read_text()
        found[data] = finding["fault"]
    assert set(found) - {"long"} == set(SAID) - {"long"}  # which of these two comes first is chance
    for data, fault in found.items():
        assert fault.startswith(SAID[data]), (data, fault)


def test_same_seed_gives_the_same_inputs(tmp_path):
    answers = []
    for number in (0, 1):
        out = tmp_path / f"{number}.json"
        options = ["--only", "yaml", "--executions", 1, "--batch", 100, "--out", out]
        assert drive(*options, cwd=tmp_path).returncode == 0
        answers.append(json.loads(out.read_text())["targets"]["yaml"]["answers"])
    assert answers[0] == answers[1]
