"""Grids: read, laid out, trained together as each run would be alone, and chosen from in distribution.

They train in float64: a program of more runs may add up in another order, of which nothing is left there.
"""

import contextlib
import io
import json
import shutil
from dataclasses import asdict, replace
from pathlib import Path
from types import MappingProxyType, SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import baselines.grid
from baselines.config import RunConfig
from baselines.evaluate import predict
from baselines.grid import SUMMARY, points_of, read_grid, select
from baselines.log import EVENTS, LOG
from baselines.optim import Hyper
from baselines.run_directory import CHECKPOINTS, CONFIG
from baselines.train import Outcome, load_run, train, train_runs
from cli.main import main
from helpers.tiny_runs import (
    CHUNK,
    STEPS,
    assert_runs_agree,
    in_float64,
    leaves,
    once,
    quickly,
    shared_directory,
    tiny,
    tiny_options,
)
from sraven import ConfigurationError
from sraven.core.boards.board import read_board

LINE = ["train", "fuzzylogic-v1", "--attention", "hyla", *tiny_options(), f"--save-every={STEPS // 2}"]


def sraven(*arguments):
    """Run the command; return exit code, output and errors."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), pytest.raises(SystemExit) as stop:
        main([str(argument) for argument in arguments])
    return stop.value.code, out.getvalue(), err.getvalue()


class Board:
    """Scores as predicted, to see what is asked for."""

    id, metric, content = "fuzzylogic-v1", "r2_per_sequence", MappingProxyType({"higher_is_better": True})

    def score(self, split, predictions):
        return SimpleNamespace(metrics={self.metric: SimpleNamespace(mean=float(predictions))})


def guess(config, params, board, split):
    """A score by which 0.03 and seed 1 are better on ``test``, and worse on all other splits."""
    score = config.learning_rate + 0.001 * config.seed
    return np.float64(score if split == "test" else -score)


@pytest.fixture(scope="module", autouse=True)
def _quickly(tmp_path_factory):
    with quickly(shared_directory(tmp_path_factory, "compiled")), in_float64():
        yield


def choose_by_guess(patch):
    """Choose by `guess`, as predictions take longer than training."""
    patch.setattr(baselines.grid, "predict", guess)
    patch.setattr(baselines.grid, "board_of", lambda config: Board())


@pytest.fixture
def guessed(monkeypatch):
    choose_by_guess(monkeypatch)


@pytest.fixture(scope="module")
def together(tmp_path_factory):
    """A grid of two points that train and one that diverges, with two seeds, and what was printed."""

    def make(folder):
        with pytest.MonkeyPatch.context() as patch:
            choose_by_guess(patch)
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


# Reading

numbers = st.lists(
    st.one_of(st.integers(0, 10**9), st.floats(0, 1e9)), min_size=1, max_size=4, unique_by=lambda x: x + 0.0
)


@given(st.dictionaries(st.sampled_from(Hyper._fields), numbers))
def test_grid_is_read_as_it_is_written(grid):
    texts = [f"{name}={','.join(map(repr, values))}" for name, values in grid.items()]
    assert read_grid(texts) == {name: tuple(values) for name, values in grid.items()}


@settings(deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(Hyper._fields), st.lists(st.integers(0, 999), min_size=1, max_size=3, unique=True)
    ),
    st.lists(st.integers(0, 99), min_size=1, max_size=3, unique=True),
)
def test_points_are_all_combinations_with_all_seeds_each_in_a_directory_of_its_own(grid, seeds):
    config = tiny(warmup=1)
    points = points_of(config, grid, seeds, Path("out"))
    assert len(points) == np.prod([len(values) for values in grid.values()], dtype=int)
    assert len({tuple(point.values.items()) for point in points}) == len(points)
    folders = [folder for point in points for folder in point.folders]
    assert len(set(folders)) == len(folders) == len(points) * len(seeds)
    for point in points:
        assert all(point.values[name] in values for name, values in grid.items())
        expected = tuple(replace(config, seed=seed, **point.values) for seed in seeds)
        assert point.configs == expected and len(point.folders) == len(seeds)


@pytest.mark.parametrize(
    ("grid", "seeds", "folders"),
    [
        ([], [3], ["runs"]),
        ([], [3, 1], ["runs/seed-3", "runs/seed-1"]),
        (["learning_rate=1e-3"], [0], ["runs/learning_rate=0.001/seed-0"]),
        (
            ["weight_decay=0.1,0", "warmup=100"],
            [0, 7],
            [
                "runs/weight_decay=0.1,warmup=100/seed-0",
                "runs/weight_decay=0.1,warmup=100/seed-7",
                "runs/weight_decay=0,warmup=100/seed-0",
                "runs/weight_decay=0,warmup=100/seed-7",
            ],
        ),
        (["learning_rate=3e-4,1"], [0], ["runs/learning_rate=0.0003/seed-0", "runs/learning_rate=1/seed-0"]),
    ],
)
def test_layout_of_directories(grid, seeds, folders):
    points = points_of(tiny(), read_grid(grid), seeds, Path("runs"))
    assert [str(folder) for point in points for folder in point.folders] == folders


@pytest.mark.parametrize("text", ["learning_rate=0.01,0.010000001", "warmup=1000000,1000001"])
def test_values_that_agree_in_six_digits_have_directories_of_their_own(text):
    first, second = points_of(tiny(), read_grid([text]), [0], Path("runs"))
    assert first.folders != second.folders


BAD_NAME = "expected one of learning_rate, weight_decay, warmup and values"
BAD_NUMBERS = "expected numbers with commas between, such as {}=0.1,0.3"


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["lr=1"], f"grid 'lr=1': {BAD_NAME}"),
        (["seed=1,2"], f"grid 'seed=1,2': {BAD_NAME}"),
        (["=1"], f"grid '=1': {BAD_NAME}"),
        ([""], f"grid '': {BAD_NAME}"),
        (["learning_rate=x"], f"grid 'learning_rate=x': {BAD_NUMBERS.format('learning_rate')}"),
        (["learning_rate"], f"grid 'learning_rate': {BAD_NUMBERS.format('learning_rate')}"),
        (["warmup="], f"grid 'warmup=': {BAD_NUMBERS.format('warmup')}"),
        (["warmup=1,,2"], f"grid 'warmup=1,,2': {BAD_NUMBERS.format('warmup')}"),
        (["warmup=1,"], f"grid 'warmup=1,': {BAD_NUMBERS.format('warmup')}"),
        (["warmup=1=2"], f"grid 'warmup=1=2': {BAD_NUMBERS.format('warmup')}"),
        (["weight_decay=0.1,1e-1"], "grid 'weight_decay=0.1,1e-1': a value is there twice"),
        (["warmup=1,1.0"], "grid 'warmup=1,1.0': a value is there twice"),
        (
            ["warmup=1", "warmup=2"],
            "grid 'warmup=2': warmup is there twice; separate its values by commas",
        ),
        (["learning_rate=nan"], "learning_rate=nan: expected a number, 0 or more"),
        (["learning_rate=0.1,inf"], "learning_rate=inf: expected a number, 0 or more"),
        (["weight_decay=-0.1"], "weight_decay=-0.1: expected a number, 0 or more"),
        (["warmup=0.5"], "warmup=0.5: expected an integer from 0 to 1,099,511,627,776"),
        (["warmup=-1"], "warmup=-1: expected an integer from 0 to 1,099,511,627,776"),
    ],
)
def test_bad_grid_is_refused(texts, message):
    with pytest.raises(ConfigurationError) as error:
        points_of(tiny(), read_grid(texts), [0], Path("runs"))
    assert str(error.value) == message


def test_seed_that_is_there_twice_is_refused():
    with pytest.raises(ConfigurationError) as error:
        points_of(tiny(), {}, [0, 1, 0], Path("runs"))
    assert str(error.value) == "seeds 0, 1, 0: one is there twice"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--grid", "lr=1"], f"grid 'lr=1': {BAD_NAME}"),
        (["--seeds", "0,0"], "seeds 0, 0: one is there twice"),
        (["--seeds", "0", "--seed", "0"], "seeds 0, 0: one is there twice"),
        (
            ["warmup=1"],
            "unexpected argument 'warmup=1'; a grid begins with --grid; see sraven train --help",
        ),
    ],
)
def test_command_refuses_in_one_line_and_writes_nothing(tmp_path, arguments, message):
    assert sraven(*LINE, f"--out={tmp_path / 'runs'}", *arguments) == (2, "", f"error: {message}\n")
    assert list(tmp_path.iterdir()) == []


def test_grid_may_be_given_in_one_option_or_several(tmp_path, monkeypatch):
    asked = []

    def remember(configs, folders, **options):
        asked.append((configs, folders))
        raise KeyboardInterrupt

    monkeypatch.setattr("baselines.train.train_runs", remember)
    first, second = "learning_rate=0.01,0.03", "warmup=1,2"
    for grid in (["--grid", first, second], ["--grid", first, "--grid", second]):
        code, _, err = sraven(*LINE, f"--out={tmp_path / 'runs'}", *grid)
        assert code == 130 and "the same command goes on from the last checkpoint" in err
    assert asked[0] == asked[1] and len(asked[0][0]) == 4


# Trained together


def test_runs_of_a_grid_make_a_directory_each_and_a_summary(together):
    files = {str(path.relative_to(together / "runs")) for path in (together / "runs").glob("*/*/*")}
    runs = [f"learning_rate={rate}/seed-{seed}" for rate in ("0.01", "0.03", "1e+30") for seed in (0, 1)]
    assert files == {f"{run}/{name}" for run in runs for name in (CONFIG, LOG, CHECKPOINTS)}
    assert EVENTS not in str(files)
    assert [path.name for path in (together / "runs").iterdir() if path.is_file()] == [SUMMARY]


def test_summary_of_a_grid(together):
    summary = json.loads((together / "runs" / SUMMARY).read_text())
    shared = {name: value for name, value in asdict(tiny()).items() if name not in ("learning_rate", "seed")}
    points = summary.pop("points")
    assert summary == {
        "board": "fuzzylogic-v1",
        "metric": "r2_per_sequence",
        "split": "test",
        "shared": shared,
        "selected": 1,
    }
    for point, rate in zip(points[:2], (0.01, 0.03), strict=True):
        assert point == {
            "values": {"learning_rate": rate},
            "folder": f"learning_rate={rate}",
            "seeds": [0, 1],
            "scores": [rate, rate + 0.001],
            "mean": pytest.approx(rate + 0.0005),
            "standard_error": pytest.approx(0.0005),
            "diverged": [],
        }
    assert points[2] == {
        "values": {"learning_rate": 1e30},
        "folder": "learning_rate=1e+30",
        "seeds": [0, 1],
        "scores": [None, None],
        "mean": None,
        "standard_error": None,
        "diverged": [0, 1],
    }


def test_diverging_point_is_told_and_the_others_finish(together):
    code, out, err = json.loads((together / "printed.json").read_text())
    runs = together / "runs"
    assert code == 1
    assert err == (
        f"error: {run_of(runs, '1e+30', 0)} (and 1 more runs): the loss is no number after step 0; the last "
        "checkpoint is of 0; use a smaller learning rate\n"
    )
    assert json.loads(out) == json.loads((runs / SUMMARY).read_text())
    for rate in (0.01, 0.03):
        for seed in (0, 1):
            config, _ = load_run(run_of(runs, rate, seed))
            assert config == tiny(learning_rate=rate, seed=seed)
            lines = (run_of(runs, rate, seed) / LOG).read_text().splitlines()
            assert [json.loads(line)["step"] for line in lines] == list(range(CHUNK, STEPS + 1, CHUNK))


def test_diverging_run_leaves_neither_log_nor_checkpoint_of_what_is_no_number(together):
    for seed in (0, 1):
        run = run_of(together / "runs", "1e+30", seed)
        assert (run / LOG).read_text() == ""
        assert list((run / CHECKPOINTS).iterdir()) == []


def test_run_of_a_grid_is_the_run_alone(together, tmp_path):
    """Of those that the next test doesn't train alone."""
    state = train(tiny(learning_rate=0.03, seed=1), tmp_path / "run", save_every=STEPS)
    assert_runs_agree(leaves(state.params), parameters(run_of(together / "runs", 0.03, 1)))


