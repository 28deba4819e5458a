"""SentencePiece: a model from a file or trained on the corpus, and documents to tokens."""

import hashlib
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import sentencepiece
from numpy.typing import NDArray

from baselines.lm.records import read_source
from baselines.lm.sources import Source
from sraven.core.errors import ConfigurationError
from sraven.core.system.files import read_bounded

MOST_PIECES = 1 << 16
"""Tokens are stored in 16 bits."""

SPECIAL = {"pad": 0, "eos": 1, "bos": 2, "unk": 3}
"""Ids of the special tokens in a tokenizer that is trained here, as NanoDO's and T5's have them."""

_LONGEST_LINE = 1 << 16
_THREADS = 8
_SEED = 0


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


def read_tokenizer(path: Path) -> Tokenizer:
    """Return the tokenizer that a file holds.

    Raises:
        ConfigurationError: if there is none, or it can't be used here.
    """
    try:
        model = read_bounded(path)
    except OSError as error:
        raise ConfigurationError(
            f"tokenizer={str(path)!r}: {error.strerror}; give a SentencePiece .model file, or train"
        ) from None
    return Tokenizer(model, str(path))


def first_texts(sources: Iterable[Source], count: int) -> Iterator[str]:
    """Return the first documents of some sources, as many as there are, up to ``count``."""
    records = chain.from_iterable(map(read_source, sources))
    return islice((record.text.decode() for record in records if not record.fault), count)


def train_tokenizer(texts: Iterable[str], vocab_size: int) -> Tokenizer:
    """Train a unigram model with byte fallback; equal texts give equal bytes.

    Lines of documents are what it learns from, those beyond 65,536 bytes left out. Nothing is
    sampled, and the number of threads is fixed, because the sums that they share out are rounded.

    Args:
        texts: the documents.
        vocab_size: pieces, the 4 special and 256 of single bytes included.

    Raises:
        ConfigurationError: if the texts can't give so many pieces, or need more.
    """
    lines = (line for text in texts for line in text.splitlines() if line.strip())
    model = io.BytesIO()
    special: dict[str, Any] = {f"{word}_id": id_ for word, id_ in SPECIAL.items()}
    sentencepiece.set_random_generator_seed(_SEED)
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=lines,
            model_writer=model,
            model_type="unigram",
            vocab_size=vocab_size,
            byte_fallback=True,
            num_threads=_THREADS,
            max_sentence_length=_LONGEST_LINE,
            minloglevel=2,
            **special,
        )
    except RuntimeError as error:
        raise ConfigurationError(f"vocab_size={vocab_size:,}: {_advice(str(error))}") from None
    return Tokenizer(model.getvalue(), "train")


def _advice(message: str) -> str:
    """Return in our words what SentencePiece has against a size."""
    if found := re.search(r"value <= (\d+)", message):
        return f"the documents give {int(found[1]):,} pieces at most; use that, or more documents"
    if found := re.search(r"required_chars\. \d+ vs (\d+)", message):
        return f"the characters of the documents take {int(found[1]):,} pieces at least; use more"
    if "sentences_.empty()" in message:
        return "the sources have no document to train a tokenizer on; check them"
    return f"no tokenizer can be trained ({message}); use another size, or more documents"
