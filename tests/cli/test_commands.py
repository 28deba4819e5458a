"""The commands of families of tasks: what they print, and their exit codes."""

import json
import os
import re
import runpy
import subprocess
import sys
from dataclasses import fields

import pytest

from cli.main import cli
from cli.shared.families import commands_of
from helpers.example import SIZES
from sraven import SRAVEN
from sraven.core.families import find_family, generating_families
from sraven.core.spec import settings_of


@pytest.mark.parametrize("name", generating_families())
def test_options_are_the_fields_of_the_task(name):
    family = find_family(name)
    task, commands = family.task(), commands_of(family)
    settings = settings_of(type(task))
    assert next(iter(commands)) == "generate"
    assert set(settings) == {field.name for field in fields(task)}
    for command in commands:
        group = cli if name == "sraven" else cli.load(family.commands)
        options = {option.name: option for option in group.load(command).params}
        for field, (default, setting) in settings.items():
            if command == "ambiguity" and not setting.measured:
                assert field not in options
                continue
            assert options[field].help == setting.meaning
            if isinstance(default, bool):
                assert options[field].is_flag
            elif default is not None:
                assert options[field].default == default


# Datasets


SIZES_OF = {
    "generate --M 3 --K 7 --holdout 0.3": {"train": 300, "test": 20, "ood": 10},
    "fuzzylogic generate --N 7": {"train": 300, "test": 20, "ood": 10, "ood-terms": 5},
}
"""Lines that make a small dataset of a family, but for their sizes."""
OF_SRAVEN, OF_FUZZY_LOGIC = SIZES_OF


def generate(run, out, *more, line=OF_SRAVEN):
    sizes = [f"--{split}={size}" for split, size in SIZES_OF[line].items()]
    return run(*line.split(), *sizes, "--out", out, *more)


@pytest.mark.parametrize("line", SIZES_OF)
def test_generate_prints_the_line_that_loads(run, done, tmp_path, line):
    out = generate(done, tmp_path / "data", line=line)
    script = tmp_path / "load.py"
    script.write_text("\n".join(out.strip().splitlines()[-2:]))
    found = runpy.run_path(str(script))["dataset"]
    assert {name.replace("_", "-"): len(split) for name, split in found.items()} == SIZES_OF[line]
    assert done("verify", tmp_path / "data").endswith("all is right\n")
    (tmp_path / "data" / "croissant.json").write_text("{}")
    code, out, err = run("verify", tmp_path / "data")
    assert code == 1 and "croissant.json" in err and "1 fault\n" in out


def test_verify(done, refused, dataset_directory, monkeypatch, tmp_path):
    found = json.loads(done("verify", dataset_directory, "--json"))
    assert found["ok"] is True and found["checked"] == SIZES
    assert "manifest.json" in refused("verify", tmp_path / "absent")
    assert "is hf://datasets/user/absent;" in refused("verify", "user/absent")
    for address in ("memory://r", "s3://bucket/r", "https://example.org/r"):
        assert f"{address} is an address; copy it here" in refused("verify", address)
    monkeypatch.setattr(os, "access", lambda place, mode: False)  # root may read anything
    assert f"{tmp_path} is closed to you" in refused("verify", tmp_path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\0" * 99, "null bytes"),
        (b"\xff\xfe", "no Python that can be read"),
        (b"def f(:", "no Python that can be read: invalid syntax"),
        (b"(" * 99_999, "no Python that can be read"),
        (None, "has 2,147,483,648 bytes"),
    ],
)
def test_what_is_no_python_is_not_imported(refused, tmp_path, content, message):
    pytest.importorskip("jax")
    path = tmp_path / "imported_but_no_python.py"
    path.write_bytes(content or b"")
    if content is None:
        os.truncate(path, 1 << 31)
    assert message in refused("train", "--import", path)
    assert path.stem not in sys.modules