def test_interrupted_grid_whose_runs_came_differently_far_ends_the_same(together, tmp_path, guessed):
    """One came half-way, one didn't begin, and two have finished."""
    runs = shutil.copytree(together / "runs", tmp_path / "runs")
    shutil.rmtree(run_of(runs, 0.01, 1) / CHECKPOINTS / str(STEPS))
    shutil.rmtree(run_of(runs, 0.03, 0))
    (runs / SUMMARY).unlink()
    finished = [stamps(run_of(runs, 0.01, 0)), stamps(run_of(runs, 0.03, 1))]
    line = [*LINE, "--grid=learning_rate=0.01,0.03", "--seeds=0,1", f"--out={runs}"]
    code, out, err = sraven(*line)
    assert (code, err) == (0, "")
    best = " ".join(str(run_of(runs, 0.03, seed)) for seed in (0, 1))
    assert out.splitlines()[-1] == f"sraven evaluate {best} --out entry"
    assert [stamps(run_of(runs, 0.01, 0)), stamps(run_of(runs, 0.03, 1))] == finished
    for rate in (0.01, 0.03):
        for seed in (0, 1):
            here, whole = run_of(runs, rate, seed), run_of(together / "runs", rate, seed)
            assert_runs_agree(parameters(here), parameters(whole))
            steps = [json.loads(line)["step"] for line in (here / LOG).read_text().splitlines()]
            assert steps == list(range(CHUNK, STEPS + 1, CHUNK))
    whole, again = (
        json.loads((folder / SUMMARY).read_text())["points"] for folder in (together / "runs", runs)
    )
    assert again == whole[:2]


