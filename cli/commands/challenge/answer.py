"""Make an answer of predictions (entrant)."""

from pathlib import Path

import click

from cli.shared.options import any_path, file_path
from cli.shared.outputs import output_directory
from cli.shared.printing import json_option, print_outcome


@click.command(name="answer")
@click.argument("public", type=any_path)
@click.argument("predictions", type=any_path)
@click.option("--commitment", type=file_path, required=True, help="The file that `commit` wrote.")
@click.option("--program", type=any_path, required=True, help="The directory that was committed.")
@click.option("--out", type=output_directory, required=True, help="Directory to write; it may not exist.")
@json_option
def command(public: Path, predictions: Path, commitment: Path, program: Path, out: Path) -> None:
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
