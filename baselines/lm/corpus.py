"""Prepared tokens as one long array, read through memory maps."""

import os
from bisect import bisect_right
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from baselines.lm.directory import read_manifest
from baselines.lm.token_shards import ARRAYS, TOKENIZER, array_path
from baselines.lm.tokenizer import Tokenizer, read_tokenizer
from sraven.core.errors import OutputError
from sraven.core.spec import digest

OPEN_SHARDS = 128
"""Shards that are mapped at a time: a map keeps its file open, and systems bound how many may be."""


class Corpus:
    """The tokens of one or several prepared directories, end to end in the order given.

    Attributes:
        tokens: how many there are.
        documents: how many.
        text_bytes: of the documents, in UTF-8.
        tokenizer: what the manifest says of it: ``sha256``, ``pieces``, ``bos`` and so on.
        digest: SHA-256 of canonical JSON of the digests of all shards' tokens, in order.
    """

    def __init__(self, first: str | os.PathLike[str], *others: str | os.PathLike[str]) -> None:
        """Open what `baselines.lm.prepare` wrote.

        Args:
            first: a directory.
            others: more, all with the same tokenizer.

        Raises:
            OutputError: if one isn't finished, is damaged, or has another tokenizer than the first.
        """
        directories = [Path(each) for each in (first, *others)]
        manifests = [read_manifest(directory) for directory in directories]
        self.tokenizer: dict[str, Any] = manifests[0]["tokenizer"]
        self._model = directories[0] / TOKENIZER
        self._shards: list[tuple[Path, dict[str, Any]]] = []
        for directory, manifest in zip(directories, manifests, strict=True):
            if manifest["tokenizer"]["sha256"] != self.tokenizer["sha256"]:
                raise OutputError(f"{directory} has another tokenizer than {directories[0]}; use the same")
            self._shards += [(directory, shard) for shard in manifest["shards"]]
        self.tokens: int = sum(shard["tokens"] for _, shard in self._shards)
        self.documents: int = sum(shard["documents"] for _, shard in self._shards)
        self.text_bytes: int = sum(shard["text_bytes"] for _, shard in self._shards)
        self.digest: str = digest({"tokens": [shard["sha256"]["tokens"] for _, shard in self._shards]})
        self._ends = list(accumulate(shard["tokens"] for _, shard in self._shards))
        self._map = lru_cache(OPEN_SHARDS)(self._load)

    def _load(self, index: int, array: str) -> NDArray[Any]:
        """Map an array of a shard.

        Raises:
            OutputError: if its file isn't what the manifest says.
        """
        directory, shard = self._shards[index]
        path, dtype, shape = array_path(directory, shard["name"], array), ARRAYS[array], (shard[array],)
        try:
            values: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError, EOFError) as error:
            raise OutputError(f"{path} can't be read ({error}); prepare the directory again") from None
        if values.dtype != dtype or values.shape != shape:
            raise OutputError(
                f"{path} has {values.dtype} {list(values.shape)}, expected {dtype} {list(shape)}; "
                "prepare the directory again"
            )
        return values

    def check_files(self) -> None:
        """Check that the files of all shards are there, with their sizes, before long work begins.

        Raises:
            OutputError: for the first that isn't so.
        """
        for directory, shard in self._shards:
            for array, size in shard["file_bytes"].items():
                path = array_path(directory, shard["name"], array)
                found = f"has {path.stat().st_size:,} bytes" if path.is_file() else "is missing"
                if found != f"has {size:,} bytes":
                    raise OutputError(f"{path} {found}; the manifest says {size:,}: prepare it again")

    def read(self, start: int, count: int) -> NDArray[np.uint16]:
        """Return tokens ``start`` to ``start + count - 1`` of the corpus.

        Raises:
            IndexError: if it hasn't so many.
            OutputError: if a shard is missing or damaged.
        """
        if not 0 <= start <= start + count <= self.tokens:
            raise IndexError(f"tokens {start:,} to {start + count:,} of {self.tokens:,}")
        tokens, done = np.empty(count, np.uint16), 0
        shard = bisect_right(self._ends, start)
        while done < count:
            skip = start + done - (self._ends[shard] - self._shards[shard][1]["tokens"])
            piece = self._map(shard, "tokens")[skip : skip + count - done]
            tokens[done : done + len(piece)] = piece
            done += len(piece)
            shard += 1
        return tokens

    def read_documents(self) -> NDArray[np.void]:
        """Return the table of all documents, see `baselines.lm.token_shards.DOCUMENT`; ``start`` counts from
        the corpus's first token.

        Raises:
            OutputError: if a shard is missing or damaged.
        """
        tables = [np.zeros(0, ARRAYS["documents"])]
        for index, (_, shard) in enumerate(self._shards):
            table = np.array(self._load(index, "documents"))
            table["start"] += self._ends[index] - shard["tokens"]
            tables.append(table)
        return np.concatenate(tables)

    def read_tokenizer(self) -> Tokenizer:
        """Return the tokenizer.

        Raises:
            OutputError: if its file isn't the one that made the tokens.
        """
        tokenizer = read_tokenizer(self._model)
        if tokenizer.sha256 != self.tokenizer["sha256"]:
            raise OutputError(f"{self._model} isn't the tokenizer of these tokens; prepare them again")
        return tokenizer