def test_seed_that_is_added_later_trains_alone(together, tmp_path, guessed):
    runs = shutil.copytree(together / "runs", tmp_path / "runs")
    before = {seed: stamps(run_of(runs, 0.01, seed)) for seed in (0, 1)}
    assert all(before.values())
    line = [*LINE, "--grid=learning_rate=0.01", "--seeds=0,1,2", f"--out={runs}", "--json"]
    code, out, _ = sraven(*line)
    assert code == 0
    assert json.loads(out)["points"][0]["seeds"] == [0, 1, 2]
    assert {seed: stamps(run_of(runs, 0.01, seed)) for seed in (0, 1)} == before
    assert load_run(run_of(runs, 0.01, 2))[0] == tiny(seed=2)


def test_json_of_runs_without_a_grid_tells_each(together):
    """All is done already, so there is nothing to tell of training."""
    out = together / "runs" / "learning_rate=0.01"
    code, printed, _ = sraven(*LINE, "--seeds=0,1", f"--out={out}", "--json")
    assert code == 0
    assert json.loads(printed) == [
        {"folder": str(out / f"seed-{seed}"), "training": None, "diverged": None} for seed in (0, 1)
    ]


def test_runs_of_one_program_differ_in_what_a_grid_varies_alone(tmp_path):
    with pytest.raises(ConfigurationError) as error:
        train_runs([tiny(), tiny(width=18)], [tmp_path / "a", tmp_path / "b"])
    varied = ", ".join(Hyper._fields)
    assert str(error.value) == f"runs in one program differ in seed, {varied} alone"
    assert list(tmp_path.iterdir()) == []