def test_default_directory_says_what_differs_from_the_default(done, refused, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    line = "generate --M 2 --K 5 --train 3 --test 3"
    fuzzy = "fuzzylogic generate --L 2 --K 3 --N 4 --train 3 --test 3"
    names = {
        f"{line} --ood 3": "sraven-M2-K5",
        f"{line} --ood 3 --holdout 0.5 --seed 3": "sraven-M2-K5-holdout50-seed3",
        f"{line} --holdout 0 --no-permute": "sraven-M2-K5-unpermuted-holdout0",
        f"{line} --part 1/2 --seed 3": "sraven-M2-K5-seed3-part-1-of-2",
        # which leaves no other split
        f"{fuzzy} --holdout 0 --unseen-terms 0": "fuzzylogic-L2-K3-N4-holdout0-unseen-terms0",
    }
    for each in names:
        done(*each.split())
    assert sorted(os.listdir()) == sorted(names.values())
    found = refused(*line.split(), "--ood", 3, "--seed", 3, "--out", "sraven-M2-K5")
    assert "holds another dataset, M2-K5 (seed 0, not 3); choose another" in found


@pytest.mark.parametrize(
    ("line", "options", "named"),
    [
        (OF_SRAVEN, "--M 0", "M=0"),
        (OF_SRAVEN, "--answers some", "'any', 'unique'"),
        (OF_SRAVEN, "--colour red", "--colour"),
        (OF_FUZZY_LOGIC, "--unseen-terms 0", "ood_terms=5"),
    ],
)
def test_bad_usage_is_one_line_and_creates_nothing(refused, tmp_path, line, options, named):
    assert named in generate(refused, tmp_path / "data", *options.split(), line=line)
    assert not (tmp_path / "data").exists()


def test_a_full_disk_is_one_line_with_what_to_do(run, tmp_path, monkeypatch):
    def fail(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("sraven.data.write.make_manifest", fail)
    code, _, err = generate(run, tmp_path / "raven")
    assert code == 1 and re.fullmatch(r"error: .*No space left.*the same command goes on.*\n", err)


# Looking at instances


def test_ambiguity_of_matrices(done):
    line = "ambiguity", "--M", 2, "--K", 5, "-n", 500
    table, results = done(*line), json.loads(done(*line, "--json"))["results"]
    assert "held out (ood)" in table and "several answers" in table
    assert [result["split"] for result in results] == ["all", "test", "ood"]
    assert 0 < results[0]["several_answers"]["value"] < 1
    assert "held out (ood)" not in done("ambiguity", "--M", 1, "--K", 5, "--holdout", 0, "-n", 100)


def test_ambiguity_of_fuzzy_logic(done):
    line = "fuzzylogic", "ambiguity", "--N", 6, "-n", 500
    table, results = done(*line), json.loads(done(*line, "--json"))["results"]
    assert "observer R²" in table and "ood_terms" in table
    populations = [(result["split"], result["prior"]) for result in results[:3]]
    assert populations == [("all", "all"), ("test", "all"), ("test", "test")]
    assert results[2]["r2"] >= results[1]["r2"]


def test_show_hides_the_answer_until_asked(run, done):
    target, out = SRAVEN().sample("train", 0, 1).target[0], done("show")
    assert out.count("?") == 4 and "answer" not in out
    assert f"{' '.join(map(str, target))}  the target" in done("show", "--explain")
    out, explained = done("fuzzylogic", "show", "--N", 5), done("fuzzylogic", "show", "--N", 5, "--explain")
    assert "?" in out and "∨" not in out
    assert "?" not in explained and "∨" in explained and "with the points shown" in explained
    assert "indices has numbers beyond 64 bits" in run("show", "--index", 1 << 64)[2]
    puzzles = json.loads(done("show", "--split", "ood", "--index", 3, "-n", 2, "--json"))
    assert [puzzle["index"] for puzzle in puzzles] == [3, 4]
    assert all(puzzle["target"] in puzzle["answers"] for puzzle in puzzles)


@pytest.mark.parametrize("options", ["--explain --M 8 --K 256", "--M 1"])  # of 1 nothing can be held out
def test_show_writes_a_picture(done, tmp_path, options):
    done("show", *options.split(), "--out", tmp_path / "puzzle.png")
    assert (tmp_path / "puzzle.png").read_bytes().startswith(b"\x89PNG")


def test_pictures_that_cannot_be_drawn_are_refused(refused, tmp_path, monkeypatch):
    out = ("--out", tmp_path / "puzzle.png")
    assert "--count" in refused("show", *out, "-n", 2)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    monkeypatch.delitem(sys.modules, "sraven.plots", raising=False)
    assert "'.[analysis]'" in refused("show", *out)


@pytest.mark.parametrize("line", ["show -n 1", "show -n 200", "boards --json"])  # by rich, by click
def test_closed_pipe_is_no_traceback(line):
    command = [sys.executable, "-m", "sraven", *line.split()]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        process.stdout.close()
        assert (process.stderr.read(), process.wait()) == ("", 141)
