"""The harnesses' own commands, without a network."""

import json
import sys
from pathlib import Path

import pytest

from helpers.command import sraven
from helpers.harnesses import needs, run_program

needs("llm", "inspect_ai", "lm_eval")

pytestmark = pytest.mark.long


def test_the_network_is_forbidden(run, tmp_path):
    ask, start = tmp_path / "ask.py", tmp_path / "start.py"
    ask.write_text("import urllib.request; urllib.request.urlopen('http://localhost:9')")
    start.write_text(f"import subprocess, sys; subprocess.run([sys.executable, {str(ask)!r}], check=True)")
    for program in (ask, start):
        with pytest.raises(AssertionError, match="the network is asked"):
            run(tmp_path, program)


def test_a_wrong_argument_of_inspect_is_one_line(run, tmp_path):
    program = Path(sys.executable).with_name("inspect")
    words = ("eval", "sraven/sraven", "-T", "form=plain", "--model", "mockllm/model", "--display", "plain")
    with pytest.raises(AssertionError, match=r"form='plain': .*'told', 'untold'") as refused:
        run(tmp_path, program, *words, imports=("inspect_ai",))
    assert "Traceback" not in str(refused.value)


def test_lm_eval_asks_as_its_options_say(run, tmp_path):
    asked = ("--tasks", "sraven_m2", "--include_path", sraven("text", "tasks")[1].rstrip("\n"))
    words = (*asked, "--metadata", "shots=1", "count=3", "--output_path", tmp_path / "out", "--log_samples")
    # Its model that says the same to all.
    run(tmp_path, "run_lm_eval_command.py", "--model", "dummy", *words, imports=("lm_eval.evaluator",))
    [written] = (tmp_path / "out").rglob("results_*.json")
    found = json.loads(written.read_text())["results"]["sraven_m2"]
    shares = {name: found[f"{name},none"] for name in ("target", "valid", "unparsed", "ceiling")}
    assert shares == {"target": 0, "valid": 0, "unparsed": 1, "ceiling": 1}
    [samples] = (tmp_path / "out").rglob("samples_*.jsonl")
    ids = [json.loads(line)["doc"]["id"] for line in samples.read_text().splitlines()]
    assert sorted(ids) == [f"v1_M2-K8-unique_h25_s0_ood-3_told-1_{index}" for index in range(3)]


# eval.yaml, read and run by inspect-ai: its scorer says of replies what ours says


RIGHT = ["Answer: RIGHT", "Each row adds.\n\n  \tAnswer:   RIGHT \t\r\n\n", "**Answer:** RIGHT"]
WRONG = ["", "RIGHT", "answer: RIGHT", "Answer: RIGHT.", "Answer:\u00a0RIGHT", "Answer: [9 9]", "Answer: Z"]

COUNT = len(RIGHT + WRONG)


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hub-benchmark")
    return run_program("run_hub_benchmark.py", folder, RIGHT + WRONG, RIGHT + WRONG, str(folder / "logs"))


@pytest.mark.parametrize("track", ["panels", "letters"])
def test_the_scorer_of_inspect_says_what_ours_says(found, track):
    expected = [[reply, reply in RIGHT, reply in RIGHT] for reply in RIGHT + WRONG]
    assert found[track]["verdicts"] == expected
    assert found[track]["accuracy"] == len(RIGHT) / len(expected)
    assert found[track]["loaded"] == COUNT + 3 * (track == "panels")