# The choice


def chosen(monkeypatch, tmp_path, scores, diverged=()):
    """The summary of a grid whose runs score so, by split, point and seed."""

    def look_up(config: RunConfig, params, board, split):
        place = list(rates).index(config.learning_rate)
        return np.float64(scores[split][place][config.seed])

    class OneSplit(Board):
        def score(self, split, predictions):
            asked.append(split)
            return super().score(split, predictions)

    asked, rates = [], np.linspace(0.1, 0.9, len(scores["test"]))
    monkeypatch.setattr(baselines.grid, "predict", look_up)
    monkeypatch.setattr(baselines.grid, "board_of", lambda config: OneSplit())
    seeds = range(len(scores["test"][0]))
    points = points_of(tiny(), {"learning_rate": tuple(map(float, rates))}, seeds, tmp_path)
    outcomes = [
        Outcome(SimpleNamespace(params=None), None, 5 if (place, seed) in diverged else None)
        for place in range(len(rates))
        for seed in seeds
    ]
    summary = select(points, outcomes, tmp_path)
    assert set(asked) <= {"test"}
    assert json.loads((tmp_path / SUMMARY).read_text()) == summary
    return summary


def test_best_on_test_is_chosen_and_never_the_best_on_ood(monkeypatch, tmp_path):
    scores = {"test": [[0.1], [0.5], [0.3]], "ood": [[0.7], [0.1], [0.9]]}
    summary = chosen(monkeypatch, tmp_path, scores)
    assert summary["selected"] == 1 and summary["split"] == "test"
    assert [point["standard_error"] for point in summary["points"]] == [None] * 3


