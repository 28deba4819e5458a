"""Score a submission: validate it, recompute its scores."""

import os
from pathlib import Path

import click

from cli.shared.options import any_path, output_file, threads_option
from cli.shared.printing import json_option, print_outcome
from cli.shared.scores import print_advice, print_bounds, print_composing, print_scores, print_siblings


@click.command(name="score")
@click.argument("submission", type=any_path)
@click.option("--out", type=output_file, help="File to write the scores to.")
@click.option("--check", is_flag=True, help="Compare with the scores.json of a filed submission.")
@threads_option
@json_option
def command(submission: Path, out: Path | None, check: bool, threads: int | None) -> None:
    """Score a submission: validate it, rebuild the labels, recompute its scores.

    All scores are printed, and why it won't be ranked if that is so. A fault refuses it with one line and
    exit code 2. With --check, the scores beside a filed submission must be those that are recomputed; exits
    with 1 if they aren't. A metric that is younger than the board is shown beside its scores, and neither
    written nor compared.

    \b
    Example:
      sraven score my-submission
      for each in docs/leaderboard/submissions/sraven-v1/*; do sraven score --check $each; done
    """
    from sraven.core.escape import escape
    from sraven.files.files import compact_json, write_text
    from sraven.leaderboard.eligibility import report
    from sraven.leaderboard.evidence import make_evidence
    from sraven.leaderboard.submissions.runs import SCORES
    from sraven.leaderboard.submissions.submission import differing, read_scores, read_submission

    read, written = (Path(os.path.realpath(path)) for path in (submission, out or os.devnull))
    if written.is_relative_to(read) and written != read / SCORES:
        raise click.UsageError(f"{out} is within what is read; choose another path, or {SCORES} there")
    found = make_evidence(read_submission(submission), threads=threads)
    if out:
        write_text(out, compact_json(found.scores))

    def show() -> None:
        print_scores(found.scores, found.beside, found.board.metric)
        if found.composing:
            print_composing(found.board, found.composing)
        print_siblings(found)
        print_bounds(found.board, tuple(found.scores["splits"]))
        print_advice(found)

    print_outcome(value=report(found), text=show)
    if check and (places := differing(read_scores(submission), found.scores)):
        where = escape(str(submission / SCORES), 400)
        click.echo(f"{where}: {places[0]} isn't what the predictions score", err=True)
        raise SystemExit(1)
