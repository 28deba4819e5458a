"""A model of Transformers behind the harnesses' own commands, without a network: a tiny random GPT-2.

It reads bytes and babbles. PyTorch isn't among what the tests install themselves: see the extra transformers.
"""

import inspect
import json
import subprocess
import sys
from pathlib import Path

import pytest

from helpers import offline
from helpers.command import sraven
from helpers.harnesses import environment, needs

needs("llm", "inspect_ai", "lm_eval")
needs("torch", "torch", "transformers", "accelerate")

MAKER = Path(__file__).with_name("make_tiny_model.py")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the model in it, and what forbids the network to every Python that starts."""
    made = tmp_path_factory.mktemp("tiny")
    (made / "start").mkdir()
    (made / "start" / "sitecustomize.py").write_text(inspect.getsource(offline) + "\n\nforbid_network()\n")
    run(made, sys.executable, MAKER, made / "model")
    return made


def run(folder, *words):
    """Run a command that may not ask the network; return what it prints."""
    result = subprocess.run(
        [str(word) for word in words],
        cwd=folder,
        env={**environment(folder), "PYTHONPATH": str(folder / "start")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def command(name):
    return Path(sys.executable).with_name(name)


def test_the_network_is_forbidden(folder):
    ask = "import urllib.request; urllib.request.urlopen('http://localhost:9')"
    with pytest.raises(AssertionError, match="the network is asked"):
        run(folder, sys.executable, "-c", ask)


@pytest.mark.slow
def test_inspect(folder):
    task = ("sraven/sraven", "-T", "M=2", "-T", "form=told", "-T", "shots=1", "-T", "count=3")
    model = ("--model", "hf/tiny", "-M", f"model_path={folder / 'model'}", "-M", "device=cpu")
    logs = ("--max-tokens", "16", "--log-dir", folder / "logs", "--log-format", "json", "--display", "plain")
    run(folder, command("inspect"), "eval", *task, *model, *logs)
    [written] = (folder / "logs").glob("*.json")
    log = json.loads(written.read_text())
    assert log["status"] == "success" and log["eval"]["task_args"]["shots"] == 1
    found = {each["name"]: each["metrics"]["mean"]["value"] for each in log["results"]["scores"]}
    assert found == {"target": 0, "valid": 0, "unparsed": 1}
    assert all(sample["output"]["usage"]["output_tokens"] == 16 for sample in log["samples"])


@pytest.mark.slow
def test_a_wrong_argument_of_inspect_is_one_line(folder):
    words = (command("inspect"), "eval", "sraven/sraven", "-T", "form=plain", "--model", "mockllm/model")
    with pytest.raises(AssertionError, match="form='plain': expected one of 'told', 'untold'") as refused:
        run(folder, *words, "--display", "plain")
    assert "Traceback" not in str(refused.value)


@pytest.mark.slow
def test_lm_eval(folder):
    tasks = sraven("text", "tasks")[1].rstrip("\n")
    model = ("--model", "hf", "--model_args", f"pretrained={folder / 'model'}", "--device", "cpu")
    asked = ("--tasks", "sraven_m2", "--include_path", tasks, "--metadata", "shots=1", "count=3")
    rest = ("--gen_kwargs", "max_gen_toks=16", "--output_path", folder / "out", "--log_samples")
    run(folder, command("lm_eval"), *model, *asked, *rest)
    [written] = (folder / "out").rglob("results_*.json")
    found = json.loads(written.read_text())["results"]["sraven_m2"]
    shares = {name: found[f"{name},none"] for name in ("target", "valid", "unparsed", "ceiling")}
    assert shares == {"target": 0, "valid": 0, "unparsed": 1, "ceiling": 1}
    [samples] = (folder / "out").rglob("samples_*.jsonl")
    ids = [json.loads(line)["doc"]["id"] for line in samples.read_text().splitlines()]
    assert sorted(ids) == [f"v1_M2-K8-unique_h25_s0_ood-3_told-1_{index}" for index in range(3)]
