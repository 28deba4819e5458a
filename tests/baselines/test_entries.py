"""The name of a leaderboard entry, by the configuration of its runs."""

import json
from pathlib import Path

import click
import pytest

from baselines.evaluate import describe_runs
from baselines.recipes import make_config
from cli.commands.evaluate import _authors
from helpers.refusals import assert_refused
from sraven import OutputError
from sraven.board.board import read_board


def name_of(config):
    return describe_runs([config], {}, [Path("run")], [], None)["method"]["name"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, ""),
        ({"learning_rate": 0.0003}, "rate 0.0003, "),
        ({"feedforward": "moe"}, "moe, "),
        ({"feedforward": "none"}, "no feed-forward layers, "),
        ({"recipe": "paper-code"}, "recipe paper-code, "),
        ({"position": "relative_both_ways"}, "both-ways buckets, "),
        ({"recipe": "paper-code", "attention_dropout": 0.0}, "recipe paper-code, attention dropout 0, "),
        ({"weight_decay": 0.3, "warmup": 10_000}, "decay 0.3, warm-up 10000, "),
        ({"seed": 3, "steps": 20_000}, ""),
        ({"steps": 15_625}, ""),
        ({"steps": 15_625, "warmup": 1000}, "warm-up 1000, "),
    ],
)
def test_its_name_says_in_what_it_differs_from_the_recipe(changes, words):
    config = make_config(read_board("sraven-v1"), "hyla", **changes)
    assert name_of(config) == f"hyla, {words}{config.steps * config.batch_size:,} instances"


def test_the_warm_up_is_the_same_share_of_a_short_run_unless_it_is_given():
    board = read_board("sraven-v1")
    configs = [make_config(board, "hyla", steps=steps) for steps in (None, 15_625, 1)]
    assert [config.warmup for config in configs] == [1000, 100, 1]
    assert_refused("would never reach", make_config, board, "hyla", steps=20, warmup=21)


def test_points_and_trials_of_an_entry_are_those_of_its_grid(tmp_path):
    config = make_config(read_board("sraven-v1"), "hyla")
    run = tmp_path / "learning_rate=0.001" / "seed-0"
    run.mkdir(parents=True)
    means = {"learning_rate=0.001": 0.9, "learning_rate=0.003": 0.8, "learning_rate=1": None}
    points = [
        {"values": {"learning_rate": float(name.partition("=")[2])}, "folder": name, "mean": mean}
        for name, mean in means.items()
    ]
    (tmp_path / "grid.json").write_text(json.dumps({"points": points}))
    found = describe_runs([config], {}, [run], [], None)
    assert found["points"] == [{"name": "rate 0.003", "scores": {"test": 0.8}}]
    assert found["training"]["tuning_trials"] == 3 and found["training"]["selection_split"] == "test"
    (tmp_path / "grid.json").write_text("{")
    with pytest.raises(OutputError, match=r"grid.json can't be read"):
        describe_runs([config], {}, [run], [], None)


def test_author_is_asked_for_or_taken_from_git_and_said(monkeypatch, capsys):
    monkeypatch.setattr("baselines.train.provenance.ask_git", lambda *command, root: None)
    with pytest.raises(click.UsageError, match="say who submits: --author NAME"):
        _authors(())
    monkeypatch.setattr("baselines.train.provenance.ask_git", lambda *command, root: "A. Author")
    assert _authors(()) == ["A. Author"] and _authors(("B",)) == ("B",)
    assert "the author is A. Author, as git is configured" in capsys.readouterr().err
