"""File a submission under the leaderboard, scored."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.shared.options import any_path, directory, threads_option
from cli.shared.printing import json_option, print_json, wants_json
from cli.shared.progress import Stopped
from cli.shared.scores import primary_score, print_advice

if TYPE_CHECKING:
    from sraven.core.contribution.propose import Proposer
    from sraven.core.leaderboard.unfiled import Scored


@click.command(name="submit")
@click.argument("submission", type=any_path)
@click.option("--pr", "as_pull_request", is_flag=True, help="Open the pull request, too, with gh.")
@click.option(
    "--leaderboard",
    type=directory,
    default=Path("docs/leaderboard"),
    show_default=True,
    help="The leaderboard's folder, in a checkout.",
)
@threads_option
@json_option
def command(submission: Path, as_pull_request: bool, leaderboard: Path, threads: int | None) -> None:
    """File a submission under the leaderboard, ready for a pull request.

    Validates and scores it, and copies it with its scores.json; nothing is copied if it is refused. What
    won't be ranked is filed all the same, with the reason.

    With --pr, GitHub's own client (gh) opens the pull request: a commit of the one folder, on top of what
    the remote origin has, pushed as a branch of its own. Your branch, index and other changes stay as they
    are. Where that fails, the filed folder stays, and the exit code is 1.

    \b
    Example:
      sraven submit my-submission
      sraven submit my-submission --pr
    """
    from sraven.core.leaderboard.unfiled import score_folder
    from sraven.core.submissions.submit import check_leaderboard, file_submission

    check_leaderboard(leaderboard)
    proposer = None
    if as_pull_request:
        from sraven.core.contribution.propose import make_proposer

        proposer = make_proposer(leaderboard)
    found = score_folder(submission, threads=threads)
    goal = file_submission(submission, leaderboard, scores=found.scores)
    if not wants_json():
        click.echo(goal)
        print_advice(found)
    address = _propose(proposer, goal, found) if proposer else None
    if wants_json():
        ranks = {name: found.content[name] for name in ("ranked", "unranked_because")}
        print_json({"folder": str(goal), **ranks, "pull_request": address})
    elif address:
        click.echo(f"\n{address}")
    else:
        click.echo("\nCommit this folder and open a pull request.")


def _propose(proposer: "Proposer", folder: Path, found: "Scored") -> str:
    """Open the pull request; return its address."""
    from sraven.core.base.errors import ChangeError
    from sraven.core.base.escape import escape
    from sraven.core.submissions.submission import read_description

    method, board = escape(read_description(folder)[0]["method"]["name"]), found.board
    score = primary_score(board, found.scores)
    text = f"{method}: {board.primary_split} {board.metric} {score}, as scored by `sraven submit`."
    try:
        return proposer.propose(folder, f"{board.id}: {method}", text)
    except ChangeError as error:
        raise Stopped(str(error), 1) from None
