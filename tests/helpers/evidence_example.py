"""Evidence made by hand: what entries say and score, without files or predictions behind it."""

import hashlib
from functools import cache

import numpy as np

from helpers.submissions import METHOD, MODEL, SRAVEN_BOARD, TRAINING, small_board
from sraven.board.board import read_board
from sraven.leaderboard.evidence import Evidence, run_name
from sraven.leaderboard.submissions.runs import prediction_path
from sraven.leaderboard.submissions.submission import read_description, read_scores

RIGHT = 1 / 2
"""What most of these entries score."""


def score(by_seed, width=0.02):
    """Return a metric's scores, with an interval that is so wide on either side."""
    mean = float(np.mean(by_seed))
    error = float(np.std(by_seed, ddof=1) / np.sqrt(len(by_seed))) if len(by_seed) > 1 else None
    interval = [mean - width, mean + width]
    return {"mean": mean, "standard_error": error, "interval": interval, "by_seed": list(by_seed)}


def random_predictions(board, split, *seed):
    """Return predictions that are like no others."""
    scored = board.task.scoring.prediction
    random, shape = np.random.default_rng(seed), (board.splits[split], *scored.shape)
    if scored.dtype == "uint8":
        return random.integers(0, board.config.get("K", 256), shape, np.uint8)
    return random.random(shape).astype(scored.dtype)


def make_evidence(
    name="a method",
    board=None,
    *,
    scores=None,
    seeds=None,
    predictions=None,
    totals=None,
    method=(),
    training=(),
):
    """Return what an entry of a small board says and scores.

    Args:
        name: of the method.
        board: None for ``sraven-small-v1``.
        scores: by split and metric, of each seed; the primary metric is `RIGHT` where it isn't given, as
            errors are.
        seeds: by split; None for three on each.
        predictions: by `run_name`, where they aren't random.
        totals: sums of labels, by split.
        method: what it says of the method besides.
        training: and of the training.
    """
    board = board or small_board(SRAVEN_BOARD)
    seeds = seeds or dict.fromkeys(board.splits, (0, 1, 2))
    number = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4])
    runs = [(split, seed) for split, found in seeds.items() for seed in found]
    ranked_by = board.metric, *{"mse"} & set(board.task.scoring.metrics)  # copies are told by errors
    split_scores = {}
    for split, found in seeds.items():
        by_seed = {**{metric: [RIGHT] * len(found) for metric in ranked_by}, **(scores or {}).get(split, {})}
        metrics = {metric: score(values) for metric, values in by_seed.items() if found}
        split_scores[split] = {"seeds": list(found), "metrics": metrics, "gap_to_ceiling": {}}
    files = [{"split": split, "seed": seed, "file": prediction_path(split, seed)} for split, seed in runs]
    content = {
        "board": board.id,
        "method": {**METHOD, "name": name, **dict(method)},
        "model": MODEL,
        "training": {**TRAINING, "extra_data": None, **dict(training)},
        "runs": files,
    }
    made = {run_name(split, seed): random_predictions(board, split, number, seed) for split, seed in runs}
    return Evidence(
        content=content,
        board=board,
        digest=hashlib.sha256(name.encode()).hexdigest(),
        scores={"splits": {split: found for split, found in split_scores.items() if found["seeds"]}},
        totals=totals or {},
        predictions={**made, **(predictions or {})},
    )


known_board = cache(read_board)


def stated(folder):
    """Return evidence of what a filed submission says itself, as if its predictions scored so.

    Files with the same checksum have the same predictions.
    """
    content, digest = read_description(folder)
    board, scores = known_board(content["board"]), read_scores(folder)
    return Evidence(
        content=content,
        board=board,
        digest=digest,
        scores=scores,
        totals={},
        predictions={
            run_name(run["split"], run["seed"]): random_predictions(
                board, run["split"], int(run["sha256"], 16)
            )
            for run in content["runs"]
        },
    )
