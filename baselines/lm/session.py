"""Finished language models on documents: their losses."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple

from jax.sharding import Mesh

from baselines.config import LanguageConfig
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
)
from baselines.lm.experiment import check_recipe, language_program
from baselines.lm.share import BatchShare
from baselines.load import restore_params
from baselines.train.directory import read_run
from sraven.core.errors import ConfigurationError


def load_language_run(folder: Path, *, step: int | None = None) -> tuple[LanguageConfig, Any]:
    """Return the configuration and the parameters of a run of the language model.

    Args:
        folder: the run's directory.
        step: of a checkpoint that there is, -1 for the newest; None for the last of a finished run.

    Raises:
        ConfigurationError: if it is a run on another board.
        OutputError: if there is none, it isn't finished and no step is given, or it has no such
            checkpoint.
    """
    config = read_run(folder)
    if not isinstance(config, LanguageConfig):
        raise ConfigurationError(f"{folder} is a run on {config.board}, not one of the language model")
    check_recipe(config)
    return config, restore_params(folder, language_program, config, step)


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
    runs: Sequence[Path], corpus: Corpus, *, bar: Bar, rows: int | None = None, mesh: Mesh | None = None
) -> LanguageEvaluation:
    """Evaluate language models on documents.

    Args:
        runs: directories of finished runs that differ in their seed alone.
        corpus: the documents.
        bar: shows progress.
        rows: of a batch; None for the default.
        mesh: devices; None for one.

    Raises:
        ConfigurationError: for documents of another tokenizer.
        OutputError: if a run isn't finished.
    """
    for run in runs:
        check_tokenizer(run, corpus)
    loaded = [load_language_run(run) for run in runs]
    summaries = []
    for run, (config, params) in zip(runs, loaded, strict=True):
        with bar(str(run), Documents(corpus, config.length, BatchShare(1)).pieces) as advance:
            each = document_losses(config, params, corpus, rows=rows or ROWS, mesh=mesh, advance=advance)
        means = mean_losses(each)  # over all documents; they go into its result as well
        scores = {name: means[name] for name in ("loss", "perplexity", "bits_per_byte")}
        size = {VALIDATION: corpus.documents}
        keep_scores(run, config, {VALIDATION: scores}, size, corpus=corpus.digest)
        summaries.append({"folder": str(run), "seed": config.seed, **means})
    return LanguageEvaluation(summaries, unigram_entropy(corpus))
