"""Results of batches as completions."""

import json
from pathlib import Path

import click

from cli.shared.options import existing_file
from cli.shared.outputs import output_file, spare
from cli.shared.printing import json_option, print_outcome


@click.command(name="collect")
@click.argument("results", nargs=-1, required=True, type=existing_file)
@click.option("--out", type=output_file, required=True, help="File of completions to write.")
@json_option
def command(results: tuple[Path, ...], out: Path) -> None:
    """Write the RESULTS of batches as a file of completions.

    RESULTS are files as OpenAI (of outputs and of errors) and Anthropic hand them out. What failed becomes a
    line without a completion: `sraven text batch --remaining` and `sraven text ask` ask it again.

    \b
    Example:
      sraven text collect output.jsonl errors.jsonl --out completions.jsonl
    """
    from sraven.core.system.files import replacing
    from sraven.text.batches import read_results

    spare(out, results)
    counts = {False: 0, True: 0}
    with replacing(out) as temporary, open(temporary, "w", encoding="utf-8", newline="\n") as file:
        for path in results:
            for result in read_results(path):
                file.write(json.dumps(result.line) + "\n")
                counts[result.failed] += 1
    print_outcome(
        value={"path": str(out), "completions": counts[False], "failed": counts[True]},
        text=f"{out}: {counts[False]:,} completions, {counts[True]:,} failed\n\nsraven text score {out}",
    )
