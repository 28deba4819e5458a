"""Requests for a batch interface, and its results."""

from pathlib import Path
from typing import Any

import click

from cli.shared.options import existing_file
from cli.shared.outputs import output_file, spare
from cli.shared.printing import json_option, print_outcome
from cli.shared.questions import asking_of, asking_options


@click.command(name="batch")
@asking_options
@click.option(
    "--remaining", type=existing_file, metavar="COMPLETIONS", help="Leave out what has a reply there."
)
@click.option("--out", type=output_file, required=True, help="File to write.")
@json_option
def command(out: Path, remaining: Path | None, limit: int | None, api: str, **options: Any) -> None:
    """Write the questions of BOARD as requests for OpenAI's or Anthropic's batch interface.

    For `chat` and `responses` it is the file to upload, a request a line; for `messages` the body to post.
    `sraven text collect` reads the results.

    \b
    Example:
      sraven text batch sraven-text-lite-v2 --model gpt-5-mini --api responses --out requests.jsonl
      sraven text collect output.jsonl errors.jsonl --out completions.jsonl
    """
    from sraven.core.system.files import replacing
    from sraven.text.batches import as_requests
    from sraven.text.ledger import posed, wanted
    from sraven.text.scores import answered

    spare(out, [remaining] if remaining else [])
    asking, mixture = asking_of(options)
    replies = {
        questions.id_of(index): int(count)
        for questions, counts in (answered(remaining) if remaining else {}).items()
        for index, count in enumerate(counts)
    }
    left = wanted(mixture, replies, limit, 1)
    with replacing(out) as temporary, open(temporary, "w", encoding="utf-8", newline="\n") as file:
        for text in as_requests(api, asking, posed(left)):
            file.write(text)
    print_outcome(
        value={"path": str(out), "board": mixture.board, "form": mixture.form, "requests": len(left)},
        text=f"{out}: {len(left):,} requests, {mixture.name}",
    )
