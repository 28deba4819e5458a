"""Score a submission: validate it, recompute its scores."""

from pathlib import Path

import click

from cli.shared.bounds import print_bounds
from cli.shared.options import json_option, threads_option
from cli.shared.printing import print_json
from cli.shared.scores import print_scores


@click.command(name="score")
@click.argument("submission", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="File to write the scores to.")
@click.option("--check", is_flag=True, help="Compare with the scores.json of a filed submission.")
@threads_option
@json_option
def command(submission: Path, out: Path | None, check: bool, threads: int | None, as_json: bool) -> None:
    """Score a submission: validate it, rebuild the labels, recompute its scores.

    A fault refuses it with one line and exit code 2. With --check, the scores beside a filed submission
    must be those that are recomputed; exits with 1 if they aren't. A metric that is younger than the board
    is shown beside its scores, and neither written nor compared.

    \b
    Example:
      sraven score my-submission
    """
    from sraven.core.submissions.runs import SCORES
    from sraven.core.submissions.submission import (
        differing,
        read_scores,
        read_submission,
        scores_beside,
        scores_of,
    )
    from sraven.core.system.files import compact_json, write_text

    read = read_submission(submission)
    scores, beside = scores_of(read, threads=threads), scores_beside(read, threads=threads)
    if out:
        write_text(out, compact_json(scores))
    if as_json:
        print_json({**scores, "beside": beside} if beside else scores)
    else:
        print_scores(scores, beside)
        print_bounds(read.board, tuple(read.runs))
    if check and (places := differing(read_scores(submission), scores)):
        click.echo(f"{submission / SCORES}: {places[0]} isn't what the predictions score", err=True)
        raise SystemExit(1)
