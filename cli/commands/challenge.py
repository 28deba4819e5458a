"""Rounds on secret instances: commit, new, answer, score."""

from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import click

from cli.lazy import LazyGroup
from cli.shared.options import any_path, file_path, threads_option
from cli.shared.outputs import output_directory, output_file
from cli.shared.printing import json_option, print_outcome, print_rows


@click.group(name="challenge", cls=LazyGroup)
def command() -> None:
    """Rounds on secret instances: programs are committed first, labels never leave the organiser.

    \b
    Example:
      sraven challenge commit program --name "My method" --out commitment.json
      sraven challenge new sraven-v1 DIGEST DIGEST --out round
      sraven challenge answer public predictions --commitment commitment.json --program program --out answer
      sraven challenge score public answer-1 answer-2 --secret secret.json
    """


@command.command("commit", short_help="Commit to a program, before a round (entrant).")
@click.argument("program", type=any_path)
@click.option("--name", help="What the entry is called.")
@click.option("--out", type=output_file, help="File to write and to keep.")
@click.option("--check", type=file_path, help="Compare with this commitment instead.")
@json_option
def commit(program: Path, name: str | None, out: Path | None, check: Path | None) -> None:
    """Commit to PROGRAM, a directory with all weights and all code, before a round is drawn.

    Prints a digest, which the organiser gets. Keep the file that is written: an answer needs it. With
    --check, checks that a program is the one that was committed.

    \b
    Example:
      sraven challenge commit program --name "My method" --out commitment.json
      sraven challenge commit program --check commitment.json
    """
    from sraven.core.challenge import check_commitment, write_commitment

    if check is not None and (name is not None or out is not None):
        raise click.UsageError("--check takes neither --name nor --out; leave them out")
    if check is not None:
        digest = check_commitment(check, program)
    elif name is None or out is None:
        raise click.UsageError("--name and --out are missing; a commitment needs both")
    else:
        digest = write_commitment(out, program, name)
    print_outcome(value={"path": str(check or out), "commitment": digest}, text=digest)


@command.command("new", short_help="Draw a round under a secret (organiser).")
@click.argument("board")
@click.argument("commitments", nargs=-1)
@click.option("--out", type=output_directory, required=True, help="Directory to write; it may not exist.")
@threads_option
@json_option
def new(board: str, commitments: tuple[str, ...], out: Path, threads: int | None) -> None:
    """Draw a round of BOARD for the entrants of these COMMITMENTS, which they had to send before.

    Writes OUT/public, to be published: contexts without labels, and digests. And OUT/private, which only
    you can read: the secret. Keep it until all answers are there, and publish it then.

    \b
    Example:
      sraven challenge new sraven-v1 $(cat commitments.txt) --out round
    """
    from sraven.core.challenge import new_challenge

    digest = new_challenge(board, out, commitments, threads=threads)
    print_outcome(
        value={"challenge": digest, "public": str(out / "public"), "private": str(out / "private")},
        text=f"{out / 'public'}: publish this; its digest is {digest}\n"
        f"{out / 'private'}: keep this to yourself until all answers are there",
    )


@command.command("answer", short_help="Make an answer of predictions (entrant).")
@click.argument("public", type=any_path)
@click.argument("predictions", type=any_path)
@click.option("--commitment", type=file_path, required=True, help="The file that `commit` wrote.")
@click.option("--program", type=any_path, required=True, help="The directory that was committed.")
@click.option("--out", type=output_directory, required=True, help="Directory to write; it may not exist.")
@json_option
def answer(public: Path, predictions: Path, commitment: Path, program: Path, out: Path) -> None:
    """Make an answer to the round PUBLIC of the files <split>/seed-<n>.npy in PREDICTIONS.

    Row i of a file is the prediction of instance i. Parquet files as in submissions will do, too. Nothing
    is written if the program isn't as it was committed, or a prediction is missing.

    \b
    Example:
      sraven challenge answer public predictions --commitment commitment.json --program program --out answer
    """
    from sraven.core.challenge import read_challenge, write_answer
    from sraven.core.challenge.answer import read_prediction_files

    challenge = read_challenge(public)
    found = read_prediction_files(predictions, challenge.board)
    write_answer(out, challenge, commitment, program, found)
    print_outcome(value={"path": str(out)}, text=f"{out}: send this to the organiser")


@command.command("score", short_help="Check a round against its secret, score the answers.")
@click.argument("public", type=any_path)
@click.argument("answers", nargs=-1, type=any_path)
@click.option("--secret", type=file_path, required=True, help="The organiser's secret.json.")
@threads_option
@json_option
def score(public: Path, answers: tuple[Path, ...], secret: Path, threads: int | None) -> None:
    """Check the round PUBLIC against its secret, and score ANSWERS on the labels that it gives.

    Anyone can do so when the secret is revealed. Answers that are refused are named with the reason; exits
    with 1 if there are any.

    \b
    Example:
      sraven challenge score public answers/* --secret secret.json
    """
    from sraven.core.base.escape import escape
    from sraven.core.challenge import score_challenge

    found = score_challenge(public, secret, answers, threads=threads)
    print_outcome(value=found, text=lambda: _print(found))
    for entry in found["refused"]:
        click.echo(f"refused: {escape(entry['answer'])}: {escape(entry['why'], 500)}", err=True)
    if found["refused"]:
        raise SystemExit(1)


def _print(found: Mapping[str, Any]) -> None:
    """Print a row for each answer, the best first."""
    from cli.shared.scores import score_cells
    from sraven.core.base.escape import escape
    from sraven.core.boards.board import read_board
    from sraven.core.boards.bootstrap import SHARE

    board = read_board(found["board"])
    click.echo(
        f"round {found['challenge'][:12]}… of {board.id}, opened {found['opened']}: drawn by this secret"
    )
    click.echo(f"{found['entrants']:,} committed to a program, {found['answered']:,} answered")
    if not found["answers"]:
        return
    headings = "name", "commitment", "seeds", *chain(*((split, "interval") for split in board.splits))
    rows = []
    for answer in found["answers"]:
        seeds = len(answer["splits"][board.primary_split]["seeds"])
        scores = (answer["splits"][split]["metrics"][board.metric] for split in board.splits)
        rows.append([escape(answer["name"]), f"{answer['commitment'][:12]}…", seeds, *score_cells(scores)])
    title = f"{board.metric} ({SHARE} intervals over instances)"
    print_rows(headings, rows, right=tuple(board.splits), title=title)
