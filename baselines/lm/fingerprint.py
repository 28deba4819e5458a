"""The fingerprint of the documents of a board, by whoever has them."""

import numpy as np

from baselines.lm.corpus import Corpus
from baselines.lm.entry import SPLIT, check_corpus
from sraven.core.boards.board import read_board
from sraven.core.submissions.corpus import fingerprint


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
