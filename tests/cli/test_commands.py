"""The command line: what it prints, its exit codes, and what it doesn't import."""

import json
import os
import runpy
import subprocess
import sys

import pytest

from cli.main import cli
from helpers.example import SIZES
from sraven import SRAVEN

COMMANDS = cli.summaries()


def test_summaries_of_commands_are_listed(run):
    _, out, _ = run("--help")
    for name, summary in COMMANDS.items():
        assert name in out and summary in out


def test_version(done):
    assert done("--version").startswith("sraven 0.")


@pytest.mark.parametrize("line", [("--version", "--json"), ("--json", "--version")])
def test_versions_of_what_it_stands_on_are_told_to_programs(run, line):
    code, out, _ = run(*line)
    found = json.loads(out)
    assert code == 0 and found["benchmark_version"] == "1"
    assert {"numpy", "numba", "pyarrow", "datasets"} <= found["packages"].keys()


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
def test_generate_prints_the_line_that_loads(run, tmp_path, line):
    code, out, err = generate(run, tmp_path / "data", line=line)
    assert (code, err) == (0, "")
    script = tmp_path / "load.py"
    script.write_text("\n".join(out.strip().splitlines()[-2:]))
    found = runpy.run_path(str(script))["dataset"]
    assert {name.replace("_", "-"): len(split) for name, split in found.items()} == SIZES_OF[line]
    assert run("verify", tmp_path / "data")[0] == 0


def test_generate_json_is_machine_readable(run, tmp_path):
    code, out, _ = generate(run, tmp_path / "raven", "--json", "--answers", "unique")
    content = json.loads(out)
    assert code == 0 and content["config"]["answers"] == "unique"
    assert content["splits"]["ood"]["num_examples"] == 10


def test_default_directory_says_what_differs_from_the_default(run, refused, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    line = ["generate", "--M", 2, "--K", 5, "--train", 3, "--test", 3]
    assert run(*line, "--ood", 3)[0] == run(*line, "--ood", 3, "--holdout", 0.5, "--seed", 3)[0] == 0
    assert run(*line, "--holdout", 0, "--no-permute")[0] == 0
    assert run(*line, "--part", "1/2", "--seed", 3)[0] == 0
    fuzzy = ["fuzzylogic", "generate", "--L", 2, "--K", 3, "--N", 4, "--train", 3, "--test", 3]
    assert run(*fuzzy, "--holdout", 0, "--unseen-terms", 0)[0] == 0  # which leaves no other split
    names = [
        f"sraven-M2-K5{end}" for end in ("", "-holdout50-seed3", "-seed3-part-1-of-2", "-unpermuted-holdout0")
    ]
    assert sorted(os.listdir()) == ["fuzzylogic-L2-K3-N4-holdout0-unseen-terms0", *names]
    found = refused(*line, "--ood", 3, "--seed", 3, "--out", "sraven-M2-K5")
    assert "holds another dataset, M2-K5 (seed 0, not 3); choose another" in found


def test_a_split_that_the_task_lacks_is_refused_if_it_was_asked_for(run, tmp_path):
    line = ["generate", "--M", 2, "--K", 5, "--train", 3, "--test", 3, "--holdout", 0]
    code, _, err = run(*line, "--ood", 3, "--out", tmp_path / "out")
    assert code == 2 and "ood" in err and not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("line", "options", "named"),
    [
        (OF_SRAVEN, ["--M", 0], "M=0"),
        (OF_SRAVEN, ["--M", "four"], "'four'"),
        (OF_SRAVEN, ["--K", 2], "K=2"),
        (OF_SRAVEN, ["--K", 257], "K=257"),
        *((OF_SRAVEN, ["--holdout", value], f"holdout={value}") for value in (1.0, "nan", 0.001, 0.99)),
        (OF_SRAVEN, ["--holdout", 0], "ood=10"),
        *((OF_SRAVEN, ["--seed", value], f"seed={value}") for value in (-1, 2**63)),
        (OF_SRAVEN, ["--train", -5], "train=-5"),
        (OF_SRAVEN, ["--answers", "some"], "'any', 'unique'"),
        (OF_SRAVEN, ["--format", "csv"], "expected one of 'parquet', 'arrow'"),
        (OF_SRAVEN, ["--threads", 0], "--threads"),
        (OF_SRAVEN, ["--colour", "red"], "--colour"),
        (OF_FUZZY_LOGIC, ["--L", 16, "--K", 3], "L=16, K=3"),
        (OF_FUZZY_LOGIC, ["--unseen-terms", 0], "ood_terms=5"),
        (OF_FUZZY_LOGIC, ["--query", "odd"], "'uniform', 'fixed_context', 'fixed_query'"),
    ],
)
def test_bad_usage_is_one_line_and_creates_nothing(refused, tmp_path, line, options, named):
    assert named in generate(refused, tmp_path / "data", *options, line=line)
    assert not (tmp_path / "data").exists()


