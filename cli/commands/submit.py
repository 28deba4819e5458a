"""File a submission under the leaderboard, scored."""

import shlex
from pathlib import Path

import click

from cli.shared.options import any_path, directory, threads_option
from cli.shared.printing import json_option, print_json, wants_json
from cli.shared.scores import print_advice


@click.command(name="submit")
@click.argument("submission", type=any_path)
@click.option(
    "--leaderboard",
    type=directory,
    default=Path("docs/leaderboard"),
    show_default=True,
    help="The leaderboard's folder, in a checkout.",
)
@threads_option
@json_option
def command(submission: Path, leaderboard: Path, threads: int | None) -> None:
    """File a submission under the leaderboard, ready for a pull request.

    Validates and scores it, and copies it with its scores.json; nothing is copied if it is refused. What
    won't be ranked is filed all the same, with the reason. Printed below is the line that commits the folder
    and opens the pull request with GitHub's own client (gh); any other way does as well.

    \b
    Example:
      sraven submit my-submission
    """
    from sraven.core.escape import escape
    from sraven.leaderboard.eligibility import report
    from sraven.leaderboard.evidence import make_evidence
    from sraven.leaderboard.submissions.submission import read_submission
    from sraven.leaderboard.submissions.submit import check_leaderboard, file_submission

    check_leaderboard(leaderboard)
    found = make_evidence(read_submission(submission), threads=threads)
    goal = file_submission(submission, leaderboard, scores=found.scores)
    title = f"{found.board.id}: {escape(found.content['method']['name'])}"
    line = f"git add {shlex.quote(str(goal))} && git commit -m {shlex.quote(title)} && gh pr create --fill"
    if wants_json():
        ranks = {name: report(found)[name] for name in ("ranked", "unranked_because")}
        print_json({"folder": str(goal), **ranks, "pull_request": line})
        return
    click.echo(goal)
    print_advice(found)
    click.echo(f"\nCommit this folder, on a branch of its own, and open a pull request:\n{line}")
