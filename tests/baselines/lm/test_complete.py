"""Completions of many prompts: each as if it were alone, whatever lies beside it."""

import json

import pytest

from baselines.lm.sample import Completer, sample_text
from helpers.tiny_language import assert_command_refused

pytestmark = pytest.mark.usefixtures("compiled")

TOKENS = 9

PROMPTS = {"a": "the old", "b": "the", "c": "the cat", "d": "the dog", "e": "the old dog", "f": "the cat"}


@pytest.fixture(scope="module")
def alone(folder):
    """What the run says after each prompt when it completes nothing else."""
    return {name: sample_text(folder, prompt, TOKENS, temperature=0)[0] for name, prompt in PROMPTS.items()}


def test_completions_are_those_of_each_prompt_alone(folder, alone):
    found = list(Completer(folder, TOKENS, batch=2).complete(PROMPTS.items()))
    assert len(found) == len(PROMPTS) and dict(found) == alone
    assert len(set(alone.values())) > 2  # they do depend on the prompt


def test_command_writes_a_file_that_can_be_scored(folder, alone, tmp_path, run):
    prompts, completions = tmp_path / "prompts.jsonl", tmp_path / "completions.jsonl"
    lines = [json.dumps({"id": name, "prompt": text, "index": 0}) for name, text in PROMPTS.items()]
    prompts.write_text("\n".join(lines) + "\n")
    options = ["--tokens", TOKENS, "--batch", 2, "--out", completions]
    assert run("c4", "complete", folder, prompts, *options) == (0, f"{completions}: 6 completions\n", "")
    lines = [json.loads(line) for line in completions.read_text().splitlines()]
    assert {line["id"]: line["completion"] for line in lines} == alone
    code, out, _ = run("c4", "complete", folder, prompts, *options, "--json")
    assert (code, json.loads(out)) == (0, {"path": str(completions), "completions": 6})
    prompts.write_text('{"id": "a"}\n')
    said = f'{prompts}, line 1: expected an object with "id" and "prompt"'
    assert_command_refused(tmp_path, said, "c4", "complete", folder, prompts, *options)
