"""Properties of every command."""

import json
from importlib import import_module
from inspect import cleandoc, signature

import click
import pytest

from baselines.lm.tokenizer import train_tokenizer
from cli.main import COMMANDS as OWN, cli
from cli.shared.families import MAIN, commands_of
from helpers.commands import COMMANDS, find_command
from helpers.python import python
from helpers.submissions import SRAVEN_BOARD
from sraven.core.families import find_family, generating_families
from sraven.data.write import write_dataset

SLOW = ("numba", "numpy", "jax", "pyarrow", "datasets", "rich", "yaml", "sraven.task")

HELP = """
import io, json, sys
from contextlib import redirect_stdout
from cli.main import main
for line in json.loads(sys.argv[1]):
    with redirect_stdout(io.StringIO()):
        try:
            main([*line.split(), "--help"])
        except SystemExit as stop:
            assert stop.code == 0, line
    found = set(json.loads(sys.argv[2])) & set(sys.modules)
    assert not found, f"sraven {line} --help imports {found}"
"""


def test_summaries_and_versions_are_told(done, refused):
    out = done("--help")
    for name in cli.list_commands(click.Context(cli)):
        assert name in out and find_command(name).short_help in out
    for name in OWN:
        module = import_module(find_command(name).callback.__module__)
        assert (module.__doc__ or "").split("\n")[0] == find_command(name).short_help != ""
    assert len(set(COMMANDS)) == len(COMMANDS) > 30
    assert "did you mean generate?" in refused("generat")
    assert done("--version").startswith("sraven 0.")


def test_defaults_are_those_of_what_is_called():
    """Options say them in their help, which imports nothing of what is called."""

    def defaults(*words):
        return {each.name: each.default for each in find_command(*words).params}

    made = signature(write_dataset).parameters["file_format"].default
    assert defaults("generate")["file_format"] == defaults("fuzzylogic", "generate")["file_format"] == made


def test_help_imports_nothing_slow():
    """Help and completion are fast: no time is measured, but imports are checked."""
    lines = ["", "fuzzylogic", "c4", "text", *COMMANDS]
    done = python("-P", "-c", HELP, json.dumps(lines), json.dumps(SLOW))
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("line", COMMANDS)
def test_help_has_an_example_and_json_goes_alone_to_stdout(run, line):
    """Each command has both, without exception; what is wrong is one line on standard error then, too."""
    found = find_command(*line.split())
    assert f"sraven {line}" in cleandoc(found.help).partition("\b\nExample:\n")[2]
    assert any("--json" in each.opts for each in found.params)
    code, out, err = run(*line.split(), "--json", "--no-such-option")
    assert (code, out) == (2, "") and err.startswith("error: ") and err.count("\n") == 1


def lines_of(family):
    """Return a quick line of each command that a family's tasks have."""
    sizes = " ".join(f"--{split.replace('_', '-')} 5" for split in family.sizes)
    options = {"generate": f"{sizes} --out {family.name}", "show": "", "ambiguity": "-n 9"}
    return "\n".join(f"{family.commands} {name} {options[name]}" for name in commands_of(family))


OTHERS = (find_family(name) for name in generating_families() if name != MAIN)
OF_OTHERS = "\n".join(map(lines_of, OTHERS))

LINES = f"""
count
generate --M 2 --train 5 --test 0 --ood 0 --part 1/1 --out part
merge part --out data
verify data
show
ambiguity --M 2 -n 9
{OF_OTHERS}
boards
freeze definitions.yaml
reference {SRAVEN_BOARD} uniform-random --out entry
score entry
errors entry
compare entry entry
plot entry --out scores.svg
submit entry --leaderboard leaderboard
leaderboard --leaderboard leaderboard
train fuzzylogic-small-v1 --attention hyla --warmup 1 --print-config
bench
text tasks
text generate --M 2 -n 3 --out prompts.jsonl
text play --M 2 -n 3 --out page.html
text score completions.jsonl
c4 prepare --source documents.txt --tokenizer own.model --processes 1 --out tokens
"""
"""A quick line of each command, one after the other in a folder."""

ELSEWHERE = {*("analyse", "curves", "evaluate", "export", "publish", "reproduce", "text ask", "text submit")}
"""Commands that need trained runs, own boards or a server: their tests have a line with ``--json``."""


def test_json_is_an_object_or_a_list(run, small_boards, tmp_path, monkeypatch):
    """So says `helpers.command.sraven` of whatever it runs; here every command is."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sraven.core.bench.measure", lambda case: {})
    (tmp_path / "leaderboard").mkdir()
    (tmp_path / "definitions.yaml").write_text("boards: []")
    documents = "".join(f"{one} {two} things\n" for one in "abcde" for two in "vwxyz")
    (tmp_path / "documents.txt").write_text(documents)
    (tmp_path / "own.model").write_bytes(train_tokenizer(documents.splitlines(), 277).model)
    completion = {"id": "v1_M2-K8-unique_h25_s0_ood-3_told-0_0", "completion": "1 2"}
    (tmp_path / "completions.jsonl").write_text(json.dumps(completion))
    lines = LINES.strip().splitlines()
    for line in lines:
        code, _, err = run(*line.split(), "--json")
        assert code == 0, f"{line}: {err}"
    ran = {command for command in COMMANDS for line in lines if f"{line} ".startswith(f"{command} ")}
    assert ran | ELSEWHERE == set(COMMANDS)
