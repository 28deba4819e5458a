"""`sraven reproduce`: what it lists and plans, how it goes on, and what it refuses."""

import json
import shutil
from functools import partial
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytest.importorskip("jax")


@pytest.fixture
def reproduce(run):
    """Run the command; return its exit code, what it prints and what it says."""
    return partial(run, "reproduce")


@pytest.fixture
def results(tmp_path):
    """A copy of the records that are kept."""
    shutil.copytree(ROOT / "docs" / "results" / "reproduction", tmp_path / "results" / "reproduction")
    return tmp_path / "results"


def test_the_list_has_every_figure_with_its_coverage_and_a_plan_what_is_left(results, reproduce):
    found = json.loads(reproduce("--list", "--results", results, "--json")[1])
    (dropout,) = (each for each in found if each["name"] == "attention-dropout")
    assert (dropout["planned"], dropout["grid_planned"]) == (18, 72)
    assert dropout["other_lengths"]["3000"] == 12
    table = reproduce("--list", "--results", results)[1]
    assert "figure-2c" in table and "of 108" in table
    plan = ("--plan", "attention-dropout", "--results", results, "--rate", "100", "--steps", "3000", "--json")
    for options, left in (
        ([], (18, 6)),
        (["--where", "attention=hyla,linear"], (12, 3)),
        (["--grid", "--where", "learning_rate=3e-3"], (36, 36)),
    ):
        assert [(each["runs"], each["left"]) for each in json.loads(reproduce(*plan, *options)[1])] == [left]


def test_a_plan_tells_runs_steps_operations_and_hours(tmp_path, reproduce):
    options = "--results", tmp_path, "--rate", "100"
    fuzzy, language = json.loads(reproduce("--plan", "figure-2c", "figure-6", *options, "--json")[1])
    assert (fuzzy["runs"], fuzzy["left"], fuzzy["steps"]) == (108, 108, 5_400_000)
    assert fuzzy["operations"] == pytest.approx(3.3e16, rel=0.02)
    assert fuzzy["operations_computed"] < fuzzy["operations"]
    assert fuzzy["hours"] == pytest.approx(fuzzy["operations_computed"] / 1e11 / 3600)
    assert language["runs"] == 3
    _, table, _ = reproduce("--plan", "figure-2c", *options)
    assert "108 of 108" in table and "at 100 GFLOP/s, as given" in table
    _, out, _ = reproduce("--plan", "figure-6", "--results", tmp_path, "--json")
    assert json.loads(out)[0]["hours"] is None  # there is no rate without its text


def test_pages_are_written_where_the_records_are(tmp_path, reproduce):
    results, part = tmp_path / "results", Path("reproduction", "attention-dropout")
    shutil.copytree(ROOT / "docs" / "results" / part, results / part)
    code, out, _ = reproduce("--render", "--results", results, "--json")
    assert code == 0
    assert str(results.with_name("results.md")) in json.loads(out)
    assert (results / "attention-dropout.md").is_file()
    assert reproduce("--render", "--results", results)[1] == "all pages are what the records give\n"


def test_no_time_trains_nothing_and_says_how_to_go_on(tmp_path, reproduce):
    options = "--results", tmp_path, "--runs", tmp_path / "runs", "--where", "seed=0"
    code, out, _ = reproduce("--run", "table-a1-fuzzylogic", *options, "--budget", "0s")
    assert code == 0
    assert out == "time is up: 14 runs are left; the same line goes on\n"


def test_runs_that_are_no_cells_are_left_out_one_by_one(tmp_path, reproduce):
    code, out, err = reproduce("--adopt", tmp_path / "a", tmp_path / "b", "--results", tmp_path, "--json")
    assert code == 1
    assert [each["run"] for each in json.loads(out)["left_out"]] == [str(tmp_path / "a"), str(tmp_path / "b")]
    assert err.count("holds no run") == 2


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ([], "--list, --plan, --run, --adopt, --render"),
        (["--plan"], "--plan"),
        (["--plan", "--run", "figure-2c"], "--plan and --run"),
        (["--adopt", "run", "--budget", "3h"], "--budget"),
        (["--list", "figure-4"], "'figure-4'"),
        (["--plan", "figure-9"], "figure='figure-9'"),
        (["--plan", "figure-4", "--steps", "10"], "steps=10"),
        (["--plan", "figure-2c", "--where", "colour=red"], "'colour=red'"),
        (["--plan", "figure-2c", "--where", "attention=hyla,hylaa"], "attention=hylaa"),
        (["--plan", "figure-2c", "--where", "seed=0", "--where", "seed=1"], "'seed=1'"),
        (["--plan", "figure-2c", "--rate", "nan"], "nan"),
        (["--run", "figure-2c", "--budget", "3"], "3h, 90m, or 1h30m"),
        (["--run", "figure-6"], "sraven c4 prepare"),
        (["--list", "--results", "nowhere"], "nowhere; run this in a checkout, or name it with --results"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(tmp_path, reproduce, arguments, named):
    code, out, err = reproduce("--results", tmp_path, *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1) and named in err
