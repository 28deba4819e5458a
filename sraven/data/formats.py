"""The formats of a dataset's files."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq


def _parquet_writer(path: Any, schema: pa.Schema) -> AbstractContextManager[Any]:
    # Uniform floats have no repeats for a dictionary to find: split into streams of bytes, they
    # take a tenth less room and time.
    leaves = {
        f"{field.name}.list.element" if pa.types.is_fixed_size_list(field.type) else field.name: field.type
        for field in schema
    }
    floats = [
        name for name, kind in leaves.items() if pa.types.is_floating(getattr(kind, "value_type", kind))
    ]
    writer: AbstractContextManager[Any] = pq.ParquetWriter(
        path,
        schema,
        compression="zstd",
        write_page_index=True,
        use_content_defined_chunking=True,
        use_dictionary=[name for name in leaves if name not in floats],
        column_encoding=dict.fromkeys(floats, "BYTE_STREAM_SPLIT") or None,
    )
    return writer


FORMATS: dict[str, Callable[[Any, pa.Schema], AbstractContextManager[Any]]] = {
    "parquet": _parquet_writer,
    "arrow": pa.ipc.new_stream,
}
"""File formats: what opens a writer to a path or to something with ``write``. The name is also the
suffix. Arrow files are streams, which
``datasets.Dataset.from_file`` maps into memory without a copy."""
