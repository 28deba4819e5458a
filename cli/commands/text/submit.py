"""Completions of a board's questions as a submission."""

from pathlib import Path
from typing import Any

import click

from cli.shared.options import existing_file
from cli.shared.outputs import output_directory
from cli.shared.printing import json_option, print_outcome


@click.command(name="submit")
@click.argument("completions", nargs=-1, required=True, type=existing_file)
@click.option(
    "--board", "board_id", default="sraven-text-v1", show_default=True, help="Board of the questions."
)
@click.option("--out", type=output_directory, required=True, help="Directory to write.")
@click.option("--model", required=True, help="Name of the model.")
@click.option("--revision", required=True, help="Its revision: a commit, or the version that an API names.")
@click.option("--harness", required=True, help="What put the prompts to it.")
@click.option("--harness-version", required=True, help="Version of that.")
@click.option("--temperature", type=float, help="At which it was sampled; 0 for the most probable token.")
@click.option("--parameters", type=int, help="Number of its parameters, if it is known.")
@click.option("--trained-on", type=int, default=0, show_default=True, help="Puzzles that it was trained on.")
@click.option("--name", help="What the entry is called; the model's name unless given.")
@click.option(
    "--description",
    default="A language model.",
    show_default=True,
    help="In a sentence.",
)
@click.option("--author", "authors", multiple=True, required=True, help="Who submits it; may be repeated.")
@json_option
def command(
    completions: tuple[Path, ...],
    board_id: str,
    out: Path,
    temperature: float | None,
    parameters: int | None,
    trained_on: int,
    name: str | None,
    description: str,
    authors: tuple[str, ...],
    **replies: Any,
) -> None:
    """Write the submission of COMPLETIONS of a board's questions, each file a run of its own.

    A line of a file is an object with `id` and `completion`, as for `sraven text score`. All have to be of
    the questions that `sraven text generate --board` gives, in one form. A question without a completion
    counts as wrong. Completions are submitted as they are: `sraven score` reads and scores them.

    \b
    Example:
      sraven text submit completions.jsonl --out my-submission --model org/model --revision 1f0c2d3 \\
        --harness "my script" --harness-version 1 --temperature 0 --author "A. Author"
    """
    from sraven.text.submission import write_text_submission

    read = write_text_submission(
        out,
        board_id,
        completions,
        method={"name": name or replies["model"], "description": description, "authors": list(authors)},
        model={"parameters": parameters},
        training={"instances": trained_on, "selection_split": None},
        replies=replies if temperature is None else {**replies, "temperature": temperature},
    )
    for path, each in zip(completions, read, strict=True):
        if each.missing:
            click.echo(f"{path}: {each.missing:,} questions have no completion and count as wrong", err=True)
    missing = {str(path): each.missing for path, each in zip(completions, read, strict=True)}
    value = {"path": str(out), "board": board_id, "form": read[0].form, "missing": missing}
    print_outcome(value=value, text=f"{out}: {read[0].form}\n\nsraven score {out}")