def test_mean_over_seeds_decides_not_the_best_seed(monkeypatch, tmp_path):
    scores = {"test": [[0.9, 0.0, 0.0], [0.4, 0.5, 0.6], [-1.0, -1.0, -1.0]]}
    summary = chosen(monkeypatch, tmp_path, scores)
    assert summary["selected"] == 1
    found = summary["points"][1]
    assert found["mean"] == pytest.approx(0.5)
    assert found["standard_error"] == pytest.approx(0.1 / 3**0.5)


def test_point_with_a_seed_that_diverged_is_not_chosen(monkeypatch, tmp_path):
    scores = {"test": [[0.9, 0.9], [-5.0, -5.0]]}
    summary = chosen(monkeypatch, tmp_path, scores, diverged={(0, 1)})
    assert summary["selected"] == 1
    assert summary["points"][0]["scores"] == [0.9, None]
    assert (summary["points"][0]["mean"], summary["points"][0]["diverged"]) == (None, [1])


def test_nothing_is_chosen_where_all_diverged(monkeypatch, tmp_path):
    scores = {"test": [[0.9], [0.8]]}
    assert chosen(monkeypatch, tmp_path, scores, diverged={(0, 0), (1, 0)})["selected"] is None


def test_score_is_the_boards_of_the_runs_predictions(together, tmp_path, monkeypatch):
    config, params = load_run(run_of(together / "runs", 0.03, 1))
    made = []

    def remember(*arguments):
        made.append(predict(*arguments))
        return made[-1]

    monkeypatch.setattr(baselines.grid, "predict", remember)
    (point,) = points_of(tiny(), {"learning_rate": (0.03,)}, [1], tmp_path)
    summary = select([point], [Outcome(SimpleNamespace(params=params), None, None)], tmp_path)
    board = read_board(config.board)
    targets = board.task.sample("test", 0, board.splits["test"]).targets.astype(np.float64)
    shares = (made[0] - targets[:, -1]) ** 2 / targets.var(axis=1)
    assert summary["points"][0]["mean"] == pytest.approx(1 - shares.mean(), rel=1e-4)


def test_point_whose_predictions_are_no_numbers_is_not_chosen_and_the_others_are(tmp_path, monkeypatch):
    """Parameters may be past help after the last update, when no loss is left to tell."""
    size = read_board("fuzzylogic-v1").splits["test"]
    monkeypatch.setattr(
        baselines.grid,
        "predict",
        lambda config, *_: np.full(size, 0.5 if config.learning_rate < 1 else np.nan, np.float32),
    )
    points = points_of(tiny(), {"learning_rate": (0.01, 1e30)}, [0], tmp_path)
    summary = select(points, [Outcome(SimpleNamespace(params=None), None, None)] * 2, tmp_path)
    assert summary["selected"] == 0
    assert summary["points"][1]["diverged"] == [0]
