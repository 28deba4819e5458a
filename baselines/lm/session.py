"""Finished language models on documents: their losses, as a table and a file."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple

from jax.sharding import Mesh

from baselines.evaluate import keep_scores
from baselines.lm.corpus import Corpus
from baselines.lm.documents import Documents
from baselines.lm.evaluate import (
    ROWS,
    VALIDATION,
    check_tokenizer,
    document_losses,
    mean_losses,
    unigram_entropy,
    write_losses,
)
from baselines.lm.sample import load_language_run
from baselines.lm.share import BatchShare

Bar = Callable[[str, int], AbstractContextManager[Callable[[int], None]]]
"""Opens a progress bar, given a run's name and its number of rows; yields a callback for finished rows."""


class LanguageEvaluation(NamedTuple):
    """The losses of runs on documents.

    Attributes:
        runs: of each, its ``folder``, ``seed``, and the means of `baselines.lm.evaluate.mean_losses`.
        unigram_entropy: of the documents.
    """

    runs: Sequence[Mapping[str, Any]]
    unigram_entropy: float


def evaluate_language_runs(
    runs: Sequence[Path],
    corpus: Corpus,
    *,
    bar: Bar,
    rows: int | None = None,
    mesh: Mesh | None = None,
    losses: Path | None = None,
) -> LanguageEvaluation:
    """Evaluate language models on documents; write their losses on request.

    Args:
        runs: directories of finished runs that differ in their seed alone.
        corpus: the documents.
        bar: shows progress.
        rows: of a batch; None for the default.
        mesh: devices; None for one.
        losses: a Parquet file for the losses of all documents; None for none.

    Raises:
        ConfigurationError: for documents of another tokenizer.
        OutputError: if a run isn't finished.
    """
    for run in runs:
        check_tokenizer(run, corpus)
    loaded = [load_language_run(run) for run in runs]
    configs = [config for config, _ in loaded]
    found, summaries = [], []
    for run, (config, params) in zip(runs, loaded, strict=True):
        with bar(str(run), Documents(corpus, config.length, BatchShare(1)).pieces) as advance:
            each = document_losses(config, params, corpus, rows=rows or ROWS, mesh=mesh, advance=advance)
        found.append(each)
    if losses is not None:
        write_losses(losses, corpus, {config.seed: each for config, each in zip(configs, found, strict=True)})
    for run, config, each in zip(runs, configs, found, strict=True):
        means = mean_losses(each)  # over all documents; they go into its result as well
        scores = {name: means[name] for name in ("loss", "perplexity", "bits_per_byte")}
        size = {VALIDATION: corpus.documents}
        keep_scores(run, config, {VALIDATION: scores}, size, corpus=corpus.digest)
        summaries.append({"folder": str(run), "seed": config.seed, **means})
    return LanguageEvaluation(summaries, unigram_entropy(corpus))
