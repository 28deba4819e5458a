"""Grids: read, laid out, and chosen from in distribution."""

import json
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from baselines.train.grid import SUMMARY, Judge, points_of, read_grid, select
from baselines.train.optim import Hyperparams
from baselines.train.train import Outcome, train_runs
from helpers.command import sraven
from helpers.refusals import assert_refused
from helpers.tiny_runs import tiny, tiny_options
from sraven import ConfigurationError

numbers = st.lists(
    st.one_of(st.integers(0, 10**9), st.floats(0, 1e9)), min_size=1, max_size=4, unique_by=lambda x: x + 0.0
)


@given(st.dictionaries(st.sampled_from(Hyperparams._fields), numbers))
def test_grid_is_read_as_it_is_written(grid):
    texts = [f"{name}={','.join(map(repr, values))}" for name, values in grid.items()]
    assert read_grid(texts) == {name: tuple(values) for name, values in grid.items()}


@settings(deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(Hyperparams._fields),
        st.lists(st.integers(0, 999), min_size=1, max_size=3, unique=True),
    ),
    st.lists(st.integers(0, 99), min_size=1, max_size=3, unique=True),
)
def test_points_are_all_combinations_with_all_seeds_each_in_a_directory_of_its_own(grid, seeds):
    config = tiny(warmup=1, steps=1_000)
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
            ["weight_decay=0.1,0", "warmup=10"],
            [0, 7],
            [f"runs/weight_decay={decay},warmup=10/seed-{seed}" for decay in (0.1, 0) for seed in (0, 7)],
        ),
        (["learning_rate=3e-4,1"], [0], ["runs/learning_rate=0.0003/seed-0", "runs/learning_rate=1/seed-0"]),
        # values that agree in six digits, too
        (["warmup=1e6,1000001"], [0], ["runs/warmup=1e+06/seed-0", "runs/warmup=1000001/seed-0"]),
    ],
)
def test_layout_of_directories(grid, seeds, folders):
    points = points_of(tiny(steps=2_000_000), read_grid(grid), seeds, Path("runs"))
    assert [str(folder) for point in points for folder in point.folders] == folders


BAD_NAME = "expected one of learning_rate, weight_decay, warmup and values"
NO_NUMBERS = ("warmup=x", "warmup=", "warmup=1,,2", "warmup=1=2")
BAD_NUMBERS = "expected numbers with commas between, such as warmup=0.1,0.3"


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        *(([text], f"grid {text!r}: {BAD_NAME}") for text in ("lr=1", "seed=1,2", "")),
        *(([text], f"grid {text!r}: {BAD_NUMBERS}") for text in NO_NUMBERS),
        *(
            ([text], f"grid {text!r}: a value is there twice")
            for text in ("weight_decay=0.1,1e-1", "warmup=1,1.0")
        ),
        (["warmup=1", "warmup=2"], "grid 'warmup=2': warmup is there twice; separate its values by commas"),
        (["learning_rate=0.1,inf"], "learning_rate=inf: expected a number, 0 or more"),
        (["weight_decay=-0.1"], "weight_decay=-0.1: expected a number, 0 or more"),
        (["warmup=5,100000"], "steps=20 with warmup=100,000: the learning rate would never reach"),
        (["warmup=0.5"], "warmup=0.5: "),
        (["warmup=-1"], "warmup=-1: "),
    ],
)
def test_bad_grid_is_refused(texts, message):
    with pytest.raises(ConfigurationError, match=f"^{re.escape(message)}"):
        points_of(tiny(), read_grid(texts), [0], Path("runs"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--seeds", "0", "--seed", "0"], "seeds 0, 0: one is there twice"),
        (["warmup=1"], "unexpected argument 'warmup=1'; a grid begins with --grid; see sraven train --help"),
        (
            ["--save-minutes", "nan"],
            "Invalid value for '--save-minutes': nan is no finite number; see sraven train --help",
        ),
    ],
)
def test_command_refuses_in_one_line_and_writes_nothing(tmp_path, arguments, message):
    line = ["train", "fuzzylogic-v1", "--attention=hyla", *tiny_options(), f"--out={tmp_path / 'runs'}"]
    assert sraven(*line, *arguments) == (2, "", f"error: {message}\n")
    assert list(tmp_path.iterdir()) == []


def test_runs_of_one_program_differ_in_what_a_grid_varies_alone(tmp_path):
    varied = ", ".join(Hyperparams._fields)
    with pytest.raises(ConfigurationError, match=f"runs in one program differ in seed, {varied} alone"):
        train_runs([tiny(), tiny(width=18)], [tmp_path / "a", tmp_path / "b"])
    assert list(tmp_path.iterdir()) == []


def chosen(tmp_path, scores, diverged=()):
    """The summary of a grid whose runs score so, by point and seed."""
    rates = tuple(0.1 + 0.1 * place for place in range(len(scores)))
    points = points_of(tiny(), {"learning_rate": rates}, range(len(scores[0])), tmp_path)
    judge = Judge("loss", "test", True, lambda config, params: params)
    runs = [(place, seed) for place, some in enumerate(scores) for seed in range(len(some))]
    outcomes = [
        Outcome(SimpleNamespace(params=scores[place][seed]), None, 5 if (place, seed) in diverged else None)
        for place, seed in runs
    ]
    summary = select(points, outcomes, tmp_path, judge)
    assert json.loads((tmp_path / SUMMARY).read_text()) == summary
    return summary


def test_what_is_no_split_of_known_combinations_chooses_nothing(tmp_path):
    points = points_of(tiny(), {"warmup": (1, 2)}, [0], tmp_path)
    for split in ("ood", "ood_terms", "train"):
        judge = Judge("r2_per_sequence", split, True, lambda config, params: 0.0)
        assert_refused(f"the split that chooses='{split}': .*'test'", select, points, [], tmp_path, judge)
    assert list(tmp_path.iterdir()) == []


def test_mean_over_seeds_decides_among_the_points_of_which_none_diverged(tmp_path):
    """Not the best seed."""
    scores = [[0.9, 0.9, 0.9], [0.9, 0.0, 0.0], [0.4, 0.5, 0.6], [-1.0, -1.0, -1.0]]
    summary = chosen(tmp_path, scores, diverged={(0, 1)})
    lost, _, best, _ = summary["points"]
    assert summary["selected"] == 2
    assert (best["mean"], best["standard_error"]) == pytest.approx((0.5, 0.1 / 3**0.5))
    assert (lost["scores"], lost["mean"], lost["diverged"]) == ([0.9, None, 0.9], None, [1])
    assert chosen(tmp_path, [[0.9]], diverged={(0, 0)})["selected"] is None
