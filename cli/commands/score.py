"""Score submissions: validate them, recompute their scores."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli.shared.options import any_path, output_file, spare, threads_option
from cli.shared.printing import json_option, print_outcome
from cli.shared.progress import progress_bar
from cli.shared.scores import print_advice, print_bounds, print_composing, print_many, print_scores

if TYPE_CHECKING:
    from sraven.leaderboard.filed import Fault
    from sraven.leaderboard.unfiled import Scored


@click.command(name="score")
@click.argument("submissions", type=any_path, nargs=-1, required=True)
@click.option("--out", type=output_file, help="File to write the scores to.")
@click.option("--check", is_flag=True, help="Compare with the scores.json of a filed submission.")
@threads_option
@json_option
def command(submissions: tuple[Path, ...], out: Path | None, check: bool, threads: int | None) -> None:
    """Score submissions: validate them, rebuild the labels, recompute their scores.

    Of one submission, all scores are printed, and why it won't be ranked if that is so. A fault refuses it
    with one line and exit code 2. With --check, the scores beside a filed submission must be those that
    are recomputed; exits with 1 if they aren't. A metric that is younger than the board is shown beside its
    scores, and neither written nor compared.

    Of several, of any boards, each has a row, and the labels of a board are rebuilt once for all. One that
    is refused says why in its row and hides no other; the exit code is 1 then.

    \b
    Example:
      sraven score my-submission
      sraven score docs/leaderboard/submissions/sraven-v1/*
    """
    if len(submissions) > 1:
        if out:
            raise click.UsageError("--out takes the scores of one submission; use --json for several")
        _score_many(submissions, check, threads)
        return
    from sraven.core.system.files import compact_json, write_text
    from sraven.leaderboard.submissions.runs import SCORES
    from sraven.leaderboard.unfiled import score_folder

    if submissions[0].is_dir():
        spare(out, [path for path in submissions[0].iterdir() if path.name != SCORES])
    found = score_folder(submissions[0], threads=threads)
    if out:
        write_text(out, compact_json(found.scores))

    def show() -> None:
        print_scores(found.scores, found.beside, found.board.metric)
        if found.composing:
            print_composing(found.board, found.composing)
        print_bounds(found.board, tuple(found.scores["splits"]))
        print_advice(found)

    print_outcome(value=found.content, text=show)
    if check and not _is_as_filed(found):
        raise SystemExit(1)


def _is_as_filed(found: "Scored") -> bool:
    """Tell whether the scores beside a filed submission are those that it has, and say so if they aren't."""
    from sraven.core.escape import escape
    from sraven.leaderboard.submissions.runs import SCORES
    from sraven.leaderboard.submissions.submission import differing, read_scores

    if places := differing(read_scores(found.folder), found.scores):
        where = escape(str(found.folder / SCORES), 400)
        click.echo(f"{where}: {places[0]} isn't what the predictions score", err=True)
    return not places


def _score_many(submissions: tuple[Path, ...], check: bool, threads: int | None) -> None:
    """Score submissions and print a row for each."""
    from sraven.leaderboard.filed import Fault, fault_of
    from sraven.leaderboard.unfiled import score_folders

    found: list[Scored | Fault] = []
    failed = 0
    with progress_bar("scoring", len(submissions)) as advance:
        for folder, each in zip(submissions, score_folders(submissions, threads=threads), strict=True):
            one: Scored | Fault = each
            try:
                failed += isinstance(each, Fault) or (check and not _is_as_filed(each))
            except ValueError as error:  # there are no scores beside it, or they can't be read
                one, failed = fault_of(str(folder), error), failed + 1
            found.append(one)
            advance(1)
    print_outcome(value=list(map(_content, submissions, found)), text=lambda: print_many(found))
    if failed:
        raise SystemExit(1)


def _content(folder: Path, found: "Scored | Fault") -> dict[str, Any]:
    """Return what `--json` says of one of several submissions."""
    from sraven.leaderboard.unfiled import Scored

    content = found.content if isinstance(found, Scored) else {"refused": found.reason}
    return {"submission": str(folder), **content}
