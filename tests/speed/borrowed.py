"""How much of what filed networks get wrong others give, and of ensembles, votes and copies made of them.

    python tests/speed/borrowed.py docs/results/borrowed.json

For each board with filed networks: by entry, the largest agreement of a seed's errors with those of a run of
another entry, and the largest share of them that other entries' runs have together, as if each had been filed
after all others. The same of honest ensembles, of each entry's own seeds; and of what nobody may file: votes
of other entries' best runs, and the best run with 11 % of its wrong answers replaced. A vote on panels takes
the panel that most give, one on features each feature that most give. For fuzzy logic both are the mean.
"""

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
from record import recorded

from sraven.board.board import read_board
from sraven.leaderboard.copies import find_sources
from sraven.leaderboard.evidence import Evidence, mistakes_of, run_name
from sraven.leaderboard.maintainers import read_maintained
from sraven.leaderboard.standing import REFERENCE
from sraven.leaderboard.submissions.submission import read_description, read_scores, read_submission
from sraven.scoring.scores import whole_run

LEADERBOARD = Path("docs/leaderboard")
VOTERS = (3, 6, 9)
find_board = cache(read_board)


def most_given(runs):
    """Return what most runs say, ``[n, ...]``: of ties, what the first of them says."""
    counts = np.stack([np.sum([each == run for each in runs], axis=0) for run in runs])
    return np.take_along_axis(np.stack(runs), counts.argmax(axis=0)[None], axis=0)[0]


def on_panels(runs):
    """Return the panel that most runs give, ``[n, M]``."""
    codes = [run.astype(np.int64) @ (256 ** np.arange(run.shape[1])) for run in runs]
    chosen = most_given(codes)
    return np.select([(code == chosen)[:, None] for code in codes], runs)


def mean(runs):
    """Return the mean of numbers, ``[n]``."""
    return np.mean(runs, axis=0, dtype=np.float64).astype(np.float32)


def ways(board):
    """Return how runs are put together, by name."""
    return (
        {"panels": on_panels, "features": most_given}
        if board.task.scoring.prediction.shape
        else {"mean": mean}
    )


def show(submission, scores):
    """Return a submission as evidence, with scores that were filed."""
    found = [(split, run) for split, runs in submission.runs.items() for run in runs]
    predictions = {run_name(split, run.seed): run.predictions for split, run in found}
    said = submission.content, submission.board, submission.digest
    return Evidence(*said, scores, {}, predictions, mistakes=mistakes_of(submission))


def look(submission, runs, sources):
    """Return the agreement and the share borrowed of some runs of a submission's board."""
    board, kind = submission.board, submission.board.task.scoring.comparison
    whole = tuple(whole_run(run, n) for n, run in enumerate(runs))
    errors = mistakes_of(replace(submission, runs={board.primary_split: whole})).values()
    others = [(each.predictions[run], error) for each in sources for run, error in each.mistakes.items()]
    found = [
        (
            max((kind.agreement(error, theirs) for _, theirs in others), default=0.0),
            kind.borrowed((run, error), others),
        )
        for run, error in zip(runs, errors, strict=True)
    ]
    agreement, borrowed = np.max(found, axis=0).tolist()
    return {"agreement": round(agreement, 4), "borrowed": round(borrowed, 4)}


def replaced(run, is_wrong, share, symbols):
    """Return a run with a share of its wrong answers replaced by others, right ones by chance alone."""
    random, changed = np.random.default_rng(0), run.copy()
    chosen = random.permutation(np.flatnonzero(is_wrong))[: int(share * is_wrong.sum())]
    changed[chosen] = random.integers(0, symbols, (len(chosen), *run.shape[1:]))
    return changed


def measure(name):
    """Return what is found on a board; None where no networks are filed."""
    board, split = find_board(name), find_board(name).primary_split
    folders = sorted(path for path in (LEADERBOARD / "submissions" / name).iterdir() if path.is_dir())
    filed = {
        f"{name}/{folder.name}": read_submission(folder, find_board)
        for folder in folders
        if read_description(folder)[0]["method"].get("family") != REFERENCE
    }
    filed = {entry: each for entry, each in filed.items() if split in each.runs}
    if not filed or board.task.scoring.comparison.errors is None:
        return None
    shown = {
        entry: show(each, read_scores(LEADERBOARD / "submissions" / entry)) for entry, each in filed.items()
    }
    maintained, _ = read_maintained(LEADERBOARD, shown, name)
    sources = {
        entry: [shown[other] for other in others]
        for entry, others in find_sources(shown, {}, maintained.replaced).items()
    }
    runs = {entry: [run.predictions for run in each.runs[split]] for entry, each in filed.items()}
    newest = [entry for entry in filed if entry not in maintained.replaced]
    best = sorted(
        min((float(np.square(error).mean()), entry, run) for run, error in shown[entry].mistakes.items())
        for entry in newest
    )
    chosen = [shown[entry].predictions[run] for _, entry, run in best]
    everyone = list(shown.values())
    one = next(iter(filed.values()))
    found = {
        "entries": {entry: look(filed[entry], runs[entry], sources[entry]) for entry in filed},
        "own ensembles": {
            f"{entry}, {way}": look(filed[entry], [make(runs[entry])], sources[entry])
            for entry in newest
            if len(runs[entry]) > 1
            for way, make in ways(board).items()
        },
        "votes": {
            f"{count} on {way}": look(one, [make(chosen[:count])], everyone)
            for count in VOTERS
            if len(chosen) >= count
            for way, make in ways(board).items()
        },
    }
    if board.task.scoring.prediction.shape:
        is_wrong = board.task.scoring.comparison.errors(board.labels(split).arrays, chosen[0])
        copy = replaced(chosen[0], is_wrong, 0.11, board.content["config"]["K"])
        found["copies"] = {"11 % replaced": look(one, [copy], everyone)}
    return found


def boards(*names):
    """Measure all boards with filed networks, or those that are named."""
    names = names or sorted(path.name for path in (LEADERBOARD / "submissions").iterdir())
    found = {name: measure(name) for name in names}
    return {"boards": {name: each for name, each in found.items() if each}}


if __name__ == "__main__":
    recorded(boards)
