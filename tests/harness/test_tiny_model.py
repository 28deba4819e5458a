"""A model of Transformers behind the harnesses' own commands, without a network: a tiny random GPT-2.

It reads bytes and babbles. PyTorch isn't among what the tests install themselves: see the extra transformers.
"""

import json
import sys
from pathlib import Path

import pytest

from helpers.command import sraven
from helpers.harnesses import needs

needs("llm", "inspect_ai", "lm_eval")
needs("torch", "torch", "transformers", "accelerate")


@pytest.fixture(scope="module")
def folder(tmp_path_factory, run):
    """A folder with the model in it, and with what lm-eval's command writes about it."""
    made = tmp_path_factory.mktemp("tiny")
    tasks = sraven("text", "tasks")[1].rstrip("\n")
    model = ("--model", "hf", "--model_args", f"pretrained={made / 'model'}", "--device", "cpu")
    asked = ("--tasks", "sraven", "--include_path", tasks, "--metadata", "M=2", "shots=1", "count=3")
    rest = ("--gen_kwargs", "max_gen_toks=16", "--output_path", made / "out", "--log_samples")
    run(made, "run_lm_eval_command.py", made / "model", *model, *asked, *rest)
    return made


@pytest.mark.long
def test_inspect(folder, run):
    task = ("sraven/sraven", "-T", "M=2", "-T", "form=told", "-T", "shots=1", "-T", "count=3")
    model = ("--model", "hf/tiny", "-M", f"model_path={folder / 'model'}", "-M", "device=cpu")
    logs = ("--max-tokens", "16", "--log-dir", folder / "logs", "--log-format", "json", "--display", "plain")
    run(folder, Path(sys.executable).with_name("inspect"), "eval", *task, *model, *logs)
    [written] = (folder / "logs").glob("*.json")
    log = json.loads(written.read_text())
    assert log["status"] == "success" and log["eval"]["task_args"]["shots"] == 1
    found = {each["name"]: each["metrics"]["mean"]["value"] for each in log["results"]["scores"]}
    assert found.pop("accuracy") == 0
    assert found == {"target": 0, "valid": 0, "unparsed": 1, "lenient_valid": 0, "lenient_unparsed": 1}
    assert all(sample["output"]["usage"]["output_tokens"] == 16 for sample in log["samples"])


@pytest.mark.long
def test_lm_eval(folder):
    [written] = (folder / "out").rglob("results_*.json")
    found = json.loads(written.read_text())["results"]["sraven"]
    shares = {name: found[f"{name},none"] for name in ("target", "valid", "unparsed", "ceiling")}
    assert shares == {"target": 0, "valid": 0, "unparsed": 1, "ceiling": 1}
    [samples] = (folder / "out").rglob("samples_*.jsonl")
    ids = [json.loads(line)["doc"]["id"] for line in samples.read_text().splitlines()]
    assert sorted(ids) == [f"v1_M2-K8-unique_h25_s0_ood-3_told-1_{index}" for index in range(3)]
