"""No command writes over what it reads."""

import json

import pytest


@pytest.mark.parametrize("link", [False, True])
def test_completions(done, refused, tmp_path, link):
    ids = [json.loads(line)["id"] for line in done("text", "generate", "--M", 2, "-n", 3).splitlines()]
    completions = out = tmp_path / "completions.jsonl"
    completions.write_text("".join(json.dumps({"id": each, "completion": "1 2"}) + "\n" for each in ids))
    if link:
        out = tmp_path / "link.jsonl"
        out.symlink_to(completions)
    before = completions.read_bytes()
    found = refused(*["text", "generate", "--M", "2", "-n", "3", "--remaining"], completions, "--out", out)
    assert f"{out} is what is read; choose another path" in found
    assert completions.read_bytes() == before


def test_directories(done, refused, small_boards, tmp_path):
    folder, part = tmp_path / "mine", tmp_path / "part"
    done("reference", "sraven-small-v1", "copy-last-panel", "--out", folder)
    before = (folder / "submission.yaml").read_bytes()
    assert "is what is read" in refused("score", folder, "--out", folder / "submission.yaml")
    assert (folder / "submission.yaml").read_bytes() == before
    line = "generate --M 2 --K 4 --train 60 --test 20 --ood 20 --part 1/1 --out"
    done(*line.split(), part)
    assert "is what is read" in refused("merge", part, "--out", part)
