"""How far filed networks are from one another and from what composes nothing, pooled over draws of terms.

    python tests/speed/pooled.py docs/results/fuzzylogic-pooled.json

Fuzzy logic with five variables has three draws of unknown terms and of combinations held out, with three, two
and two seeds. A difference is that of R² per sequence on the same sequences: of each seed the mean over
combinations, and of seven seeds the mean. Its variance is that of the seeds of both, and that of the
combinations of each draw, which its seeds share; intervals are those of Student's t with four degrees of
freedom, as seeds are compared with the mean of their own draw.
"""

from functools import partial
from pathlib import Path

import numpy as np
from record import recorded
from scipy.special import stdtrit
from threadpoolctl import threadpool_limits

from fuzzylogic.metrics import error_columns
from fuzzylogic.references import OBSERVERS
from sraven.board.board import read_board
from sraven.leaderboard.submissions.submission import read_submission

ENTRIES = Path("docs/leaderboard/submissions")
DRAWS = "fuzzylogic-l5-terms-v1", "fuzzylogic-l5-split1-v1", "fuzzylogic-l5-split2-v1"
NETWORKS = "hyla", "softmax", "linear"
COMPARED = "known-terms", "gp", "look-up", "gp-symmetric"
"""Reference levels: the best of those that aren't told the symmetry, on each split, and the one that is."""


def by_combination(r2, combinations):
    """Return the mean over the sequences of each combination."""
    numbers, at = np.unique(combinations, return_inverse=True)
    return np.bincount(at, r2) / np.bincount(at, minlength=len(numbers))


def r2_of(batch, predictions):
    """Return R² of each sequence, NaN where targets don't vary."""
    errors = error_columns(batch.targets.astype(float), predictions.astype(float))["relative_error"]
    return np.where(batch.targets.astype(float).var(axis=1) > 0, 1 - errors, 0)


def scores_of(name, split):
    """Return R² by combination: networks ``[seeds, combinations]``, observers ``[1, combinations]``."""
    board = read_board(name)
    batch = board.task.sample(split, 0, board.splits[split])
    means = partial(by_combination, combinations=batch.combination)
    networks = {}
    for attention in NETWORKS:
        filed = read_submission(ENTRIES / name / f"20261127-{attention}-6-400-000-instances")
        networks[attention] = np.array([means(r2_of(batch, run.predictions)) for run in filed.runs[split]])
    observed = {
        name: means(r2_of(batch, OBSERVERS[name](board.task, batch, None)))[None] for name in COMPARED
    }
    return {**networks, **observed}


def variance_of_seeds(scores, weights):
    """Return that of the weighted mean over draws of scores ``[seeds, combinations]``; 0 for an observer."""
    residuals = [each.mean(axis=1) - each.mean() for each in scores]
    free = sum(len(each) - 1 for each in residuals)
    spread = sum((each**2).sum() for each in residuals) / max(free, 1)
    return sum(weight**2 * spread / len(each) for weight, each in zip(weights, residuals, strict=True))


def pooled(ones, others):
    """Return how far scores ``[seeds, combinations]`` of each draw are above others: mean and interval."""
    seeds = np.array([len(each) for each in ones])
    weights = seeds / seeds.sum()
    apart = [one.mean(axis=0) - other.mean(axis=0) for one, other in zip(ones, others, strict=True)]
    variance = variance_of_seeds(ones, weights) + variance_of_seeds(others, weights)
    variance += sum(
        weight**2 * each.var(ddof=1) / len(each) for weight, each in zip(weights, apart, strict=True)
    )
    by_draw = np.array([each.mean() for each in apart])
    mean, reach = weights @ by_draw, stdtrit(seeds.sum() - len(seeds), 0.975) * np.sqrt(variance)
    return {
        "difference": round(float(mean), 4),
        "interval": [round(float(mean + side * reach), 4) for side in (-1, 1)],
        "by_draw": by_draw.round(4).tolist(),
    }


def differences():
    """Return how far networks are apart, and from the levels, on each split."""
    result = {}
    with threadpool_limits(1):
        for split in ("test", "ood", "ood_terms"):
            found = [scores_of(name, split) for name in DRAWS]
            pairs = [(one, other) for one in NETWORKS for other in (*NETWORKS[1:], *COMPARED) if one != other]
            result[split] = {
                f"{one} less {other}": pooled([each[one] for each in found], [each[other] for each in found])
                for one, other in pairs
            }
            print(split, result[split], flush=True)
    return {"draws": DRAWS, "result": result}


if __name__ == "__main__":
    recorded(differences)
