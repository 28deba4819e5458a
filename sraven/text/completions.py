"""Files of completions, read a line at a time: JSON Lines with an id and a completion each."""

import codecs
import gzip
import zlib
from collections.abc import Iterator
from dataclasses import astuple, dataclass, replace
from operator import add
from pathlib import Path
from typing import Any, BinaryIO, Self

from sraven.core.errors import ConfigurationError
from sraven.core.escape import quoted
from sraven.files.files import open_plain
from sraven.files.strict_json import parse_json
from sraven.text.apis import CUT, DECLINED, EMPTY, REASONING, join_parts
from sraven.text.batches import as_completion
from sraven.text.masking import map_texts, without_halves
from sraven.text.questions import Questions, find_question
from sraven.text.replies import CUT_OFF, NO_REPLY, REFUSED, in_thought

LONGEST_LINE = 1 << 24
"""Bytes of a line at most: far more than any model says."""

_INPUT, _OUTPUT = ("input_tokens", "prompt_tokens"), ("output_tokens", "completion_tokens")
"""What the number of tokens is called, by one interface and by another."""

_MOST_TOKENS, _MOST_COST = 1 << 40, 1e9


@dataclass(frozen=True)
class Usage:
    """Tokens and cost of replies, summed over the lines that state them.

    Attributes:
        replies: their number.
        with_tokens: how many say their tokens.
        input_tokens: of the prompts.
        output_tokens: of the replies, thoughts included.
        with_cost: how many say what they cost.
        cost_usd: in US dollars.
    """

    replies: int = 0
    with_tokens: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    with_cost: int = 0
    cost_usd: float = 0.0

    def __add__(self, other: Self) -> Self:
        return type(self)(*map(add, astuple(self), astuple(other)))


def read_usage(value: dict[str, Any]) -> Usage:
    """Return what a line says that its reply took; what is no number there is left alone, like all else."""
    found = value.get("usage")
    stated = found if isinstance(found, dict) else {}
    counts = [next((stated[name] for name in names if name in stated), None) for names in (_INPUT, _OUTPUT)]
    tokens = [count for count in counts if type(count) is int and 0 <= count < _MOST_TOKENS]
    usage = Usage(replies=1)
    if len(tokens) == 2:
        usage = replace(usage, with_tokens=1, input_tokens=tokens[0], output_tokens=tokens[1])
    cost = value.get("cost")
    if isinstance(cost, int | float) and not isinstance(cost, bool) and 0 <= cost < _MOST_COST:
        usage = replace(usage, with_cost=1, cost_usd=float(cost))
    return usage


@dataclass(frozen=True)
class Completion:
    """A line of a file.

    Attributes:
        where: the file and the number of the line, for errors.
        question: the id of the question.
        text: what the model said; None if the request failed.
        usage: what it took.
        fault: why it can't be expected to answer: `NO_REPLY`, `CUT_OFF`, `REFUSED` or `EMPTY`; empty if
            nothing is known.
        said: all that the line says.
        is_mended: whether it had halves of characters, for which U+FFFD stands now.
    """

    where: str
    question: str
    text: str | None
    usage: Usage
    fault: str
    said: dict[str, Any]
    is_mended: bool = False

    def find(self) -> tuple[Questions, int]:
        """Return the questions that it is of, and the index of its own.

        Raises:
            ConfigurationError: if its id is none of a question.
        """
        try:
            return find_question(self.question)
        except ConfigurationError as error:
            raise ConfigurationError(f"{self.where}: {error}") from None


def _fault(said: dict[str, Any], text: str | None) -> str:
    stated = (said.get(name) for name in ("finish_reason", "stop_reason"))
    finishes = {each.lower() for each in stated if isinstance(each, str)}
    if said.get("refusal") or finishes & DECLINED:
        return REFUSED
    if finishes & CUT:
        return CUT_OFF
    if not text and any(said.get(name) for name in REASONING):
        return EMPTY
    return NO_REPLY if text is None else ""


def _read_line(where: str, data: bytes) -> Completion:
    try:
        stated = parse_json(data)
    except ValueError as error:
        raise ConfigurationError(f"{where} is no JSON that can be read: {error}") from None
    stated = as_completion(stated) if isinstance(stated, dict) else stated
    value = map_texts(stated, without_halves)
    if not isinstance(value, dict) or not {"id", "completion"} <= value.keys():
        raise ConfigurationError(f'{where}: expected an object with "id" and "completion"')
    question, text = value["id"], join_parts(value["completion"])
    wrong = question if not isinstance(question, str) else value["completion"] if text is None else None
    if wrong is not None:
        raise ConfigurationError(f"{where}: {quoted(wrong)} is no text; a completion may be null")
    fault, refusal = _fault(value, text), value.get("refusal")
    if text is None and fault in (CUT_OFF, REFUSED):  # it said nothing, or this
        text = refusal if isinstance(refusal, str) else ""
    if text and fault == CUT_OFF and in_thought(text):
        text = ""  # an answer within a thought is none that was given
    usage, is_mended = read_usage(value), value["completion"] != stated["completion"]
    return Completion(where, question, text, usage, fault, value, is_mended)


def _read_bytes(lines: BinaryIO | gzip.GzipFile, where: str) -> bytes:
    """Return the next line; of a longer one than is allowed, a byte more than is."""
    try:
        data = lines.readline(LONGEST_LINE + 1)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ConfigurationError(f"{where}: what gzip packed is damaged: {error}") from None
    if len(data) > LONGEST_LINE:
        raise ConfigurationError(f"{where} is longer than {LONGEST_LINE:,} bytes")
    return data


def read_completions(path: Path) -> Iterator[Completion]:
    """Yield the completions of a file, a line at a time; empty lines are passed over.

    A line is ``{"id": …, "completion": …}``, the id as `sraven text generate` gave it; the completion may be
    in parts, ``[{"type": "text", "text": …}]``. It may say what the reply took: ``"usage":
    {"input_tokens": …, "output_tokens": …}`` (``prompt_tokens`` and ``completion_tokens`` are the same), and
    ``cost`` in US dollars; and why it ended: ``finish_reason`` or ``stop_reason``, and a ``refusal``. The
    outputs of batches are read, too: see `sraven.text.batches`. The file may be packed by gzip.

    Args:
        path: the file.

    Raises:
        ConfigurationError: at the first line that is no such object, or is longer than `LONGEST_LINE`.
        OSError: for what is no plain file.
    """
    with open_plain(path, follow_links=True) as file:
        is_packed = file.read(2) == b"\x1f\x8b"
        file.seek(0)
        lines, number = gzip.GzipFile(fileobj=file) if is_packed else file, 1
        while data := _read_bytes(lines, where := f"{path}, line {number:,}"):
            data = data.removeprefix(codecs.BOM_UTF8) if number == 1 else data
            if data.strip():
                yield _read_line(where, data)
            number += 1
