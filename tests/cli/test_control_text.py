"""Text that moves a terminal's cursor or begins a line of a workflow's commands, in every field that is read.

Nothing of it may come out as it is, whatever a command makes of it.
"""

import json
import shutil
from copy import copy

import pytest
import yaml

from helpers.submissions import SRAVEN_BOARD
from sraven.core.errors import ConfigurationError
from sraven.core.escape import is_seen
from sraven.core.system.staging import STAGING
from sraven.data.directory import JOURNAL
from sraven.leaderboard.maintainers import REPRODUCED
from sraven.leaderboard.unfiled import score_folder

CONTROL = "\x1b[2K\r\n::error::\u202e"


def is_harmless(text):
    """Tell whether all lines are of seen characters, and none is a workflow's command."""
    return all(not line.startswith("::") and all(map(is_seen, line)) for line in text.split("\n"))


def shape(value):
    """Return what parts of one form have in common: the types of a list, of an object its names as well."""
    if isinstance(value, dict):
        return "object", *((name, type(each)) for name, each in value.items())
    return "list", *{type(each) for each in value}


def planted(content, seen=None):
    """Yield what JSON becomes with the text as one of its values or as a name.

    Of parts that have one form, and of a list, only in the first.
    """
    seen = set() if seen is None else seen
    if isinstance(content, dict):
        yield {**content, CONTROL: CONTROL}
    for name in list(content) if isinstance(content, dict) else range(min(1, len(content))):
        inner = ()
        if isinstance(content[name], dict | list):
            form = shape(content[name])
            if form in seen:
                continue
            seen.add(form)
            inner = planted(content[name], seen)
        for value in (CONTROL, *inner):
            changed = copy(content)
            changed[name] = value
            yield changed


def json_texts(text):
    return map(json.dumps, planted(json.loads(text)))


def yaml_texts(text):
    return map(yaml.safe_dump, planted(yaml.safe_load(text)))


def line_texts(text):
    """Yield JSON Lines with the text in the first of them, or in the last."""
    lines = text.splitlines()
    for number in (0, len(lines) - 1):
        for line in json_texts(lines[number]):
            yield "\n".join([*lines[:number], line, *lines[number + 1 :]]) + "\n"


def harmless(run, path, texts, *commands):
    """Run commands on a file with each of some texts."""
    original = path.read_text()
    for text in texts(original):
        path.write_text(text)
        for command in commands:
            code, out, err = run(*command)
            assert code in (0, 1, 2) and is_harmless(out) and is_harmless(err), (text, out, err)
            assert code != 2 or err.count("\n") == 1
    path.write_text(original)


def test_of_datasets_and_parts(run, dataset_directory, tmp_path):
    data = shutil.copytree(dataset_directory, tmp_path / "data")
    for name in ("manifest.json", "croissant.json"):
        harmless(run, data / name, json_texts, ["verify", data])
    line = ["generate", "--M", 2, "--K", 5, "--train", 9, "--test", 3, "--ood", 3, "--part", "1/1"]
    assert run(*line, "--out", tmp_path / "part")[0] == 0
    journal = tmp_path / "part" / STAGING / JOURNAL
    out = tmp_path / "out"
    harmless(run, journal, line_texts, ["merge", tmp_path / "part", "--out", out, "--force"])


def test_of_entries(run, small_boards, filed, leaderboard, monkeypatch):
    shown = ["leaderboard", "--leaderboard", leaderboard]
    harmless(run, filed / "submission.yaml", yaml_texts, ["score", filed], shown)
    pins = leaderboard / REPRODUCED
    pin = {"submission_digest": "0" * 64, "code_commit": "0" * 40, "date": "2026-11-22"}
    pins.write_text(yaml.safe_dump({f"{SRAVEN_BOARD}/{filed.name}": pin}))
    harmless(run, pins, yaml_texts, shown)
    pins.unlink()
    found = score_folder(filed)
    monkeypatch.setattr("sraven.leaderboard.unfiled.score_folder", lambda *_, **options: found)
    harmless(run, filed / "scores.json", json_texts, ["score", "--check", filed], shown)


def test_of_replies(run, done, tmp_path):
    replies, asked = tmp_path / "replies.jsonl", ["text", "generate", "--M", 2, "--K", 7, "-n", 2]
    ids = [json.loads(line)["id"] for line in done(*asked).splitlines()]
    replies.write_text("".join(json.dumps({"id": name, "completion": "[1 2]"}) + "\n" for name in ids))
    scored = ["text", "score", replies, "--out", tmp_path / "verdicts.jsonl"]
    harmless(run, replies, line_texts, scored, [*asked, "--remaining", replies])


@pytest.mark.parametrize("message", [CONTROL, "x" * 200_000, "half \ud800"])
def test_whatever_an_error_says_is_one_seen_line(message, refused, monkeypatch):
    def fail(arguments, **options):
        raise ConfigurationError(message)

    monkeypatch.setattr("cli.main.cli.main", fail)
    err = refused("boards")
    assert len(err) < 2_100 and all(map(is_seen, err[:-1]))
