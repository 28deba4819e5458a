"""Completions of a file of prompts."""

import json
from pathlib import Path

import click

from cli.shared.imports import import_option, needs_extra
from cli.shared.options import any_path, existing_file
from cli.shared.outputs import output_file, spare
from cli.shared.printing import json_option, print_outcome
from cli.shared.progress import progress_bar


@click.command(name="complete")
@click.argument("run", metavar="RUN", type=any_path)
@click.argument("prompts", type=existing_file)
@click.option("--tokens", type=int, default=32, show_default=True, help="To add at most.")
@click.option("--batch", type=int, default=256, show_default=True, help="Prompts at a time.")
@click.option("--out", type=output_file, required=True, help="File to write.")
@import_option
@json_option
def command(run: Path, prompts: Path, tokens: int, batch: int, out: Path) -> None:
    """Complete PROMPTS with a language model, the likeliest pieces after each.

    RUN is the directory of a finished run on c4-v1. PROMPTS is a file of JSON Lines with `id` and `prompt`,
    as `sraven text generate` writes it; the completions are what `sraven text score` reads. Each ends where
    the model ends its document, or after --tokens tokens.

    \b
    Example:
      sraven c4 complete run prompts.jsonl --tokens 12 --out completions.jsonl
    """
    with needs_extra("sraven c4 complete", "baselines"):
        from baselines.lm.sample import Completer
    from sraven.core.system.files import replacing
    from sraven.text.completions import read_completions

    spare(out, [prompts])
    completer = Completer(run, tokens, batch)
    total = sum(1 for _ in read_completions(prompts, "prompt"))
    questions = ((each.question, each.text or "") for each in read_completions(prompts, "prompt"))
    with (
        replacing(out) as temporary,
        open(temporary, "w", encoding="utf-8", newline="\n") as file,
        progress_bar("completing (compiles on first use)", total) as advance,
    ):
        for name, text in completer.complete(questions):
            file.write(json.dumps({"id": name, "completion": text}) + "\n")
            advance(1)
    print_outcome(value={"path": str(out), "completions": total}, text=f"{out}: {total:,} completions")
