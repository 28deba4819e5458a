"""Untrusted input in messages: one visible line of bounded length, and short numbers."""

import shutil

import pytest

import cli.main
from cli.shared.scores import mean_with_error
from helpers.submissions import SRAVEN_BOARD, edit, use_boards, write
from sraven.core.base.errors import ConfigurationError
from sraven.core.base.escape import is_seen


@pytest.mark.parametrize(
    "message",
    [
        "a\x1b[2J\x07b",
        "turned \u202eback",
        "no\u200bwidth \u3164",
        "lines\nand\u2028more",
        "x" * 200_000,
        "\u0301" * 500,
        "half \ud800",
    ],
)
def test_whatever_an_error_says_is_one_seen_line(message, run, monkeypatch):
    def fail(arguments, **options):
        raise ConfigurationError(message)

    monkeypatch.setattr(cli.main.cli, "main", fail)
    code, out, err = run("boards")
    assert (code, out) == (2, "")
    assert err.startswith("error: ") and err.endswith("\n")
    assert len(err) < 2_100 and all(map(is_seen, err[:-1]))


@pytest.mark.parametrize("name", ["x" * 200_000, "\u202eboard", "\x1b[2J"])
def test_strange_arguments_are_repeated_as_one_line(name, run):
    code, out, err = run("boards", name)
    assert (code, out) == (2, "") and len(err) < 2_100 and all(map(is_seen, err[:-1]))


@pytest.mark.parametrize(
    ("mean", "error", "text"),
    [
        (0.5, 0.01, "0.5000 ± 0.0100"),
        (0.5, 1e-6, "0.500000 ± 0.000001"),
        (0.5, 1e-300, "0.5000 ± 0.0000"),
        (1e300, 1e300, "1e+300 ± 1e+300"),
        (-1e300, None, "-1e+300"),
    ],
)
def test_numbers_of_any_size_are_short(mean, error, text):
    assert mean_with_error({"mean": mean, "standard_error": error}) == text


def test_names_that_look_like_others_are_told_below_the_standing(run, monkeypatch, tmp_path):
    use_boards(monkeypatch, tmp_path / "boards")
    submission = write(tmp_path / "submission", SRAVEN_BOARD, method={"name": "A method"})
    names = {"20261120-first": "A method", "20261121-second": "\u0410 m\u0435thod"}
    filed = {}
    for folder, name in names.items():
        copy = tmp_path / "copies" / folder
        shutil.copytree(submission, copy)
        edit(copy, lambda content, name=name: content["method"].update(name=name))
        assert run("score", copy, "--out", tmp_path / folder)[0] == 0
        filed[folder] = tmp_path / "leaderboard" / "submissions" / SRAVEN_BOARD / folder
        shutil.copytree(copy, filed[folder])
        shutil.copy(tmp_path / folder, filed[folder] / "scores.json")
    code, out, err = run("leaderboard", SRAVEN_BOARD, "--leaderboard", tmp_path / "leaderboard")
    assert code == 0 and "A method" in out
    assert (
        f"{SRAVEN_BOARD}/20261121-second: its name mixes Cyrillic and Latin letters in a word; "
        "its name looks like that of another entry\n"
    ) in err
    assert "first:" not in err
