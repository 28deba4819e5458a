"""Grids: trained together as each run would be alone, and chosen from in distribution.

They train in float64: a program of more runs may add up in another order, of which nothing is left there.
"""

import json
import shutil
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import baselines.session
import baselines.train.grid
from baselines.load import load_run
from baselines.train.directory import CHECKPOINTS, CONFIG
from baselines.train.grid import SUMMARY, Judge, board_judge, points_of, select
from baselines.train.log import LOG
from baselines.train.result import RESULT
from baselines.train.train import Outcome
from helpers.command import sraven
from helpers.tiny_runs import (
    CHUNK,
    STEPS,
    assert_runs_agree,
    in_float64,
    leaves,
    lines_of,
    once,
    tiny,
    tiny_options,
)
from sraven.board.board import read_board


@pytest.fixture(scope="module", autouse=True)
def _float64(compiled):
    with in_float64():
        yield


LINE = ["train", "fuzzylogic-v1", "--attention=hyla", *tiny_options(), f"--save-every={STEPS // 2}"]

GUESS = Judge("r2_per_sequence", "test", True, lambda config, _: config.learning_rate + 0.001 * config.seed)
"""Scores by which 0.03 and seed 1 are better, as predictions take longer than training."""


@pytest.fixture(scope="module")
def _guessed():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(baselines.session, "board_judge", lambda board: GUESS)
        yield


@pytest.fixture(scope="module")
def together(tmp_path_factory, _guessed):
    """A grid of two points that train and one that diverges, with two seeds, and what was printed."""

    def make(folder):
        grid = ["--grid=learning_rate=0.01,0.03,1e30", "--seeds=0,1", "--json"]
        printed = sraven(*LINE, *grid, f"--out={folder / 'runs'}")
        (folder / "printed.json").write_text(json.dumps(printed))

    return once(tmp_path_factory, "grid", make)


def run_of(folder, rate, seed):
    return folder / f"learning_rate={rate}" / f"seed-{seed}"


def parameters(run):
    return leaves(load_run(run)[1])


def stamps(folder):
    """Bytes and times of all files of the checkpoints of a run."""
    files = sorted(path for path in (folder / CHECKPOINTS).rglob("*") if path.is_file())
    return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


def test_grid_may_be_given_in_one_option_or_several(tmp_path, monkeypatch):
    asked = []

    def remember(configs, folders, **options):
        asked.append((configs, folders))
        raise KeyboardInterrupt

    monkeypatch.setattr("baselines.session.train_runs", remember)
    first, second = "learning_rate=0.01,0.03", "warmup=1,2"
    for grid in (["--grid", first, second], ["--grid", first, "--grid", second]):
        code, _, err = sraven(*LINE, f"--out={tmp_path / 'runs'}", *grid)
        assert code == 130 and "the same command goes on from the last checkpoint" in err
    assert asked[0] == asked[1] and len(asked[0][0]) == 4


@pytest.mark.long
def test_runs_of_a_grid_make_a_directory_each_and_a_summary(together):
    runs, rates = together / "runs", (0.01, 0.03, "1e+30")
    files = {str(path.relative_to(runs)) for path in runs.glob("*/*/*")}
    folders = [str(run_of(runs, rate, seed).relative_to(runs)) for rate in rates for seed in (0, 1)]
    records = {file for file in files if "trained-by-" in file}
    assert {str(Path(file).parent) for file in records} == set(folders)
    assert files - records == {
        f"{run}/{name}" for run in folders for name in (CONFIG, LOG, CHECKPOINTS, RESULT)
    }
    assert [path.name for path in runs.iterdir() if path.is_file()] == [SUMMARY]
    summary = json.loads((runs / SUMMARY).read_text())
    points, shared = summary.pop("points"), asdict(tiny())
    del shared["learning_rate"], shared["seed"]
    board = {"board": "fuzzylogic-v1", "metric": "r2_per_sequence", "split": "test"}
    assert summary == {**board, "shared": shared, "selected": 1}
    for point, rate in zip(points, (0.01, 0.03, 1e30), strict=True):
        lost = rate > 1
        assert point == {
            "values": {"learning_rate": rate},
            "folder": f"learning_rate={rate}",
            "seeds": [0, 1],
            "scores": [None, None] if lost else [rate, rate + 0.001],
            "mean": None if lost else pytest.approx(rate + 0.0005),
            "standard_error": None if lost else pytest.approx(0.0005),
            "diverged": [0, 1] if lost else [],
        }


