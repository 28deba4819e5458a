"""Predict a board's splits with trained runs."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli.shared.options import (
    any_path,
    argument_of,
    directory,
    import_option,
    leave_out,
    needs_extra,
    output_directory,
    read_integers,
)
from cli.shared.printing import json_option, print_outcome, print_rows
from cli.shared.progress import progress_bar
from cli.shared.training import need_data, refuse_language
from sraven.core.escape import escape, with_error

if TYPE_CHECKING:
    from baselines.evaluate import Evaluation
    from baselines.lm.session import LanguageEvaluation


@click.command(name="evaluate")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, type=any_path)
@click.option("--out", type=output_directory, help="Submission to write.")
@click.option("--board", "board_id", metavar="BOARD", help="To evaluate on.  [default: that of the runs]")
@click.option("--loops", callback=read_integers, metavar="N[,N...]", help="Numbers of loops to compare.")
@argument_of(
    "entry",
    dict,
    click.option(
        "--author", "authors", multiple=True, help="Who submits; may be repeated.  [default: git's user.name]"
    ),
    click.option(
        "--tuning-trials",
        type=click.IntRange(1),
        help="Settings tried, the chosen one included.  [default: the points of the grid]",
    ),
)
@click.option("--data", type=directory, multiple=True, help="c4: documents to evaluate on; may be repeated.")
@click.option("--rows", type=click.IntRange(1), help="c4: of a batch.  [default: 32]")
@click.option("--mesh", metavar="data=N,fsdp=N", help="c4: devices.  [default: one]")
@import_option
@json_option
def command(
    runs: tuple[Path, ...],
    out: Path | None,
    board_id: str | None,
    loops: list[int],
    entry: dict[str, Any],
    **language: Any,
) -> None:
    """Evaluate trained runs on a board, and write a submission.

    The runs are several seeds of one configuration, or a directory of them. With --board, it may be another
    than theirs, if networks see its instances in the same way and training showed none of the combinations
    that it holds out. Those on c4-v1 are evaluated on the documents of --data, one by one. What each run
    scores goes into its result.json, too. With --loops, nothing is written: looped transformers apply their
    block as often as that.

    \b
    Example:
      sraven evaluate run --out entry
      sraven evaluate run --board sraven-twins-v1 --out twins
      sraven evaluate run --loops 1,2,4,8
      sraven evaluate run --data c4-validation
    """
    with needs_extra("sraven evaluate", "baselines"):
        from baselines.config import LanguageConfig
        from baselines.evaluate import check_alike
        from baselines.plots.curves import find_runs
        from baselines.train.directory import read_run

        folders = find_runs(runs)
    configs = [read_run(folder) for folder in folders]
    check_alike(folders, configs)
    if loops:
        leave_out(["out", "authors", "tuning_trials", *language], "--loops compares, and writes nothing")
        _compare_loops(folders, board_id, loops)
        return
    if not isinstance(configs[0], LanguageConfig):
        refuse_language(language, configs[0].board)
        _evaluate_board(folders, out, **entry, board_id=board_id)
        return
    leave_out(["out", "board_id", "authors", "tuning_trials"], "nothing is submitted for c4-v1")
    _evaluate_language(folders, **language)


def _authors(given: Sequence[str]) -> Sequence[str]:
    """Return who submits: who is named, else whom Git's configuration here names, which is said."""
    if given:
        return given
    from baselines.train.provenance import ask_git

    if not (name := ask_git("config", "user.name", root=Path())):
        raise click.UsageError("say who submits: --author NAME")
    click.echo(f"the author is {escape(name)}, as git is configured; --author NAME says otherwise", err=True)
    return [name]


def _evaluate_board(runs: Sequence[Path], out: Path | None, **entry: Any) -> None:
    """Write a submission, and print what the runs score."""
    from baselines.evaluate import write_entry

    if out is None:
        raise click.UsageError("name the submission to write: --out DIR")
    entry["authors"] = _authors(entry["authors"])
    found = write_entry(runs, out, **entry)
    scores = {
        "by_seed": {str(seed): scores for seed, scores in found.scores.items()},
        "instances": found.instances,
        "unranked": found.unranked(),
    }
    print_outcome(value={"path": str(out), "scores": scores}, text=lambda: _print_scores(found, out))


def _compare_loops(runs: Sequence[Path], board_id: str | None, loops: list[int]) -> None:
    """Print the primary metric on each split for each number of loops."""
    from baselines.evaluate import evaluate_runs

    found = {number: evaluate_runs(runs, board_id, number) for number in loops}
    metric = found[loops[0]].board.metric
    scores = {
        str(number): {split: mean for split, (mean, _) in each.means(metric).items()}
        for number, each in found.items()
    }
    rows = ((number, *(f"{mean:.4f}" for mean in means.values())) for number, means in scores.items())
    headings = f"loops ({metric})", *scores[str(loops[0])]
    print_outcome(
        value={"metric": metric, "loops": scores}, text=lambda: print_rows(headings, rows, box=None)
    )


def _print_scores(found: "Evaluation", out: Path) -> None:
    """Print the primary metric on each split, and what comes next."""
    seeds = len(found.configs)
    rows = []
    for split, (mean, error) in found.means(found.board.metric).items():
        remark = "unranked" if split in found.unranked() else ""
        rows.append((split, f"{found.instances[split]:,}", with_error(mean, error), remark))
    metric = f"{found.board.metric}, {seeds} seed{'s' * (seeds > 1)}"
    print_rows(("split", "instances", metric, ""), rows, box=None)
    click.echo(f"{out}\n\nsraven score {out}")


def _evaluate_language(
    runs: Sequence[Path], *, data: tuple[Path, ...], mesh: str | None, **options: Any
) -> None:
    """Print losses of language models."""
    from baselines.lm.corpus import Corpus
    from baselines.lm.session import evaluate_language_runs
    from baselines.train.sharding import make_mesh

    need_data("a run on c4-v1", data)
    found = evaluate_language_runs(runs, Corpus(*data), bar=progress_bar, mesh=make_mesh(mesh), **options)
    print_outcome(value=found._asdict(), text=lambda: _print_losses(found))


def _print_losses(found: "LanguageEvaluation") -> None:
    first = found.runs[0]
    title = f"{first['documents']:,} documents, {first['tokens']:,} tokens"
    forms = {"folder": "", "loss": ".4f", "perplexity": ",.2f", "bits_per_byte": ".4f"}
    print_rows(
        ("run", "loss per token", "perplexity", "bits per byte"),
        ([format(each[name], form) for name, form in forms.items()] for each in found.runs),
        title=title,
        title_justify="left",
    )
    entropy = f"{found.unigram_entropy:.4f}"
    click.echo(f"unigram entropy {entropy}: a loss below it has learnt more than how frequent tokens are")
