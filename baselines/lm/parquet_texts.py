"""Reads the texts of a Parquet file, in a process of its own with bounded memory.

A file of 300 bytes may declare pages of gigabytes: whatever it does to the reader, it does to a process
that holds nothing. Run as a script, with a path, how long a text may be, and how many bytes of address
space it may take. Standard output is a line of JSON, ``{}`` or ``{"columns": "..."}`` if there is no column
``text`` of strings, and then a frame for each row: its length (little-endian int64) and its bytes, those of
a text that is too long cut after one too many. Other frames have no bytes: `MISSING` for a row without
text, `END`, and an error of the disk, `DISK` less its number. Without an end, the file is damaged from
there on.
"""

import os
import resource
import struct
import sys
from collections.abc import Iterator

FRAME = struct.Struct("<q")

MISSING, END, DISK = -1, -2, -1000
"""Lengths of frames that are no texts."""

_ROWS = 64


def _frames(path: str, longest: int) -> Iterator[bytes | memoryview]:
    import json

    import pyarrow as pa
    import pyarrow.parquet as pq

    # Without a buffer in advance, memory is that of pages, not of row groups.
    with pq.ParquetFile(path, pre_buffer=False, buffer_size=1 << 20) as file:
        schema = file.schema_arrow
        kind = schema.field("text").type if schema.names.count("text") == 1 else None
        if kind not in (pa.string(), pa.large_string()):
            columns = ", ".join(f"{field.name} ({field.type})" for field in list(schema)[:20])
            yield json.dumps({"columns": columns[:1000] or "none"}).encode() + b"\n"
            return
        yield b"{}\n"
        for batch in file.iter_batches(_ROWS, columns=["text"], use_threads=False):
            # As bytes: what says it is UTF-8 may not be.
            for text in batch.column(0).cast(pa.large_binary()):
                if not text.is_valid:
                    yield FRAME.pack(MISSING)
                    continue
                data = memoryview(text.as_buffer())[: longest + 1]
                yield FRAME.pack(len(data))
                yield data
    yield FRAME.pack(END)


def main(path: str, longest: str, memory: str) -> None:
    """Write the texts of a file to standard output."""
    os.environ["ARROW_DEFAULT_MEMORY_POOL"] = "system"
    for library in ("OPENBLAS", "OMP", "MKL"):  # else each processor takes its share of the memory
        os.environ[f"{library}_NUM_THREADS"] = "1"
    for kind, most in ((resource.RLIMIT_AS, int(memory)), (resource.RLIMIT_CORE, 0)):
        try:
            _, hard = resource.getrlimit(kind)
            resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
        except (OSError, ValueError):  # a system without this limit
            pass
    out = sys.stdout.buffer
    try:
        for piece in _frames(path, int(longest)):
            out.write(piece)
        out.flush()
    except BrokenPipeError:  # nobody reads any more
        os._exit(0)
    except OSError as error:
        if error.errno is not None:  # the disk's fault, not the file's
            out.write(FRAME.pack(DISK - error.errno))
            out.flush()
    except Exception:  # the reader's errors are many, all mean the same
        out.flush()
        sys.exit(1)


if __name__ == "__main__":
    main(*sys.argv[1:])
