"""Completions of a board's questions as a submission."""

from pathlib import Path
from typing import Any

import click

from cli.shared.options import existing_file, output_directory
from cli.shared.printing import json_option, print_outcome


@click.command(name="submit")
@click.argument("completions", nargs=-1, required=True, type=existing_file)
@click.option("--out", type=output_directory, required=True, help="Directory to write.")
@click.option("--model", help="Name of the model.  [default: as the files say]")
@click.option(
    "--revision", help="Its revision: a commit, or the version that an API names.  [as the files say]"
)
@click.option("--harness", help="What put the prompts to it.  [default: as the files say]")
@click.option("--harness-version", help="Version of that.")
@click.option("--temperature", type=float, help="At which it was sampled; 0 for the most probable token.")
@click.option("--parameters", type=int, help="Number of its parameters, if it is known.")
@click.option("--trained-on", type=int, default=0, show_default=True, help="Puzzles that it was trained on.")
@click.option(
    "--tuning-trials", type=int, help="Settings that were tried, of a model that was trained on them."
)
@click.option("--name", help="What the entry is called; the model's name unless given.")
@click.option("--description", default="A language model.", show_default=True, help="In a sentence.")
@click.option("--author", "authors", multiple=True, required=True, help="Who submits it; may be repeated.")
@json_option
def command(
    completions: tuple[Path, ...],
    out: Path,
    parameters: int | None,
    trained_on: int,
    tuning_trials: int | None,
    name: str | None,
    description: str,
    authors: tuple[str, ...],
    **given: Any,
) -> None:
    """Write the submission of COMPLETIONS of a board's questions, each file a run of its own.

    A line of a file is an object with `id` and `completion`, as for `sraven text score`. The ids say which
    board it is; all have to be of one board, in one form. Of a question with several replies, each is a run
    of its own. A question without a completion counts as wrong. What `sraven text ask` wrote says which model
    replied and how it was asked. Completions are submitted as they are: `sraven score` reads and scores them.

    \b
    Example:
      sraven text submit completions.jsonl --out my-submission --author "A. Author"
      sraven text submit completions.jsonl --out my-submission --model org/model --revision 1f0c2d3 \\
        --harness "my script" --harness-version 1 --temperature 0 --author "A. Author"
    """
    from sraven.text.submission import write_text_submission

    said = {option: value for option, value in given.items() if value is not None}
    read = write_text_submission(
        out,
        completions,
        method={**({"name": name} if name else {}), "description": description, "authors": list(authors)},
        model={"parameters": parameters},
        training={"instances": trained_on, "selection_split": None}
        | ({} if tuning_trials is None else {"tuning_trials": tuning_trials}),
        replies=said,
    )
    for path, each in zip(completions, read, strict=True):
        if each.missing:
            click.echo(f"{path}: {each.missing:,} questions have no completion and count as wrong", err=True)
        if each.mended:
            click.echo(
                f"{path}: {len(each.mended):,} replies have halves of characters (surrogates), for which "
                f"U+FFFD stands; the first is {each.mended[0]}",
                err=True,
            )
    missing = {str(path): each.missing for path, each in zip(completions, read, strict=True)}
    runs = sum(len(each.samples) for each in read)
    asked = read[0].mixture
    value = {"path": str(out), "board": asked.board, "form": asked.form, "runs": runs, "missing": missing}
    print_outcome(
        value=value, text=f"{out}: {asked.name}, {runs:,} run{'s' * (runs > 1)}\n\nsraven score {out}"
    )
