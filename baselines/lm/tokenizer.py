"""SentencePiece: a model from a file, and documents to tokens."""

import hashlib
from collections.abc import Iterable, Sequence
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import sentencepiece
from numpy.typing import NDArray

from sraven.core.errors import ConfigurationError
from sraven.files.files import read_bounded

MOST_PIECES = 1 << 16
"""Tokens are stored in 16 bits."""

SPECIAL = "pad", "eos", "bos", "unk"
"""Special tokens whose ids a manifest says."""


class Tokenizer:
    """A SentencePiece model.

    Attributes:
        model: the bytes of its file.
        sha256: their SHA-256, in hexadecimal.
        pieces: size of the vocabulary.
        processor: its `sentencepiece.SentencePieceProcessor`.
        special: ids of ``pad``, ``eos``, ``bos`` and ``unk``; -1 for one that it lacks.
    """

    def __init__(self, model: bytes, name: str) -> None:
        """Read a model.

        Args:
            model: the bytes of its file.
            name: what to call it in an error.

        Raises:
            ConfigurationError: if it isn't one, or can't be used here.
        """
        try:
            self.processor: Any = sentencepiece.SentencePieceProcessor(model_proto=model)
            self.pieces = int(self.processor.get_piece_size()) if model else 0
        except (RuntimeError, OSError, ValueError):
            self.pieces = 0
        if not self.pieces:
            raise ConfigurationError(f"tokenizer={name!r}: not a SentencePiece model; give a .model file")
        if self.pieces > MOST_PIECES:
            raise ConfigurationError(
                f"tokenizer={name!r}: has {self.pieces:,} pieces; tokens are stored in 16 bits, "
                f"so give one with {MOST_PIECES:,} or fewer"
            )
        self.model, self.sha256 = model, hashlib.sha256(model).hexdigest()
        self.special = {word: int(getattr(self.processor, f"{word}_id")()) for word in SPECIAL}
        lacking = [word for word in ("bos", "eos") if self.special[word] < 0]
        if lacking:
            raise ConfigurationError(
                f"tokenizer={name!r}: has no {' and no '.join(lacking)}, which stand before and after "
                "each document; give one that has both"
            )

    @property
    def description(self) -> dict[str, Any]:
        """What a manifest says of it."""
        return {"sha256": self.sha256, "pieces": self.pieces, **self.special}

    def encode(
        self, texts: Sequence[bytes], threads: int = 1
    ) -> tuple[NDArray[np.uint16], NDArray[np.int64]]:
        """Return the tokens of documents, BOS before and EOS after each.

        Args:
            texts: the documents, in UTF-8.
            threads: how many to use; the tokens don't depend on it.

        Returns:
            the tokens of all documents, end to end, and the number of each one's.
        """
        documents = self.processor.encode(
            list(texts), num_threads=threads, add_bos=True, add_eos=True, return_type="numpy"
        )
        lengths = np.fromiter(map(len, documents), np.int64, len(documents))
        return np.concatenate(documents, dtype=np.uint16, casting="unsafe"), lengths


_LINES = 1_000_000
"""Documents that a tokenizer is trained on at most, the first ones."""

_IDS = {"pad_id": 0, "eos_id": 1, "bos_id": 2, "unk_id": 3}
"""Of special tokens, as in NanoDO."""


def train_tokenizer(texts: Iterable[str], pieces: int, name: str = "trained", **settings: Any) -> Tokenizer:
    """Return a tokenizer of some documents, the same for the same ones.

    Args:
        texts: the documents.
        pieces: size of the vocabulary; at least 260, the bytes and special tokens.
        name: what to call it in an error.
        settings: of SentencePiece, in place of these.

    Raises:
        ConfigurationError: if there is too little text for so many pieces.
    """
    model = BytesIO()
    settings = {**_IDS, "byte_fallback": True, "num_threads": 1, "minloglevel": 2, **settings}
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=islice(texts, _LINES), model_writer=model, vocab_size=pieces, **settings
        )
    except RuntimeError as error:
        reason = str(error).rpartition("] ")[2] or str(error)
        raise ConfigurationError(f"tokenizer={name!r}: {reason}") from None
    return Tokenizer(model.getvalue(), name)


def read_tokenizer(path: Path) -> Tokenizer:
    """Return the tokenizer that a file holds.

    Raises:
        ConfigurationError: if there is none, or it can't be used here.
    """
    try:
        model = read_bounded(path)
    except OSError as error:
        raise ConfigurationError(
            f"tokenizer={str(path)!r}: {error.strerror}; give a SentencePiece .model file"
        ) from None
    return Tokenizer(model, str(path))