def test_full_disk_is_one_line_with_what_to_do(run, tmp_path, monkeypatch):
    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("sraven.core.dataset.write.move_into_place", full)
    code, _, err = generate(run, tmp_path / "raven")
    assert code == 1 and err.count("\n") == 1
    assert "No space left on device" in err and "the same command goes on" in err


def test_interrupt_is_one_line_with_what_to_do(run, tmp_path, monkeypatch):
    def interrupt(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("sraven.core.dataset.write.make_manifest", interrupt)
    code, _, err = generate(run, tmp_path / "raven")
    assert (code, err) == (130, "error: interrupted; the same command goes on from here\n")


def test_verify(done, refused, dataset_directory, tmp_path):
    assert done("verify", dataset_directory).endswith("all is right\n")
    out = done("verify", dataset_directory, "--json")
    assert json.loads(out)["ok"] is True and json.loads(out)["checked"] == SIZES
    assert "manifest.json" in refused("verify", tmp_path / "absent")


def test_verify_exits_with_1_on_a_fault(run, tmp_path):
    generate(run, tmp_path / "raven")
    (tmp_path / "raven" / "croissant.json").write_text("{}")
    code, out, err = run("verify", tmp_path / "raven")
    assert code == 1 and "croissant.json" in err and "1 fault\n" in out


def test_count_json(run):
    _, out, _ = run("count", "--M", 4, "--K", 8, "--json")
    assert json.loads(out)["multisets"] == 330


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("ambiguity --M 2 --K 5", ("held out (ood)", "several answers")),
        ("fuzzylogic ambiguity --N 6", ("observer R²", "ood_terms")),
    ],
)
def test_ambiguity_table_and_json(run, done, line, words):
    out = done(*line.split(), "-n", 500)
    assert all(word in out for word in words)
    results = json.loads(run(*line.split(), "-n", 500, "--json")[1])["results"]
    if "several_answers" in results[0]:
        assert [result["split"] for result in results] == ["all", "test", "ood"]
        assert 0 < results[0]["several_answers"]["value"] < 1
    else:
        populations = [(result["split"], result["prior"]) for result in results[:3]]
        assert populations == [("all", "all"), ("test", "all"), ("test", "test")]
        assert results[2]["r2"] >= results[1]["r2"]


def test_ambiguity_without_ood_split(done):
    assert "held out" not in done("ambiguity", "--M", 1, "--K", 5, "--holdout", 0, "-n", 100)


def test_show_hides_the_answer_until_asked(run):
    task = SRAVEN()
    target = task.sample("train", 0, 1).target[0]
    _, out, _ = run("show")
    assert out.count("?") == 4 and "answer" not in out
    _, out, _ = run("show", "--explain")
    assert f"{' '.join(map(str, target))}  the target" in out


def test_show_hides_the_value_of_a_function_until_asked(run):
    _, out, _ = run("fuzzylogic", "show", "--N", 5)
    assert "?" in out and "∨" not in out
    _, out, _ = run("fuzzylogic", "show", "--N", 5, "--explain")
    assert "?" not in out and "∨" in out and "with the points shown" in out


def test_show_json_has_all_answers(run):
    assert "indices has numbers beyond 64 bits" in run("show", "--index", 1 << 64)[2]
    _, out, _ = run("show", "--split", "ood", "--index", 3, "-n", 2, "--json")
    puzzles = json.loads(out)
    assert [puzzle["index"] for puzzle in puzzles] == [3, 4]
    assert all(puzzle["target"] in puzzle["answers"] for puzzle in puzzles)


@pytest.mark.parametrize(
    "line",
    [
        "show --explain --M 8 --K 256",
        "show --M 1 --holdout 0",
        "fuzzylogic show --L 2 --holdout 0 --unseen-terms 0",
    ],
)
def test_show_writes_a_picture(run, tmp_path, line):
    assert run(*line.split(), "--png", tmp_path / "puzzle.png")[0] == 0
    assert (tmp_path / "puzzle.png").read_bytes().startswith(b"\x89PNG")


def test_show_without_matplotlib_names_the_extra(refused, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    monkeypatch.delitem(sys.modules, "sraven.views.plots", raising=False)
    assert "'.[analysis]'" in refused("show", "--png", tmp_path / "puzzle.png")


def test_pictures_that_cannot_be_drawn_are_refused(refused, tmp_path):
    assert "--count" in refused("show", "--png", tmp_path / "puzzle.png", "-n", 2)
    assert "use --L 2" in refused("fuzzylogic", "show", "--png", tmp_path / "surface.png")


def test_closed_pipe_is_no_traceback():
    command = [sys.executable, "-m", "sraven", "show", "-n", "200"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == ""
