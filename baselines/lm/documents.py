"""Evaluation batches: documents one by one, each with a context of its own.

A document with more than T + 1 tokens is cut into pieces of T targets. Two in a row share one token, so that
every token but BOS is a target once; but a piece is all its context: nothing before it is seen.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from baselines.lm.corpus import Corpus
from baselines.lm.share import BatchShare


@dataclass(frozen=True)
class DocumentBatch:
    """Rows of an evaluation batch, one a piece of a document.

    Attributes:
        tokens: int32 [rows, T + 1], filled up with the tokenizer's padding, or 0 if it has none.
        mask: bool [rows, T]; whether ``tokens[:, 1:]`` is a target there.
        document: int64 [rows]; index of the document in the corpus, -1 for a row that fills the batch.
        targets: int64 [rows]; how many there are.
        text_bytes: int64 [rows]; of the whole document in its first piece's row, 0 in the others.
    """

    tokens: NDArray[np.int32]
    mask: NDArray[np.bool_]
    document: NDArray[np.int64]
    targets: NDArray[np.int64]
    text_bytes: NDArray[np.int64]


@dataclass(frozen=True)
class Documents:
    """Batches of all documents of a corpus, in order. Meant for evaluation: 56 bytes a document in memory.

    Attributes:
        corpus: the documents.
        length: T, targets of a row at most.
        share: rows of a batch, and which of them this process takes.
    """

    corpus: Corpus
    length: int
    share: BatchShare

    @cached_property
    def _table(self) -> NDArray[np.void]:
        return self.corpus.read_documents()

    @cached_property
    def _ends(self) -> NDArray[np.int64]:
        """Number of pieces up to each document's last."""
        pieces: NDArray[np.int64] = np.cumsum(-(-(self._table["tokens"] - 1) // self.length))
        return pieces

    @property
    def pieces(self) -> int:
        """Rows that hold something."""
        return int(self._ends[-1]) if len(self._ends) else 0

    @property
    def steps(self) -> int:
        """Batches of one pass."""
        return -(-self.pieces // self.share.batch_size)

    def batch(self, step: int) -> DocumentBatch:
        """Return this process's rows of a batch: a pure function of the step."""
        rows = [self._row(piece) for piece in self.share.rows(step)]
        tokens, document, targets, text_bytes = zip(*rows, strict=True)
        counts = np.array(targets, np.int64)
        return DocumentBatch(
            tokens=np.stack(tokens),
            mask=np.arange(self.length) < counts[:, None],
            document=np.array(document, np.int64),
            targets=counts,
            text_bytes=np.array(text_bytes, np.int64),
        )

    def _row(self, piece: int) -> tuple[NDArray[np.int32], int, int, int]:
        """Return tokens, document, number of targets and bytes of text of a row."""
        tokens = np.full(self.length + 1, max(0, self.corpus.tokenizer["pad"]), np.int32)
        if piece >= self.pieces:
            return tokens, -1, 0, 0
        document = int(np.searchsorted(self._ends, piece, side="right"))
        entry: Any = self._table[document]
        which = piece - (int(self._ends[document - 1]) if document else 0)
        skip = which * self.length
        targets = min(self.length, int(entry["tokens"]) - 1 - skip)
        tokens[: targets + 1] = self.corpus.read(int(entry["start"]) + skip, targets + 1)
        return tokens, document, targets, 0 if which else int(entry["bytes"])
