"""Completion of the values of options and arguments."""

import os
import subprocess
import sys
from importlib import import_module

import pytest
from click.shell_completion import ShellComplete

from baselines.model.attention import ACTIVATIONS, ATTENTION, MODULES
from baselines.model.networks import NETWORKS
from baselines.training.optim import OPTIMISERS
from cli import completion
from cli.main import cli
from helpers.commands import all_commands, find_command
from sraven import boards, text
from sraven.rules import RULE_SETS


def offered(*words):
    """Return what is offered for the last of some words, a value and its kind each."""
    items = ShellComplete(cli, {}, "sraven", "_SRAVEN_COMPLETE").get_completions(list(words[:-1]), words[-1])
    return [(item.value, item.type) for item in items]


def names(*words):
    return [value for value, _ in offered(*words)]


def test_names_of_the_help_are_those_of_the_tables():
    assert tuple(text.FORMS) == import_module("cli.shared.questions").FORMS


def test_every_entry_is_of_some_parameter():
    taken = {each.name for words in all_commands() for each in find_command(*words).params}
    assert {*completion.NAMES, *completion.FOLDERS} <= taken


@pytest.mark.parametrize("line", ["boards", "train", "leaderboard", "text generate --board"])
def test_boards(line):
    assert set(names(*line.split(), "")) == set(boards())
    assert names(*line.split(), "sraven-v") == ["sraven-v1"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("generate --format", ["parquet", "arrow"]),
        ("generate --answers", ["any", "unique"]),
        ("generate --rules", list(RULE_SETS)),
        ("show --split", ["train", "test", "ood", "all"]),
        ("fuzzylogic show --split", ["train", "test", "ood", "ood_terms", "all"]),
        ("fuzzylogic generate --query", ["uniform", "fixed_context", "fixed_query"]),
        ("train sraven-v1 --attention", [*ATTENTION, *MODULES]),
        ("train sraven-v1 --activation", list(ACTIVATIONS)),
        ("train sraven-v1 --network", list(NETWORKS)),
        ("train sraven-v1 --optimiser", list(OPTIMISERS)),
        ("train sraven-v1 --recipe", ["paper", "paper-code"]),
        ("generate --holdout", ["pairs", "blocks", "repeats"]),
        ("fuzzylogic generate --holdout", []),
    ],
)
def test_values(line, expected):
    assert names(*line.split(), "") == expected


def test_commands_and_options():
    assert names("gen") == ["generate"] and names("c4", "pre") == ["prepare"]
    assert names("generate", "--hold") == ["--holdout"] and names("--vers") == ["--version"]


def test_folders_are_those_that_hold_the_right_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("run", "seeds/seed-0", "seeds/seed-1", "run-$(touch ran)", ".run"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "config.json").touch()
    (tmp_path / "entry").mkdir()
    (tmp_path / "entry" / "submission.yaml").touch()
    assert names("evaluate", "") == ["run", "seeds/seed-0", "seeds/seed-1"]
    assert names("evaluate", "run", "seeds/seed-") == ["seeds/seed-0", "seeds/seed-1"]
    assert names("analyse", f"{tmp_path}/r") == [f"{tmp_path}/run"]
    assert names("score", "") == ["entry"]
    assert offered("verify", "se") == [("se", "dir")]  # nothing fits, so the shell offers any
    assert offered("verify", "nowhere/x") == [("nowhere/x", "dir")]


def test_nothing_is_run_for_it(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text("open('ran', 'w')")
    monkeypatch.chdir(tmp_path)
    assert names("train", "sraven-v1", "--import", "mine.py", "--attention", "hyla_s") == ["hyla_softmax"]
    assert not (tmp_path / "ran").exists()


def test_in_bash(tmp_path):
    """The line of the documentation, then what bash runs when a key is hit. Nothing slow can be imported."""
    without = "sys.modules.update(dict.fromkeys(('numba', 'numpy', 'jax', 'pyarrow', 'datasets')))"
    script = f"#!{sys.executable} -P\nimport sys\n{without}\nfrom cli.main import main\nmain()\n"
    (tmp_path / "sraven").write_text(script)
    (tmp_path / "sraven").chmod(0o755)
    hit = """
        eval "$(_SRAVEN_COMPLETE=bash_source sraven)"
        COMP_WORDS=(sraven train sraven-v1 --attention hyla_s) COMP_CWORD=4
        complete -p sraven; _sraven_completion sraven; echo "${COMPREPLY[@]}"
    """
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    ran = subprocess.run(["bash", "-c", hit], env=environment, capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines() == ["complete -o nosort -F _sraven_completion sraven", "hyla_softmax"]
