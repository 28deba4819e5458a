"""`docs/text.md`: a prompt as it is, and what the harnesses look for."""

from importlib.metadata import entry_points
from pathlib import Path

from helpers.checkout import REPOSITORY
from helpers.command import sraven
from sraven.harness.questions import make_questions, pose


def test_the_first_question_of_version_2_is_shown_as_it_is():
    prompt = next(pose(make_questions(M=2, form="told2"))).prompt
    assert f"```text\n{prompt}\n```" in (REPOSITORY / "docs" / "text.md").read_text()


def test_what_the_harnesses_look_for_is_there():
    [found] = entry_points(group="inspect_ai", name="sraven")
    assert found.value == "sraven.harness.inspect_task"
    folder = Path(sraven("text", "tasks")[1].rstrip("\n"))
    assert {path.name for path in folder.glob("_*") if path.is_file()} == {"_generate", "_levels"}
    assert (folder / "functions.py").is_file() and len(list(folder.glob("*.yaml"))) == 4
