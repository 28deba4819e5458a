"""No command writes over what it reads."""

import json

import pytest

from helpers.command import sraven


@pytest.fixture
def completions(tmp_path):
    """A file with a completion for each of three questions."""
    prompts = tmp_path / "prompts.jsonl"
    assert sraven("text", "generate", "--M", 2, "-n", 3, "--out", prompts)[0] == 0
    ids = [json.loads(line)["id"] for line in prompts.read_text().splitlines()]
    path = tmp_path / "completions.jsonl"
    path.write_text("".join(json.dumps({"id": each, "completion": "1 2"}) + "\n" for each in ids))
    return path


@pytest.mark.parametrize("link", [False, True])
@pytest.mark.parametrize(
    "command", [("text", "score"), ("text", "generate", "--M", "2", "-n", "3", "--remaining")]
)
def test_completions(completions, tmp_path, command, link):
    out = completions
    if link:
        out = tmp_path / "link.jsonl"
        out.symlink_to(completions)
    before = completions.read_bytes()
    code, printed, err = sraven(*command, completions, "--out", out)
    assert (code, printed) == (2, "") and f"{out} is what is read; choose another path" in err
    assert completions.read_bytes() == before


def test_a_submission(tmp_path):
    folder = tmp_path / "mine"
    assert sraven("reference", "sraven-v1", "copy-last-panel", "--out", folder)[0] == 0
    before = (folder / "submission.yaml").read_bytes()
    code, _, err = sraven("score", folder, "--out", folder / "submission.yaml")
    assert code == 2 and str(folder / "submission.yaml") in err
    assert (folder / "submission.yaml").read_bytes() == before
    for _ in range(2):  # scores are no part of what is read
        assert sraven("score", folder, "--out", folder / "scores.json")[0] == 0


def test_parts(tmp_path):
    options = ["--M", 2, "--K", 4, "--train", 60, "--test", 20, "--ood", 20]
    parts = [tmp_path / "1", tmp_path / "2"]
    for number, part in enumerate(parts, 1):
        assert sraven("generate", *options, "--part", f"{number}/2", "--out", part)[0] == 0
    code, _, err = sraven("merge", *parts, "--out", parts[0])
    assert code == 2 and str(parts[0]) in err
    assert sraven("merge", *parts, "--out", tmp_path / "whole")[0] == 0
