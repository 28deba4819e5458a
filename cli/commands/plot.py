"""Draw scores of entries beside ceiling and baselines."""

from pathlib import Path
from typing import Any

import click

from cli.commands.leaderboard import CHECKOUT
from cli.shared.options import directory, needs_extra, output_file, spare, threads_option
from cli.shared.printing import json_option, print_outcome
from sraven.core.system.isolation import elsewhere

FORMATS = "svg", "pdf", "png"


@click.command(name="plot")
@click.argument("entries", metavar="ENTRY...", nargs=-1, required=True)
@click.option("--out", required=True, type=output_file, help="File to write: FILE.svg, .pdf or .png.")
@click.option("--leaderboard", type=directory, help=f"The leaderboard's folder.  [default: {CHECKOUT}]")
@threads_option
@json_option
def command(entries: tuple[str, ...], out: Path, leaderboard: Path | None, threads: int | None) -> None:
    """Draw what entries score on known and on held-out combinations, beside ceiling and baselines.

    ENTRY is a submission's directory or the name of a filed entry; each is scored. There is a panel for each
    board, with a row for each entry in the order given: an open mark for known combinations, a filled one for
    held-out ones with its standard error over seeds.

    \b
    Example:
      sraven plot my-submission 20261122-hyla-6-400-000-instances --out scores.pdf
    """
    if out.suffix[1:] not in FORMATS:
        raise click.UsageError(f"--out {out}: expected a name that ends in .{', .'.join(FORMATS)}")
    with elsewhere(), needs_extra("sraven plot", "analysis"):
        from sraven.leaderboard.page.picture import Bar, Panel, levels_of, save_scores
    from sraven.core.escape import escape
    from sraven.leaderboard.comparison import find_entry
    from sraven.leaderboard.submissions.submission import read_submission, scores_of

    panels: dict[str, Panel] = {}
    found: list[dict[str, Any]] = []
    for name in entries:
        folder = find_entry(name, leaderboard or CHECKOUT)
        spare(out, folder.rglob("*"))
        read = read_submission(folder)
        board, method = read.board, read.content["method"]["name"]
        of_splits = scores_of(read, threads=threads)["splits"]
        splits = {"known": "test", "held_out": board.primary_split}
        means = {
            kind: of_splits[split]["metrics"][board.metric]
            for kind, split in splits.items()
            if split in of_splits and (kind == "held_out" or split != board.primary_split)
        }
        title = f"{board.id}: {board.metric}"
        panel = panels.setdefault(board.id, Panel(title, [], levels_of(board)))
        names = {bar.name for bar in panel.bars}
        label = escape(method) if escape(method) not in names else f"{escape(method)} ({len(names) + 1})"
        mean, error = means["held_out"]["mean"], means["held_out"]["standard_error"] or 0.0
        bar = Bar(label, means.get("known", {}).get("mean"), mean, (mean - error, mean + error))
        panels[board.id] = panel._replace(bars=[*panel.bars, bar])
        found.append({"entry": name, "board": board.id, "method": method, **means})
    save_scores(list(panels.values()), out)
    print_outcome(value=found, text=str(out))
