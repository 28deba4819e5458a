"""Generating and scoring import no harness; the tasks that are shipped are with the package."""

import json
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

from helpers.command import sraven
from sraven.harness.questions import make_questions, pose

PROGRAM = """
import sys
from cli.main import main
for arguments in (["--help"], ["text", "--help"], ["text", "generate", "--M", "1", "--holdout", "0",
                  "--split", "test", "-n", "2"], ["text", "score", sys.argv[1]]):
    try:
        main(arguments)
    except SystemExit as stop:
        assert not stop.code, arguments
print("imported:", *{name.partition(".")[0] for name in sys.modules}, *sys.modules)
"""


def test_commands_import_no_harness(tmp_path):
    completions = tmp_path / "completions.jsonl"
    question = next(pose(make_questions(M=1, count=2)))
    completions.write_text(json.dumps({"id": question.id, "completion": question.answer}) + "\n")
    command = [sys.executable, "-c", PROGRAM, str(completions)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    imported = set(result.stdout.rpartition("imported:")[2].split())
    assert "sraven.text.questions" in imported
    forbidden = {"inspect_ai", "lm_eval", "torch", "transformers", "jax", "sklearn", "matplotlib"}
    assert not imported & forbidden and not [name for name in imported if name.startswith("sraven.harness")]


def test_what_the_harnesses_look_for_is_there():
    [found] = entry_points(group="inspect_ai", name="sraven")
    assert found.value == "sraven.harness.inspect_task"
    folder = Path(sraven("text", "tasks")[1].rstrip("\n"))
    assert {path.name for path in folder.glob("_*") if path.is_file()} == {"_choose", "_generate"}
    assert (folder / "functions.py").is_file() and len(list(folder.glob("*.yaml"))) == 21
