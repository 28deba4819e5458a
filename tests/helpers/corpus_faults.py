"""Faults of submissions to a board of a corpus, and how they are refused."""

import hashlib

import pytest

from helpers.submissions import edit, predictions_file
from sraven import SubmissionError
from sraven.core.submissions.submission import read_submission


def path_of(seed):
    return f"predictions/validation/seed-{seed}.parquet"


def replace_file(folder, name, data):
    """Replace a file that runs name, and make its checksums fit."""
    (folder / name).write_bytes(data)

    def correct(content):
        for run in content["runs"]:
            for key in ("file", "log"):
                if run[key] == name:
                    run["sha256" if key == "file" else "log_sha256"] = hashlib.sha256(data).hexdigest()

    edit(folder, correct)


def plant(folder, predictions, index=None, seed=1):
    replace_file(folder, path_of(seed), predictions_file(predictions, index))


def refused(folder):
    with pytest.raises(SubmissionError) as error:
        read_submission(folder)
    message = str(error.value)
    assert message.replace("…", "").isprintable() and len(message) < 500
    return message
