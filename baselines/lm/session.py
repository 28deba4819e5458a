"""Finished language models on documents: their losses, as a table, a file and a submission to their board."""

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jax.sharding import Mesh

from baselines.config import LanguageConfig
from baselines.evaluate import describe_runs, keep_scores
from baselines.lm.corpus import Corpus
from baselines.lm.documents import Documents
from baselines.lm.evaluate import (
    ROWS,
    VALIDATION,
    DocumentLosses,
    check_tokenizer,
    document_losses,
    mean_losses,
    unigram_entropy,
    write_losses,
)
from baselines.lm.sample import load_language_run
from baselines.lm.share import BatchShare
from baselines.runs.log import read_log, without_scores
from sraven.board.board import read_board
from sraven.core.errors import ConfigurationError
from sraven.leaderboard.submissions.corpus import fingerprint
from sraven.leaderboard.submissions.submit import check_new, write_submission

MOST_LINES = 5000
"""Lines of a log that a submission has at most."""

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
    out: Path | None = None,
    **entry: Any,
) -> LanguageEvaluation:
    """Evaluate language models on documents; write their losses and a submission on request.

    Args:
        runs: directories of finished runs that differ in their seed alone.
        corpus: the documents.
        bar: shows progress.
        rows: of a batch; None for the default.
        mesh: devices; None for one.
        losses: a Parquet file for the losses of all documents; None for none.
        out: a directory for a submission; None for none.
        entry: what `write_language_entry` takes besides.

    Raises:
        ConfigurationError: for documents of another tokenizer; with ``out``, for others than the board's.
        OutputError: if a run isn't finished, or ``out`` exists.
    """
    for run in runs:
        check_tokenizer(run, corpus)
    loaded = [load_language_run(run) for run in runs]
    configs = [config for config, _ in loaded]
    if out is not None:  # all checks come before hours of work
        check_new(out)
        check_corpus(configs[0].board, corpus)
    found, summaries = [], []
    for run, (config, params) in zip(runs, loaded, strict=True):
        with bar(str(run), Documents(corpus, config.length, BatchShare(1)).pieces) as advance:
            each = document_losses(config, params, corpus, rows=rows or ROWS, mesh=mesh, advance=advance)
        found.append(each)
    if losses is not None:
        write_losses(losses, corpus, {config.seed: each for config, each in zip(configs, found, strict=True)})
    if out is not None:
        write_language_entry(runs, configs, loaded[0][1], found, out, **entry)
    for run, config, each in zip(runs, configs, found, strict=True):
        means = mean_losses(each)  # over all documents; they go into its result as well
        scores = {name: means[name] for name in ("loss", "perplexity", "bits_per_byte")}
        size = {VALIDATION: corpus.documents}
        keep_scores(run, config, {VALIDATION: scores}, size, corpus=corpus.digest)
        summaries.append({"folder": str(run), "seed": config.seed, **means})
    return LanguageEvaluation(summaries, unigram_entropy(corpus))


def check_corpus(board_id: str, corpus: Corpus) -> None:
    """Check that documents are those of a board, as far as their number and tokenizer say.

    Raises:
        ConfigurationError: if their number or their tokenizer is another.
    """
    board = read_board(board_id)
    wanted, size = board.task.config, board.splits[VALIDATION]
    if corpus.documents != size:
        raise ConfigurationError(
            f"{board_id} has the {size:,} documents of {wanted['dataset']}, {wanted['configuration']}, "
            f"{wanted['split']}; here are {corpus.documents:,}, of which nothing can be submitted or pinned"
        )
    if corpus.tokenizer["sha256"] != wanted["tokenizer_sha256"]:
        raise ConfigurationError(
            f"{board_id} has the tokenizer {wanted['tokenizer_sha256'][:12]}…; the documents have "
            f"{corpus.tokenizer['sha256'][:12]}…: prepare them with the board's"
        )


def corpus_fingerprint(board_id: str, corpus: Corpus) -> dict[str, str]:
    """Return the fingerprint that every submission on these documents has, by split.

    Args:
        board_id: the board.
        corpus: its documents, prepared.

    Raises:
        ConfigurationError: if their number or their tokenizer is another.
        OutputError: if files of the corpus are missing or cut.
    """
    check_corpus(board_id, corpus)
    corpus.check_files()
    table = corpus.read_documents()
    targets, text_bytes = table["tokens"].astype(np.float64) - 1, table["bytes"].astype(np.float64)
    documents = np.stack([np.zeros(len(table)), targets, text_bytes], axis=1)
    return {VALIDATION: fingerprint(read_board(board_id).labels(VALIDATION, documents))}


def write_language_entry(
    runs: Sequence[Path],
    configs: Sequence[LanguageConfig],
    params: Any,
    losses: Sequence[DocumentLosses],
    out: str | os.PathLike[str],
    **said: Any,
) -> None:
    """Write the losses of runs on the documents of their board as a submission.

    Args:
        runs: their directories.
        configs: of the runs, which differ in their seed alone.
        params: of one of them.
        losses: of the runs, on a corpus that `check_corpus` knows.
        out: a directory that doesn't exist yet.
        said: ``authors``, ``code_commit``, ``hardware`` and ``tuning_trials``, as of
            `baselines.evaluate.describe_runs`.
    """
    with tempfile.TemporaryDirectory() as name:
        logs = {}
        for run, config in zip(runs, configs, strict=True):
            logs[config.seed] = Path(name) / f"seed-{config.seed}.jsonl"
            logs[config.seed].write_text(thin_log(read_log(run)), "utf-8")
        found = {config.seed: np.stack(each, axis=1) for config, each in zip(configs, losses, strict=True)}
        description = describe_runs(configs, params, runs, **said)
        write_submission(out, configs[0].board, {VALIDATION: found}, logs=logs, **description)


def thin_log(lines: Sequence[str]) -> str:
    """Return every n-th line of a log, its numbers alone, and its last: `MOST_LINES` or fewer."""
    apart = max(1, -(-len(lines) // MOST_LINES))
    return "".join(map(without_scores, lines[::-1][::apart][::-1]))
