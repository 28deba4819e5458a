"""Properties of every command."""

import json
import subprocess
import sys
from inspect import cleandoc

import pytest

from cli.shared.families import MAIN, summaries
from helpers.challenges import write_copies
from helpers.commands import COMMANDS, find_command
from helpers.submissions import SRAVEN_BOARD
from sraven.core.tasks.families import find_family, generating_families

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


def test_help_imports_nothing_slow():
    """Help and completion are fast: no time is measured, but imports are checked."""
    slow = [name for name in generating_families() if not find_family(name).settings]
    of_others = [line for line in COMMANDS if line.split()[0] not in slow]
    lines = ["", "fuzzylogic", "c4", "text", "challenge", *of_others]
    command = [sys.executable, "-P", "-c", HELP, json.dumps(lines), json.dumps(SLOW)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("line", COMMANDS)
def test_help_has_an_example(line):
    text = cleandoc(find_command(*line.split()).help)
    assert "\b\nExample:\n" in text
    example = text.partition("Example:")[2]
    assert f"sraven {line}" in example


def test_no_command_is_named_twice():
    assert len(set(COMMANDS)) == len(COMMANDS) > 30


@pytest.mark.parametrize("line", COMMANDS)
def test_json_goes_alone_to_stdout(run, line):
    """Each command has it, without exception; what is wrong is one line on standard error then, too."""
    assert any("--json" in each.opts for each in find_command(*line.split()).params)
    code, out, err = run(*line.split(), "--json", "--no-such-option")
    assert (code, out) == (2, "") and err.startswith("error: ") and err.count("\n") == 1


def lines_of(family):
    """Return a quick line of each command that a family's tasks have."""
    sizes = " ".join(f"--{split.replace('_', '-')} 5" for split in family.sizes)
    options = {"generate": f"{sizes} --out {family.name}", "show": "", "ambiguity": "-n 9"}
    return "\n".join(f"{family.commands} {name} {options[name]}" for name in summaries(family))


OTHERS = (find_family(name) for name in generating_families() if name != MAIN)
OF_OTHERS = "\n".join(map(lines_of, OTHERS))

LINES = f"""
count
generate --M 2 --train 5 --test 0 --ood 0 --part 1/1 --out part
merge part --out data
verify data
publish data user/name --dry-run
show
ambiguity --M 2 -n 9
{OF_OTHERS}
boards
freeze definitions.yaml
reference {SRAVEN_BOARD} uniform-random --out entry
score entry
errors entry
submit entry --leaderboard leaderboard
leaderboard --leaderboard leaderboard
train fuzzylogic-small-v1 --attention hyla --warmup 1 --print-config
bench
text tasks
text generate --M 2 -n 3 --out prompts.jsonl
text play --M 2 -n 3 --out page.html
text score completions.jsonl
challenge commit program --name A --out commitment.json
challenge new {SRAVEN_BOARD} COMMITMENT --out round
challenge answer round/public predictions --commitment commitment.json --program program --out answer
challenge score round/public answer --secret round/private/secret.json
c4 prepare --source documents.txt --tokenizer train --vocab-size 277 --processes 1 --out tokens
"""
"""A quick line of each command, one after the other in a folder."""

ELSEWHERE = {
    *("analyse", "curves", "evaluate", "reproduce", "text cost", "text submit"),
    *("c4 complete", "c4 fingerprint", "c4 sample"),
}
"""Commands that need trained runs or boards of their own: their tests have a line with ``--json``."""


def test_json_is_an_object_or_a_list(run, small_boards, tmp_path, monkeypatch):
    """So says `helpers.command.sraven` of whatever it runs; here every command is."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sraven.core.compute.bench.measure", lambda case: {})
    for name in ("program", "leaderboard"):
        (tmp_path / name).mkdir()
    (tmp_path / "program" / "model.py").touch()
    (tmp_path / "definitions.yaml").write_text("boards: []")
    words = ["red", "green", "blue", "square"]
    (tmp_path / "documents.txt").write_text(
        "".join(f"{one} {two} things\n" for one in words for two in words)
    )
    (tmp_path / "completions.jsonl").write_text(
        json.dumps({"id": "v1_M2-K8-unique_h25_s0_ood-3_told-0_0", "completion": "1 2"})
    )
    lines, commitment = LINES.strip().splitlines(), ""
    for line in lines:
        code, out, err = run(*line.replace("COMMITMENT", commitment).split(), "--json")
        assert code == 0, f"{line}: {err}"
        if line.startswith("challenge commit"):
            commitment = json.loads(out)["commitment"]
        if line.startswith("challenge new"):
            write_copies(tmp_path)
    ran = {
        command for command in COMMANDS for line in lines if line.startswith(f"{command} ") or line == command
    }
    assert ran | ELSEWHERE == set(COMMANDS)
