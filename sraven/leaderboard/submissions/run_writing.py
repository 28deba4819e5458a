"""The runs of a submission, checked and written: predictions as Parquet."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import ArrayLike

from sraven.board.board import Board
from sraven.core.arguments import check_integer
from sraven.core.errors import ConfigurationError
from sraven.core.spec import SEED_LIMIT
from sraven.files.files import sha256_of_file
from sraven.files.table import to_table
from sraven.files.untrusted import INDEX


def _by_seed(split: str, predictions: Any) -> dict[int, ArrayLike]:
    """Return the predictions of a split by seed; a list counts the seeds from 0."""
    if not isinstance(predictions, Mapping | Iterable):
        raise ConfigurationError(f"predictions of {split} is {predictions!r}; expected an array of each seed")
    items = predictions.items() if isinstance(predictions, Mapping) else enumerate(predictions)
    return {check_integer("a seed", seed, 0, SEED_LIMIT): array for seed, array in items}


def checked_runs(board: Board, predictions: Any) -> dict[tuple[str, int], Any]:
    """Return the predictions of all runs, by split and seed, as arrays of the board's type or lists of texts.

    Raises:
        ConfigurationError: for the first that can't be submitted.
    """
    if not isinstance(predictions, Mapping):
        raise ConfigurationError("predictions has no names; expected {split: [array of each seed]}")
    return {
        (split, seed): board.checked_predictions(split, array)
        for split, arrays in predictions.items()
        for seed, array in sorted(_by_seed(split, arrays).items())
    }


def write_run(board: Board, path: Path, predictions: Any) -> str:
    """Write the predictions of a run, an array or a list of texts; return the file's SHA-256."""
    path.parent.mkdir(parents=True, exist_ok=True)
    column, index = board.prediction, np.arange(len(predictions))
    encoding, dictionary = {"index": "DELTA_BINARY_PACKED"}, list[str]()
    if board.is_text:
        table = pa.table({"index": index, "prediction": pa.array(predictions, pa.string())})
    else:
        table = to_table({"index": index, "prediction": predictions}, [INDEX, column])
        leaf = f"{column.name}.list.element" if column.shape else column.name
        if predictions.dtype.kind == "f":
            encoding[leaf] = "BYTE_STREAM_SPLIT"
        else:
            dictionary = [leaf]
    pq.write_table(table, path, compression="zstd", use_dictionary=dictionary, column_encoding=encoding)
    return sha256_of_file(path)
