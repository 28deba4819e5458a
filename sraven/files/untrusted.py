"""Readers of untrusted input: files without links, YAML without tags, Parquet in another process."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from errno import EFBIG, EINVAL, EISDIR
from math import isfinite, prod
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray

from sraven.core.errors import BusyError, SubmissionError
from sraven.core.escape import escape, quoted
from sraven.core.roles import TEXT, Column
from sraven.files import decode
from sraven.files.files import read_bounded
from sraven.files.yaml_loader import SafeLoader

_PATIENCE = 600.0
"""Seconds after which the machine, and not a file, is at fault."""

_DEEPEST = 20
_MOST_EVENTS = 20_000  # PyYAML reads as many a second, twice over


class _BeyondJSONError(ValueError):
    """What YAML allows, and a submission doesn't."""

    def __init__(self, problem: str, mark: Any) -> None:
        super().__init__(f"line {mark.line + 1}: {problem}")


class _Loader(SafeLoader):
    """Makes what JSON has: texts, numbers of 64 bits, truth values, nothing, lists and mappings.

    YAML 1.1 sees much more in plain text: dates, octal, hexadecimal and base-60 numbers, ``no``.
    """

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Return a mapping, if its names are texts and none stands there twice."""
        seen = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.tag != "tag:yaml.org,2002:str":
                raise _BeyondJSONError("has a name that is no text; put it in quotes", key.start_mark)
            if key.value in seen:
                raise _BeyondJSONError(f"has {quoted(key.value)} twice", key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep)


_PLAIN = {
    "null": ("~n\0", r"~|null|"),
    "bool": ("tf", r"true|false"),
    "int": ("-0123456789", r"-?(?:0|[1-9]\d{0,18})"),
    "float": ("-0123456789", r"-?\d{1,20}(?:\.\d{0,40})?(?:[eE][-+]?\d{1,3})?"),
}
"""For what is no text: the characters that it begins with, and its form."""

_Loader.yaml_implicit_resolvers = {}


def _make_float(loader: _Loader, node: yaml.ScalarNode) -> float:
    value = float(loader.construct_scalar(node))
    if not isfinite(value):
        raise yaml.constructor.ConstructorError(None, None, "a number beyond 1.8e308", node.start_mark)
    return value


_Loader.add_constructor("tag:yaml.org,2002:float", _make_float)


class _Dumper(yaml.SafeDumper):
    """Puts a text into quotes if our reading or that of YAML 1.1 would take it for something else."""


for _name, (_firsts, _form) in _PLAIN.items():
    _starts = [first.replace("\0", "") for first in _firsts]
    for _reader_or_writer in (_Loader, _Dumper):
        _reader_or_writer.add_implicit_resolver(
            f"tag:yaml.org,2002:{_name}", re.compile(rf"(?:{_form})\Z"), _starts
        )


_BREAKS = re.compile("[\x85\u2028\u2029]")


def _represent_text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    """Escape the breaks of lines that plain and single-quoted texts would be read back without."""
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"' if _BREAKS.search(text) else None)


_Dumper.add_representer(str, _represent_text)


def dump_yaml(value: Any) -> str:
    """Return JSON values as YAML that `parse_yaml` reads back."""
    return str(yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True))


def _refuse(where: str, problem: str) -> SubmissionError:
    return SubmissionError(f"{escape(where, 300)}: {problem}")


def list_files(folder: Path, most: int) -> list[str]:
    """Return the files below a directory, ascending, with slashes.

    Raises:
        SubmissionError: for a link, anything that is no plain file, or more than ``most`` of them.
    """
    if folder.is_symlink() or not folder.is_dir():
        raise _refuse(str(folder), "is not a directory (links aren't followed)")
    found: list[str] = []
    pending = [""]
    while pending:
        prefix = pending.pop()
        with os.scandir(folder / prefix) as entries:
            for entry in entries:
                name = prefix + entry.name
                if entry.is_dir(follow_symlinks=False):
                    pending.append(name + "/")
                elif not entry.is_file(follow_symlinks=False):
                    raise _refuse(escape(name), "is a link or no plain file; a submission has plain files")
                else:
                    found.append(name)
                if len(found) + len(pending) > most:
                    raise _refuse(str(folder), f"has more than {most} files; a submission has fewer")
    return sorted(found)


def read_file(folder: Path, name: str, most: int) -> bytes:
    """Return a file's bytes, read once: what is checked is what is used.

    Raises:
        SubmissionError: if it is missing, a link, no plain file, or larger than ``most`` bytes.
    """
    try:
        return read_bounded(folder / name, most, follow_links=False)
    except OSError as error:
        if error.errno == EFBIG:
            size = os.path.getsize(folder / name)
            raise _refuse(name, f"has {size:,} bytes; expected {most:,} or fewer") from None
        if error.errno in (EINVAL, EISDIR):
            raise _refuse(name, "is no plain file") from None
        raise _refuse(name, f"can't be read: {error.strerror}") from None


def _check_events(text: str) -> None:
    """Refuse what YAML has beyond JSON: tags, anchors, aliases, several documents; and deep nesting."""
    depth, documents = 0, 0
    for number, event in enumerate(yaml.parse(text, Loader=_Loader)):
        documents += isinstance(event, yaml.DocumentStartEvent)
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        tag = getattr(event, "tag", None)
        for is_wrong, problem in (
            (number >= _MOST_EVENTS, f"has more than {_MOST_EVENTS:,} names and values"),
            (documents > 1, "begins a second document; expected one"),
            (tag is not None, f"has the tag {quoted(tag)}; tags aren't allowed"),
            (getattr(event, "anchor", None) is not None, "has an anchor or alias; write the value out"),
            (depth > _DEEPEST, f"is nested deeper than {_DEEPEST}"),
        ):
            if is_wrong:
                raise _BeyondJSONError(problem, event.start_mark)


def parse_yaml(data: bytes, where: str) -> Any:
    """Return what a YAML file holds, of the part of YAML that JSON has.

    Args:
        data: the file.
        where: what to call it in an error.

    Raises:
        SubmissionError: if it can't be read, or uses tags, anchors, aliases or a name twice.
    """
    try:
        text = data.decode()
        _check_events(text)
        return yaml.load(text, Loader=_Loader)  # noqa: S506  # a safe loader, and checked before
    except _BeyondJSONError as fault:
        raise _refuse(where, str(fault)) from None
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f"line {mark.line + 1}: " if mark else ""
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise _refuse(where, f"{line}isn't YAML in UTF-8 ({escape(str(problem))})") from None


def most_bytes(rows: int, column: Column) -> int:
    """Return how many bytes a file of predictions may have: twice what they take, or as much for texts."""
    if column.dtype == TEXT:
        return (1 << 20) + 16 * rows + decode.MOST_REPLIES
    row = 8 + np.dtype(column.dtype).itemsize * max(1, prod(column.shape))
    return (1 << 20) + 2 * rows * row


Decoded = tuple[NDArray[np.int64], NDArray[Any] | list[str]]
"""Indices int64 ``[n]``, and the predictions ``[n, ...]``; or n texts, where they are such."""

INDEX = Column("index", "int64", (), "index of the instance in its split")
"""The first column of a file of predictions; the second is ``prediction``."""


def decode_predictions(
    files: Mapping[str, tuple[bytes, int]], column: Column, **options: Any
) -> dict[str, Decoded]:
    """Return the indices and the predictions in Parquet files, by name, as `decode_apart` does.

    Args:
        files: by name, their bytes and how many rows they may have.
        column: the column ``prediction``.
        options: of `decode_apart`.
    """
    found = decode_apart(files, [INDEX, column], **options)
    return {name: (index, predictions) for name, (index, predictions) in found.items()}


def decode_apart(
    files: Mapping[str, tuple[bytes, int]],
    columns: Sequence[Column],
    *,
    bare: bool = False,
    program: str | Path = decode.__file__,
    seconds: float = _PATIENCE,
) -> dict[str, list[Any]]:
    """Decode Parquet files in another process, with bounded memory and processor time.

    How long that takes beside other work says nothing of a file.

    Args:
        files: by name, their bytes and how many rows they may have.
        columns: those that each of them has; the first has a number in each row.
        bare: whether their schemas may have no metadata.
        program: what decodes.
        seconds: after which it is given up, whoever is at work.

    Returns:
        by name, what is in each column: an array ``[n, ...]``, or n texts.

    Raises:
        SubmissionError: for the first that isn't such a file.
        BusyError: if the process doesn't start, doesn't end or is killed.
    """
    wanted = [(each.name, each.dtype, prod(each.shape) if each.shape else 0) for each in columns]
    shared = {"columns": wanted, "bare": bare}
    command = (sys.executable, "-I", str(program))
    try:
        process = subprocess.Popen(  # noqa: S603  # our own script; untrusted files are its input
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
    except OSError as error:
        raise BusyError(f"no process to decode Parquet files starts: {error.strerror}") from None
    with process:
        clock = threading.Timer(seconds, process.kill)
        clock.start()
        try:
            found = {}
            for name, (data, rows) in files.items():
                request = json.dumps({**shared, "bytes": len(data), "rows": rows}).encode() + b"\n"
                found[name] = _decode_next(process, name, (request, data), rows, columns)
            return found
        except SubmissionError:
            process.stdin.close()  # type: ignore[union-attr]  # it ends if it hasn't yet
            with suppress(subprocess.TimeoutExpired):
                process.wait(1)
            # Too much processor time ends it by another signal, and too much memory by an error.
            if process.returncode != -signal.SIGKILL:
                raise
            raise BusyError(
                f"decoding Parquet files was killed, or got no {decode.SECONDS} s of processor time in "
                f"{seconds:g} s: the machine is too busy to tell whether they are right; try again"
            ) from None
        finally:
            clock.cancel()
            process.kill()


def _decode_next(
    process: subprocess.Popen[bytes], name: str, pieces: Sequence[bytes], rows: int, columns: Sequence[Column]
) -> list[Any]:
    """Send the pieces of a request to the decoder, and return what is in its file.

    One file at a time, so that none is in memory twice.

    Raises:
        SubmissionError: if it isn't such a file.
    """
    stdin, stdout = process.stdin, process.stdout
    assert stdin is not None and stdout is not None
    failed = _refuse(name, "makes the Parquet decoder fail (memory, time or a crash)")
    try:
        for piece in pieces:
            left = memoryview(piece)
            while left:
                left = left[os.write(stdin.fileno(), left) :]
    except OSError:  # it has ended
        raise failed from None
    line = stdout.readline(4096)
    if not line.endswith(b"\n"):
        raise failed
    header = json.loads(line)
    if "error" in header:
        raise _refuse(name, escape(header["error"], 300))
    count = header["rows"]
    if not 0 <= count <= rows:
        raise failed

    def read(shape: tuple[int, ...], dtype: str) -> NDArray[Any]:
        array = np.empty(shape, dtype)
        if stdout.readinto(array.reshape(-1).view(np.uint8).data) < array.nbytes:  # type: ignore[attr-defined]
            raise failed
        return array

    def read_texts() -> list[str]:
        ends = np.cumsum(read((count,), "int64")).tolist()
        total = ends[-1] if ends else 0
        if not 0 <= total <= decode.MOST_REPLIES:
            raise failed
        texts = read((total,), "uint8").tobytes()
        try:
            return [texts[start:end].decode() for start, end in zip([0, *ends], ends, strict=False)]
        except UnicodeDecodeError:
            raise failed from None

    return [
        read_texts() if each.dtype == TEXT else read((count, *each.shape), each.dtype) for each in columns
    ]
