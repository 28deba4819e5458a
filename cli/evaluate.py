"""Predict a board's splits with trained runs."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli.language import directory, open_corpus
from cli.options import json_option
from cli.shared.extras import needs_extra
from cli.shared.printing import print_json, print_table
from cli.shared.progress import progress_bar

if TYPE_CHECKING:
    from baselines.lm.corpus import Corpus


@click.command(name="evaluate")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), help="Submission to write.")
@click.option("--author", "authors", multiple=True, default=("The SRAVEN maintainers",), show_default=True)
@click.option("--code-commit", help="Of the code that trained the runs, for the submission.")
@click.option("--data", type=directory, multiple=True, help="c4: documents to evaluate on; may be repeated.")
@click.option("--rows", type=click.IntRange(1), help="c4: of a batch.  [default: 32]")
@click.option("--mesh", metavar="data=N,fsdp=N", help="c4: devices.  [default: one]")
@click.option("--losses", type=click.Path(path_type=Path, dir_okay=False), help="c4: Parquet file to write.")
@json_option
def command(
    runs: tuple[Path, ...],
    out: Path | None,
    authors: tuple[str, ...],
    code_commit: str | None,
    as_json: bool,
    **language: Any,
) -> None:
    """Evaluate trained runs on their board, and write a submission.

    The runs are several seeds of one configuration. Those on c4-v1 are evaluated on the documents of
    --data, one by one; a submission is written if they are the board's.

    \b
    Example:
      sraven evaluate run --out entry
      sraven evaluate run --data c4-validation
    """
    with needs_extra("sraven evaluate", "baselines"):
        from baselines.config import LanguageConfig
        from baselines.evaluate import check_alike, write_entry
        from baselines.run_directory import read_run

    configs = [read_run(run) for run in runs]
    check_alike(runs, configs)
    if isinstance(configs[0], LanguageConfig):
        _evaluate_language(runs, out, as_json, {"authors": authors, "code_commit": code_commit}, **language)
        return
    given = [name for name, value in language.items() if value not in (None, ())]
    if given:
        raise click.UsageError(f"--{given[0]} is for runs on c4-v1; other boards make their own instances")
    if out is None:
        raise click.UsageError("name the submission to write: --out DIR")
    write_entry(runs, out, authors=authors, code_commit=code_commit)
    if as_json:
        print_json({"path": str(out)})
    else:
        _print_next(out)


def _print_next(out: Path) -> None:
    click.echo(f"{out}\n\nsraven score {out}")


def _evaluate_language(
    runs: Sequence[Path],
    out: Path | None,
    as_json: bool,
    entry: dict[str, Any],
    *,
    data: tuple[Path, ...],
    rows: int | None,
    mesh: str | None,
    losses: Path | None,
) -> None:
    """Print losses of language models, and write them where they are asked for."""
    from baselines.lm.entry import check_corpus, write_language_entry
    from baselines.lm.evaluate import (
        ROWS,
        check_tokenizer,
        document_losses,
        summarise,
        unigram_entropy,
        write_losses,
    )
    from baselines.lm.sample import load_language_run
    from baselines.sharding import make_mesh
    from sraven.core.submissions.submit import check_new

    corpus = open_corpus("a run on c4-v1", data)
    if losses is not None and not losses.parent.is_dir():
        raise click.UsageError(f"{losses.parent} isn't a directory; --losses needs one that is there")
    for run in runs:
        check_tokenizer(run, corpus)
    loaded = [load_language_run(run) for run in runs]
    configs = [config for config, _ in loaded]
    if out is not None:  # whatever can be refused is, before hours of work
        check_new(out)
        check_corpus(configs[0].board, corpus)
    found = []
    for run, (config, params) in zip(runs, loaded, strict=True):
        with progress_bar(str(run), _pieces(corpus, config.length)) as advance:
            found.append(
                document_losses(
                    config, params, corpus, rows=rows or ROWS, mesh=make_mesh(mesh), advance=advance
                )
            )
    if losses is not None:
        write_losses(losses, corpus, {config.seed: each for config, each in zip(configs, found, strict=True)})
    if out is not None:
        write_language_entry(runs, configs, loaded[0][1], found, out, **entry)
    summaries = [
        {"folder": str(run), "seed": config.seed, **summarise(each)}
        for run, config, each in zip(runs, configs, found, strict=True)
    ]
    entropy = unigram_entropy(corpus)
    if as_json:
        print_json({"runs": summaries, "unigram_entropy": entropy})
        return
    _print_summaries(summaries, entropy)
    if out is not None:
        _print_next(out)


def _pieces(corpus: "Corpus", length: int) -> int:
    """Return how many rows a pass over the documents has."""
    from baselines.lm.documents import Documents
    from baselines.lm.share import Share

    return Documents(corpus, length, Share(1)).pieces


def _print_summaries(summaries: Sequence[dict[str, Any]], entropy: float) -> None:
    from rich.table import Table

    first = summaries[0]
    title = f"{first['documents']:,} documents, {first['tokens']:,} tokens"
    table = Table("run", "loss per token", "perplexity", "bits per byte", title=title, title_justify="left")
    for each in summaries:
        numbers = f"{each['loss']:.4f}", f"{each['perplexity']:,.2f}", f"{each['bits_per_byte']:.4f}"
        table.add_row(each["folder"], *numbers)
    print_table(table)
    click.echo(f"unigram entropy {entropy:.4f}: a loss below it has learnt more than how frequent tokens are")
