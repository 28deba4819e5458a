"""Reads the texts of a Parquet file, in a process of its own with bounded memory.

A file of 300 bytes may declare pages of gigabytes: whatever it does to the reader, it does to a process
that holds nothing. Run as a script, with a path, how long a text may be, and how many bytes of address
space it may take. Standard output is frames: a length (little-endian int64) and as many bytes. The first
names the columns if none of them is ``text`` of strings, and has no bytes otherwise. Then each row is one: a
text that is too long is cut after one byte too many, and a row without text has the length `MISSING`. The
exit status is 0 at the file's end, `DISK` plus its number for an error of the disk, and anything else if the
file is damaged from there on.
"""

import os
import resource
import struct
import sys
from collections.abc import Iterator

FRAME = struct.Struct("<q")

MISSING = -1
"""Length of the frame of a row without text."""

DISK = 100
"""What is added to the number of an error of the disk."""

_ROWS = 64


def _texts(path: str, longest: int) -> Iterator[bytes | memoryview | None]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    # Without a buffer in advance, memory is that of pages, not of row groups.
    with pq.ParquetFile(path, pre_buffer=False, buffer_size=1 << 20) as file:
        schema = file.schema_arrow
        kind = schema.field("text").type if schema.names.count("text") == 1 else None
        if kind not in (pa.string(), pa.large_string()):
            columns = ", ".join(f"{field.name} ({field.type})" for field in list(schema)[:20])
            yield columns[:1000].encode() or b"none"
            return
        yield b""
        for batch in file.iter_batches(_ROWS, columns=["text"], use_threads=False):
            # As bytes: what says it is UTF-8 may not be.
            for text in batch.column(0).cast(pa.large_binary()):
                yield memoryview(text.as_buffer())[: longest + 1] if text.is_valid else None


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
        for text in _texts(path, int(longest)):
            out.write(FRAME.pack(MISSING if text is None else len(text)))
            out.write(text or b"")
        out.flush()
    except BrokenPipeError:  # nobody reads any more
        os._exit(0)
    except Exception as error:  # the reader's are many, all mean the same; but a number is the disk's
        out.flush()
        sys.exit(DISK + error.errno if isinstance(error, OSError) and error.errno else 1)


if __name__ == "__main__":
    main(*sys.argv[1:])
