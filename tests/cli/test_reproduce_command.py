"""`sraven reproduce`: what it lists and plans, how it goes on, and what it refuses."""

import json
import shutil

import pytest

from baselines.lm.experiment import Compute
from baselines.paper.figures import Part
from baselines.paper.results import standings_of
from baselines.paper.run import CellProgress
from helpers.checkout import REPOSITORY


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """A copy of the records that are kept, whose standings are computed once; tests write none."""
    results = tmp_path_factory.mktemp("kept") / "results"
    shutil.copytree(REPOSITORY / "docs" / "results" / "reproduction", results / "reproduction")
    with pytest.MonkeyPatch.context() as monkeypatch:
        standings = standings_of(results)
        for module in ("render", "results"):
            monkeypatch.setattr(f"baselines.paper.{module}.standings_of", lambda *_, **__: standings)
        yield results


def test_the_list_has_every_figure_with_its_coverage_and_a_plan_what_is_left(results, done):
    found = json.loads(done("reproduce", "--list", "--results", results, "--json"))
    (dropout,) = (each for each in found if each["name"] == "attention-dropout")
    assert (dropout["planned"], dropout["grid_planned"]) == (18, 72)
    assert dropout["other_lengths"]["3000"] == 12
    table = done("reproduce", "--list", "--results", results)
    assert "figure-2c" in table and "of 108" in table
    plan = ("--plan", "attention-dropout", "--results", results, "--steps", "3000", "--on", "H200", "--json")
    for options, left in (
        ([], (18, 6)),
        (["--where", "attention=hyla,linear"], (12, 3)),
        (["--grid", "--where", "learning_rate=3e-3"], (36, 36)),
    ):
        [found] = json.loads(done("reproduce", *plan, *options))
        assert (found["runs"], found["left"]) == left and found["hours"] > 0


def test_a_plan_tells_runs_steps_and_operations(tmp_path, done):
    line = "reproduce", "--plan", "figure-2c", "figure-6", "--results", tmp_path
    fuzzy, language = json.loads(done(*line, "--json"))
    assert (fuzzy["runs"], fuzzy["steps"], language["runs"]) == (108, 5_400_000, 3)
    assert fuzzy["operations"] == pytest.approx(1.8e16, rel=0.02)
    assert "108 of 108" in done(*line)


def test_pages_of_a_figure_are_written_alone_and_listed(results, done):
    (results / "attention-dropout.md").write_text("old")
    (results / "figure-2c.md").write_text("old")
    line = "reproduce", "--render", "attention-dropout", "--results", results
    assert json.loads(done(*line, "--json")) == [str(results / "attention-dropout.md")]
    assert (results / "figure-2c.md").read_text() == "old"
    assert done(*line) == "all pages are what the records give\n"


def test_an_attention_is_meant_with_usual_layers_and_the_folder_of_results_is_made(tmp_path, done):
    options = "--results", tmp_path / "new" / "results", "--runs", tmp_path / "runs", "--budget", "0s"
    left = {"attention=hyla": 3, "feedforward=moe": 9}
    for where, runs in left.items():
        out = done("reproduce", "--run", "table-a1-fuzzylogic", *options, "--where", where)
        assert out.startswith(f"time is up: {runs} runs are left")


def test_runs_that_are_no_cells_are_left_out_one_by_one(tmp_path, run):
    names = [str(tmp_path / "a"), str(tmp_path / "b")]
    code, out, err = run("reproduce", "--adopt", *names, "--results", tmp_path, "--json")
    assert (code, [each["run"] for each in json.loads(out)["left_out"]]) == (1, names)
    assert err.count("holds no run") == 2


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ([], "--list, --plan, --run, --adopt, --render"),
        (["--plan", "--run", "figure-2c"], "--plan and --run"),
        (["--adopt", "run", "--budget", "3h"], "--budget"),
        (["--plan", "figure-2c", "--where", "colour=red"], "'colour=red'"),
        (["--run", "figure-2c", "--budget", "3"], "3h, 90m, or 1h30m"),
        (["--list", "--results", "nowhere"], "nowhere; run this in a checkout, or name it with --results"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(tmp_path, refused, arguments, named):
    assert named in refused("reproduce", "--results", tmp_path, *arguments)


def test_how_figure_6_is_computed_is_told_to_its_runs(tmp_path, done, monkeypatch):
    given = {}

    def take(cells, runs, results, **options):
        given.update(options)
        return CellProgress((), (), 0)

    monkeypatch.setattr("baselines.paper.run.with_text", lambda cells, text: cells)
    monkeypatch.setattr("baselines.paper.run.run_cells", take)
    folders = [f"--{name}={tmp_path}" for name in ("results", "tokens", "validation", "runs")]
    options = "--parts=32", "--tile=0", "--rematerialise", "--mesh=data=1"
    done("reproduce", "--run", "figure-6", *folders, *options)
    assert given["text"].compute == Compute(32, 0, rematerialise=True)
    assert (given["mesh"], given["gpus"]) == ("data=1", ())


def test_a_queue_is_planned(tmp_path, done, monkeypatch):
    parts = (Part("Shares?", "figure-a5", {"board": ["sraven-holdout90-v1"]}),)
    monkeypatch.setattr("baselines.paper.cells.QUEUES", {"queue": parts})
    line = ["reproduce", "--plan", "queue", "--results", tmp_path, "--where", "seed=0,1,2", "--json"]
    [shares] = json.loads(done(*line))
    assert (shares["figure"], shares["runs"]) == ("Shares?", 9)
