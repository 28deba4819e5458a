"""Latent codes as Parquet: a row for each layer, instance and query position; a file for network and pair.

A file appears whole or not at all. It says what its codes are made of.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from baselines.analysis.codes import Codes
from sraven.core.spec import canonical_json
from sraven.files.files import replacing

METADATA = b"sraven.codes"

_LABEL = "label."


def write_codes(path: Path, found: Mapping[str, Codes], plan: Mapping[str, Any]) -> None:
    """Write the codes of all parts of a pair, in place of what was there.

    Columns: ``part``, ``layer`` (from 1), ``index``, ``position``, ``code`` (a list of C float32),
    ``label.NAME`` for each label, ``combination``, ``target``, ``prediction``, ``output`` (O float32).

    Args:
        path: the file.
        found: codes by part.
        plan: what they are made of, as JSON values.
    """
    tables = [_table(part, layer, codes) for part, codes in found.items() for layer in range(codes.layers)]
    table = pa.concat_tables(tables).replace_schema_metadata(
        {METADATA: canonical_json({"plan": plan}).encode()}
    )
    with replacing(path) as temporary:
        pq.write_table(table, temporary, compression="zstd")


def _table(part: str, layer: int, codes: Codes) -> pa.Table:
    """Return a layer's codes of a part as a table."""
    n = len(codes.index)
    columns: dict[str, Any] = {
        "part": pa.array([part] * n).dictionary_encode(),
        "layer": np.full(n, layer + 1, np.int32),
        "index": codes.index,
        "position": codes.position,
        "code": _lists(codes.codes[layer]),
        **{f"{_LABEL}{name}": values for name, values in codes.labels.items()},
        "combination": codes.combination,
        "target": codes.target,
        "prediction": codes.prediction,
        "output": _lists(codes.output),
    }
    return pa.table({name: pa.array(column) for name, column in columns.items()})


def _lists(rows: Any) -> pa.Array:
    flat = pa.array(np.ascontiguousarray(rows).reshape(-1))
    return pa.FixedSizeListArray.from_arrays(flat, rows.shape[1])
