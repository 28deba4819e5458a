"""Python of the user's own, by ``--import``."""

import json
import sys

import pytest

from baselines.analysis import report
from baselines.model.attention import ATTENTION, find_attention
from baselines.runs.directory import read_run
from helpers.tiny_runs import quickly, shared_directory

MINE = """
from baselines.model.attention import ATTENTION, add_attention

add_attention("mine_in_a_file", ATTENTION["linear"])
"""


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """A file with an attention; what it adds goes again."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_attention.py").write_text(MINE)
    yield "my_attention.py"
    sys.modules.pop("my_attention", None)
    ATTENTION.pop("mine_in_a_file", None)


LINE = ["train", "fuzzylogic-v1", "--attention=mine_in_a_file", "--steps=1", "--warmup=1", "--out=run"]
# One step, so the program is compiled; as small as can be.
SMALL = ["--layers=1", "--width=4", "--heads=1", "--qkv-width=2", "--mlp-width=4", "--batch-size=2"]


@pytest.fixture
def compiled(tmp_path_factory):
    with quickly(shared_directory(tmp_path_factory, "compiled")):
        yield


def test_a_file_adds_an_attention_for_one_command(run, mine, monkeypatch, compiled):
    code, _, err = run(*LINE, *SMALL)
    assert code == 2 and "mine_in_a_file" in err and "--import" in err
    code, _, err = run(*LINE, *SMALL, "--score-every=0", "--import", mine)
    assert code == 0, err
    ATTENTION.pop("mine_in_a_file")  # as another process begins
    line = ["analyse", "run", "--no-figures", "-n", "48", "--out=analysis"]
    code, _, err = run(*line)
    assert code == 2 and "mine_in_a_file" in err and "--import FILE.py brings one of your own" in err
    sys.modules.pop("my_attention")

    def analyse_run(folder, out, options, line, on_progress):
        return {"weights": len(find_attention(read_run(folder).attention).weights), "command": line}

    monkeypatch.setattr(report, "analyse_run", analyse_run)
    code, out, err = run(*line, "--import", mine, "--json")
    assert code == 0, err
    assert " --import my_attention.py " in json.loads(out)["command"]


@pytest.mark.parametrize("words", [["c4", "sample", "run"], ["c4", "complete", "run", "prompts", "--out=x"]])
def test_what_runs_a_model_of_text_imports_as_well(run, refused, mine, tmp_path, words):
    (tmp_path / "prompts").touch()
    assert "absent.py isn't there" in refused(*words, "--import=absent.py")
    code, _, err = run(*words, f"--import={mine}")
    assert code == 2 and "run holds no run" in err and "mine_in_a_file" in ATTENTION


def test_several_options_may_name_a_file(refused, mine):
    assert "holds no run" in refused(
        "evaluate", "nothing", "--out=entry", f"--import={mine}", f"--import={mine}"
    )


def test_nothing_is_found_in_the_working_directory_by_its_name_alone(run, mine):
    code, _, err = run("evaluate", "nothing", "--out=entry", "--import=my_attention")
    assert code == 2
    assert "no such module; a file is named with its end, my_attention.py" in err


@pytest.mark.parametrize(
    ("name", "answer"),
    [("absent.py", "absent.py isn't there"), ("json.py", "called as a module that is there already")],
)
def test_what_cant_be_imported_is_refused(refused, mine, tmp_path, name, answer):
    (tmp_path / "json.py").write_text("raise RuntimeError('run')")
    assert answer in refused("evaluate", "nothing", "--out=entry", f"--import={name}")


def test_the_nearest_commands_are_named(run, refused):
    assert "did you mean generate?" in refused("generat")
    assert "did you mean show?" in refused("fuzzylogic", "shwo")
    assert "did you mean" not in run("xyzzy")[2]
