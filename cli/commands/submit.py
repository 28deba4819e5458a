"""File a submission under the leaderboard, scored."""

from pathlib import Path

import click

from cli.shared.options import leaderboard_option, threads_option


@click.command(name="submit")
@click.argument("submission", type=click.Path(path_type=Path))
@leaderboard_option
@threads_option
def command(submission: Path, leaderboard: Path, threads: int | None) -> None:
    """File a submission under the leaderboard, ready for a pull request.

    Validates and scores it, and copies it with its scores.json; nothing is copied if it is refused.

    \b
    Example:
      sraven submit my-submission
    """
    from sraven.core.submissions.submit import file_submission

    goal = file_submission(submission, leaderboard, threads=threads)
    click.echo(f"{goal}\n\nCommit this folder and open a pull request.")
