"""No command writes over what it reads."""

import json

import pytest


@pytest.mark.parametrize("link", [False, True])
@pytest.mark.parametrize("command", ["text score", "text generate --M 2 -n 3 --remaining"])
def test_completions(done, refused, tmp_path, command, link):
    ids = [json.loads(line)["id"] for line in done("text", "generate", "--M", 2, "-n", 3).splitlines()]
    completions = out = tmp_path / "completions.jsonl"
    completions.write_text("".join(json.dumps({"id": each, "completion": "1 2"}) + "\n" for each in ids))
    if link:
        out = tmp_path / "link.jsonl"
        out.symlink_to(completions)
    before = completions.read_bytes()
    found = refused(*command.split(), completions, "--out", out)
    assert f"{out} is what is read; choose another path" in found
    assert completions.read_bytes() == before


def test_a_submission(done, refused, small_boards, tmp_path):
    folder = tmp_path / "mine"
    done("reference", "sraven-small-v1", "copy-last-panel", "--out", folder)
    before = (folder / "submission.yaml").read_bytes()
    found = refused("score", folder, "--out", folder / "submission.yaml")
    assert str(folder / "submission.yaml") in found
    assert (folder / "submission.yaml").read_bytes() == before
    for _ in range(2):  # scores are no part of what is read
        done("score", folder, "--out", folder / "scores.json")


def test_parts(done, refused, tmp_path):
    line = "generate --M 2 --K 4 --train 60 --test 20 --ood 20 --part"
    parts = [tmp_path / "1", tmp_path / "2"]
    for number, part in enumerate(parts, 1):
        done(*line.split(), f"{number}/2", "--out", part)
    assert str(parts[0]) in refused("merge", *parts, "--out", parts[0])
    done("merge", *parts, "--out", tmp_path / "whole")
