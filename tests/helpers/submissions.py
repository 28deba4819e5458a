"""Small boards, submissions to them, and how predictions of a submission are replaced."""

import hashlib
import json
import os
import re
from contextlib import contextmanager
from functools import cache
from io import BytesIO
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from sraven import write_submission
from sraven.board.board import Board
from sraven.board.freeze import make_board
from sraven.files.files import compact_json
from sraven.leaderboard.submissions.submission import differing
from sraven.scoring.scores import Run, score_runs

SRAVEN_BOARD, FUZZY_BOARD = "sraven-small-v1", "fuzzylogic-small-v1"

SIZE = 301
"""Instances of test of the board about SRAVEN."""

REPORTED = {
    "reference_source": "a paper",
    "reference_paper": "https://example.org/paper",
    "reference_seeds": 3,
    "reference_notes": ["drawn by other code", "and so on"],
    "reference": [{"method": "as reported", "value": 0.55, "standard_error": 0.01, "parameters": 402_824}],
}


def define(name, title, series, config, sizes, metric, budgets, **more):
    """Return the definition of a board of version 1; it is ranked by the last of its splits."""
    return {
        "id": name,
        "version": 1,
        "title": title,
        "series": series,
        "config": {**config, "version": "1"},
        "sizes": sizes,
        "train_budget": budgets[0],
        "train_budgets": sorted(budgets),
        "metric": metric,
        "primary_split": [*sizes][-1],
        **more,
    }


DEFINITIONS = (
    define(
        *(SRAVEN_BOARD, "Three features, five symbols", "ranked"),
        {"task": "sraven", "M": 3, "K": 5, "holdout": 0.25, "seed": 5},
        *({"test": SIZE, "ood": 199}, "accuracy", [2_000, 1_000, 4_000]),
        **REPORTED,
    ),
    define(
        *(FUZZY_BOARD, "Three variables, seven points", "points"),
        {"task": "fuzzylogic", "L": 3, "K": 2, "N": 7, "holdout": 0.5, "seed": 5},
        *({"test": 211, "ood": 157}, "r2_per_sequence", [3_000]),
    ),
)

_DECIMAL = re.compile(r"-?\d+\.\d+(e-?\d+)?")

METHOD = {"name": "A method", "description": "It guesses.", "authors": ["A. Author"]}
MODEL = {"parameters": 1_000}
TRAINING = {"instances": 1_500, "selection_split": "test", "tuning_trials": 4}


@cache
def small_contents():
    """Return the files of the small boards, by name; less of train is digested than of real ones."""
    return {definition["id"]: make_board(definition, train_digested=4_096) for definition in DEFINITIONS}


@cache
def small_board(board_id):
    """Return a small board, to be used without looking for its file."""
    return Board.from_content(small_contents()[board_id])


def use_boards(monkeypatch, folder, contents=None):
    """Make the small boards the only ones there are, or other ones; they lie in ``folder``."""
    folder.mkdir(exist_ok=True)
    for name, content in (small_contents() if contents is None else contents).items():
        (folder / f"{name}.json").write_text(json.dumps(content))
    monkeypatch.setattr(
        "sraven.board.board.board_paths", lambda: {path.stem: path for path in sorted(folder.iterdir())}
    )


@contextmanager
def only_boards(folder, contents=None):
    """Let the small boards, or other ones, be the only ones there are; for fixtures of many tests."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        use_boards(monkeypatch, folder, contents)
        yield


def truth(board, split):
    """Return perfect predictions."""
    arrays = board.labels(split).arrays
    return arrays["target"] if "target" in arrays else arrays["targets"][:, -1].astype(np.float32)


def guesses(board, split, seed):
    """Return predictions of which about half are right."""
    right, random = truth(board, split), np.random.default_rng([seed, len(split)])
    wrong = random.random(len(right)) < 0.5
    other = random.permutation(right)
    return np.where(wrong.reshape(-1, *[1] * (right.ndim - 1)), other, right)


def score_predictions(task, split, count, runs):
    """Score predictions of the first instances of a split: pairs of a seed and (predictions, answered)."""
    labels = task.scoring.labels(task.sample(split, 0, count), None)
    found = [Run(seed, np.asarray(guessed), np.asarray(answered)) for seed, (guessed, answered) in runs]
    return score_runs(task.scoring, labels, found)


def write(folder, board_id, *, seeds=3, method=(), training=(), model=(), **rest):
    """Write a submission with some seeds of guesses."""
    board = small_board(board_id)
    rest.setdefault(
        "predictions",
        {split: [guesses(board, split, seed) for seed in range(seeds)] for split in board.splits},
    )
    write_submission(
        folder,
        board_id,
        method={**METHOD, **dict(method)},
        training={**TRAINING, **dict(training)},
        model={**MODEL, **dict(model)},
        **rest,
    )
    return folder


def description(folder):
    """Return what ``submission.yaml`` says."""
    return yaml.safe_load((folder / "submission.yaml").read_text())


def edit(folder, change):
    """Change what ``submission.yaml`` says."""
    content = description(folder)
    change(content)
    (folder / "submission.yaml").write_text(yaml.safe_dump(content, sort_keys=False))


def path_of(split, seed):
    """Return where a run's predictions lie."""
    return f"predictions/{split}/seed-{seed}.parquet"


def plant(folder, data, split="test", seed=0):
    """Replace the predictions of a run and make their checksum fit."""
    name = path_of(split, seed)
    (folder / name).write_bytes(data)

    def correct(content):
        for run in content["runs"]:
            if run["file"] == name:
                run["sha256"] = hashlib.sha256(data).hexdigest()

    edit(folder, correct)


def lists(values):
    """Return an array ``[n, M]`` as an Arrow array of lists of fixed size."""
    values = np.ascontiguousarray(values)
    return pa.FixedSizeListArray.from_arrays(pa.array(values.reshape(-1)), values.shape[1])


def parquet(columns, **options):
    """Return a Parquet file of columns by name, or of an Arrow table."""
    table = columns if isinstance(columns, pa.Table) else pa.table(columns)
    file = BytesIO()
    pq.write_table(table, file, **options)
    return file.getvalue()


def predictions_file(predictions, index=None, **options):
    """Return a file of predictions, by default for all indices in order."""
    index = np.arange(len(predictions)) if index is None else np.asarray(index)
    values = lists(predictions) if predictions.ndim == 2 else pa.array(predictions)
    return parquet({"index": index.astype(np.int64), "prediction": values}, **options)


def assert_filed_alike(scores, folder):
    """Check that an entry scores as it was filed: names, order and counts; numbers as near as machines."""
    filed = (folder / "scores.json").read_text()
    assert differing(json.loads(filed), scores) == []
    assert _DECIMAL.sub("#", compact_json(scores)) == _DECIMAL.sub("#", filed)


def snapshot(folder):
    """Return what lies below a directory: every name, with its type and content; no link is followed."""
    found = {}
    for root, directories, files in os.walk(folder):
        for name in (*directories, *files):
            path = Path(root, name)
            kind, content = path.lstat().st_mode, None
            if path.is_symlink():
                content = os.readlink(path)
            elif path.is_file():
                content = hashlib.sha256(path.read_bytes()).hexdigest()
            found[str(path.relative_to(folder))] = kind, content
    return found
