"""Sort what a submission gets wrong, by the kind of mistake."""

from pathlib import Path

import click

from cli.shared.errors import print_errors
from cli.shared.options import json_option, threads_option
from cli.shared.printing import print_json


@click.command(name="errors")
@click.argument("submission", type=click.Path(path_type=Path))
@threads_option
@json_option
def command(submission: Path, threads: int | None, as_json: bool) -> None:
    """Sort the wrong answers of a submission by the kind of mistake, from its predictions alone.

    Each wrong answer is of exactly one kind, the first that fits. Tables say how many there are of each: in
    all, by number of valid answers, by distance to the nearest combination of training, by rule. It works
    for the boards of SRAVEN. The submission is validated as `sraven score` does.

    \b
    Example:
      sraven errors my-submission
    """
    from sraven.core.boards.diagnosis import require_diagnosis
    from sraven.core.submissions.errors import errors_of
    from sraven.core.submissions.submission import read_submission

    read = read_submission(submission)
    diagnosis = require_diagnosis(read.board.task)
    found = errors_of(read, threads=threads)
    if as_json:
        print_json({"board": read.board.id, "submission_digest": read.digest, "splits": found})
    else:
        print_errors(read.board.id, diagnosis.kinds, found)
