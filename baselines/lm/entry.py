"""Trained language models onto their board: the losses of its documents, as a submission."""

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from baselines.config import LanguageConfig
from baselines.evaluate import UNKNOWN, Training, describe_runs
from baselines.lm.corpus import Corpus
from baselines.lm.evaluate import DocumentLosses
from baselines.runs.log import read_log, without_scores
from baselines.runs.provenance import commit_of, hardware_of
from sraven.core.base.errors import ConfigurationError
from sraven.core.boards.board import read_board
from sraven.core.submissions.runs import fingerprint
from sraven.core.submissions.submit import write_submission

MOST_LINES = 5000
"""Lines of a log that a submission has at most."""

SPLIT = "validation"


def check_corpus(board_id: str, corpus: Corpus) -> None:
    """Check that documents are those of a board, as far as their number and tokenizer say.

    Raises:
        ConfigurationError: if their number or their tokenizer is another.
    """
    board = read_board(board_id)
    wanted, size = board.task.config, board.splits[SPLIT]
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
    return {SPLIT: fingerprint(read_board(board_id).labels(SPLIT, documents))}


def write_language_entry(
    runs: Sequence[Path],
    configs: Sequence[LanguageConfig],
    params: Any,
    losses: Sequence[DocumentLosses],
    out: str | os.PathLike[str],
    *,
    authors: Sequence[str],
    code_commit: str | None = None,
    hardware: str | None = None,
    tuning_trials: int | None = None,
) -> None:
    """Write the losses of runs on the documents of their board as a submission.

    Args:
        runs: their directories.
        configs: of the runs, which differ in their seed alone.
        params: of one of them.
        losses: of the runs, on a corpus that `check_corpus` knows.
        out: a directory that doesn't exist yet.
        authors: who submits.
        code_commit: of the code that trained the runs; None for what they have recorded.
        hardware: that trained them; None for what they have recorded.
        tuning_trials: how many settings were tried; None if nobody says it.
    """
    first = configs[0]
    seen = first.steps * first.batch_size * first.length
    machine = hardware or hardware_of(runs) or UNKNOWN
    training = Training(seen, f"{seen:,} tokens", None, machine, tuning_trials)
    description = describe_runs(configs, params, training, authors, code_commit or commit_of(runs))
    with tempfile.TemporaryDirectory() as name:
        logs = {}
        for run, config in zip(runs, configs, strict=True):
            logs[config.seed] = Path(name) / f"seed-{config.seed}.jsonl"
            logs[config.seed].write_text(thin_log(read_log(run)), "utf-8")
        write_submission(
            out,
            first.board,
            {
                SPLIT: {
                    config.seed: np.stack([array.astype(np.float64) for array in found], axis=1)
                    for config, found in zip(configs, losses, strict=True)
                }
            },
            logs=logs,
            **description,
        )


def thin_log(lines: Sequence[str]) -> str:
    """Return every n-th line of a log, its numbers alone, and its last: `MOST_LINES` or fewer."""
    apart = max(1, -(-len(lines) // MOST_LINES))
    return "".join(map(without_scores, lines[::-1][::apart][::-1]))