@pytest.mark.long
def test_diverging_point_is_reported_and_leaves_nothing_and_the_others_finish(together):
    code, out, err = json.loads((together / "printed.json").read_text())
    runs = together / "runs"
    printed = json.loads(out)
    diverged = {each["folder"]: each["diverged"] for each in printed.pop("runs")}
    assert code == 1 and printed == json.loads((runs / SUMMARY).read_text())
    lost = [run_of(runs, "1e+30", seed) for seed in (0, 1)]
    assert err == (
        f"error: {lost[0]} (and 1 more runs): loss or gradient is no number after step "
        f"{diverged[str(lost[0])]}; the last checkpoint is of 0; use a smaller learning rate\n"
    )
    for run in lost:
        assert 0 < diverged.pop(str(run)) < CHUNK
        assert (run / LOG).read_text() == "" and list((run / CHECKPOINTS).iterdir()) == []
    found = [(rate, seed) for rate in (0.01, 0.03) for seed in (0, 1)]
    assert diverged == {str(run_of(runs, *each)): None for each in found}
    for rate, seed in found:
        assert load_run(run_of(runs, rate, seed))[0] == tiny(learning_rate=rate, seed=seed)
        steps = [line["step"] for line in lines_of(run_of(runs, rate, seed))]
        assert steps == list(range(CHUNK, STEPS + 1, CHUNK))


@pytest.mark.long
def test_interrupted_grid_whose_runs_came_differently_far_ends_the_same(together, tmp_path, done):
    """One got half-way, one didn't begin, and two have finished: the first two are trained alone."""
    runs = shutil.copytree(together / "runs", tmp_path / "runs")
    shutil.rmtree(run_of(runs, 0.01, 1) / CHECKPOINTS / str(STEPS))
    shutil.rmtree(run_of(runs, 0.03, 0))
    (runs / SUMMARY).unlink()
    finished = [stamps(run_of(runs, 0.01, 0)), stamps(run_of(runs, 0.03, 1))]
    line = [*LINE, "--grid=learning_rate=0.01,0.03", f"--out={runs}"]
    out = done(*line, "--seeds=0,1")
    assert all(finished)
    best = " ".join(str(run_of(runs, 0.03, seed)) for seed in (0, 1))
    assert out.splitlines()[-1] == f"sraven evaluate {best} --out entry"
    assert [stamps(run_of(runs, 0.01, 0)), stamps(run_of(runs, 0.03, 1))] == finished
    for rate in (0.01, 0.03):
        for seed in (0, 1):
            here, whole = run_of(runs, rate, seed), run_of(together / "runs", rate, seed)
            assert_runs_agree(parameters(here), parameters(whole))
            assert [line["step"] for line in lines_of(here)] == list(range(CHUNK, STEPS + 1, CHUNK))
    before, again = (json.loads((each / SUMMARY).read_text())["points"] for each in (together / "runs", runs))
    assert again == before[:2]


def test_a_score_is_the_boards_and_a_point_without_numbers_is_not_chosen(tmp_path, monkeypatch):
    """Parameters may be past help after the last update, when no loss comes any more."""
    board = read_board("fuzzylogic-v1")
    guesses = np.linspace(0, 1, board.splits["test"], dtype=np.float32)

    def predict(config, params, split, count):
        assert (split, count) == ("test", len(guesses))
        return guesses if config.learning_rate < 1 else np.nan * guesses

    monkeypatch.setattr(baselines.train.grid, "predict", predict)
    points = points_of(tiny(), {"learning_rate": (0.01, 1e30)}, [0], tmp_path)
    outcomes = [Outcome(SimpleNamespace(params=None), None, None)] * 2
    summary = select(points, outcomes, tmp_path, board_judge(board))
    targets = board.task.sample("test", 0, len(guesses)).targets.astype(np.float64)
    shares = (guesses - targets[:, -1]) ** 2 / targets.var(axis=1)
    assert summary["points"][0]["mean"] == pytest.approx(1 - shares.mean(), rel=1e-4)
    assert summary["selected"] == 0 and summary["points"][1]["diverged"] == [0]
