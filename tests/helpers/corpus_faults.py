"""Faults of submissions to a board of a corpus, and how they are refused."""

from functools import partial

from helpers import submissions
from helpers.submissions import predictions_file
from helpers.untrusted import refusal
from sraven.leaderboard.submissions.submission import read_submission

path_of = partial(submissions.path_of, "validation")

refused = partial(refusal, read_submission)


def plant(folder, predictions, index=None, seed=1):
    submissions.plant(folder, predictions_file(predictions, index), "validation", seed)
