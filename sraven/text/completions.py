"""Files of completions, read a line at a time and scored: JSON Lines with an id and a completion each."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple, dataclass, replace
from operator import add
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sraven.core.base.errors import ConfigurationError
from sraven.core.base.escape import quoted
from sraven.core.base.estimate import Mean
from sraven.core.untrusted.strict_json import parse_json
from sraven.text.grading import Grades, share
from sraven.text.ids import find_question
from sraven.text.questions import MOST_QUESTIONS, PART, Questions

LONGEST_LINE = 1 << 24
"""Bytes of a line at most: far more than any model says."""

MOST_PENDING = 1 << 26
"""Characters of completions that are kept until they are graded."""

MOST_SETS = 64
"""Sets of questions that a file may answer; they may have `MOST_QUESTIONS` in all."""

SPARSE = 100
"""Questions for each reply at most, in a set of more than `PART`: a ceiling is computed over all of them."""

UNREAD_SHOWN, UNREAD_LETTERS = 3, 80
"""How many replies are kept that even the lenient reading doesn't understand, and how much of their ends."""

OnGraded = Callable[[Sequence[str], Grades, Grades], None]
"""Is called with ids, and with the verdicts on their replies by the strict and by the lenient reading."""


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


def _read_usage(value: dict[str, Any]) -> Usage:
    """Return what a line says of its reply; what is no number there is left alone, like all else."""
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
        line: the number, from 1.
        question: the id of the question.
        text: what the model said; None if there is nothing, as after a request that failed.
        usage: what it took.
    """

    where: str
    line: int
    question: str
    text: str | None
    usage: Usage


@dataclass(frozen=True)
class Shares:
    """Verdicts by one reading, as shares of all questions: see `Score`."""

    target: Mean
    valid: Mean
    unparsed: Mean


@dataclass(frozen=True)
class Unread:
    """A reply in which even the lenient reading finds no answer: whose, why, and its end."""

    id: str
    reason: str
    end: str


@dataclass(frozen=True)
class Score:
    """The scores of the completions of a set of questions, over all of them; replies are read strictly.

    Attributes:
        questions: name of the set.
        form: how they were asked.
        n: number of questions.
        missing: how many have no completion; they count as wrong.
        first_missing: the id of the first of them, or None.
        target: share that is answered with the target.
        valid: share that is answered with a valid panel.
        unparsed: share whose completion gives no answer; they count as wrong.
        ceiling: the best expected ``target`` of anyone, if it is known; it is, for the form `told`.
        chance: what guessing all numbers scores.
        lenient: the same three shares where replies are read as a person would (`sraven.text.lenient`).
        reasons: why that reading finds no answer, and in how many replies.
        unread: some of these.
        usage: tokens and cost of the replies.
    """

    questions: str
    form: str
    n: int
    missing: int
    first_missing: str | None
    target: Mean
    valid: Mean
    unparsed: Mean
    ceiling: Mean | None
    chance: float
    lenient: Shares
    reasons: dict[str, int]
    unread: tuple[Unread, ...]
    usage: Usage


def _read_line(where: str, data: bytes, name: str) -> tuple[str, str | None, Usage]:
    try:
        value = parse_json(data)
    except ValueError as error:
        raise ConfigurationError(f"{where} is no JSON that can be read: {error}") from None
    if not isinstance(value, dict) or not {"id", name} <= value.keys():
        raise ConfigurationError(f'{where}: expected an object with "id" and "{name}"')
    question, text = value["id"], value[name]
    if not isinstance(question, str) or not isinstance(text, str | None):
        wrong = question if not isinstance(question, str) else text
        raise ConfigurationError(f"{where}: {quoted(wrong)} is no text; a {name} may be null")
    return question, text, _read_usage(value)


def read_completions(path: Path, name: str = "completion") -> Iterator[Completion]:
    """Yield the completions of a file, a line at a time; empty lines are passed over.

    A line is ``{"id": …, "completion": …}``, the id as `sraven text generate` gave it. It may say what the
    reply took: ``"usage": {"input_tokens": …, "output_tokens": …}`` (``prompt_tokens`` and
    ``completion_tokens`` are the same), and ``cost`` in US dollars. Whatever else is in it isn't read.

    Args:
        path: the file.
        name: of the field to read; ``prompt`` reads a file of prompts in the same way.

    Raises:
        ConfigurationError: at the first line that is no such object, or is longer than `LONGEST_LINE`.
    """
    with open(path, "rb") as file:
        number = 0
        while data := file.readline(LONGEST_LINE + 1):
            number += 1
            where = f"{path}, line {number:,}"
            if len(data) > LONGEST_LINE:
                raise ConfigurationError(f"{where} is longer than {LONGEST_LINE:,} bytes")
            if data.strip():
                yield Completion(where, number, *_read_line(where, data, name))


class _Sheet:
    """What is known of a set of questions while its completions come in."""

    def __init__(self, questions: Questions) -> None:
        self.questions = questions
        self.lines = np.zeros(questions.count, np.int64)
        self.verdicts = np.zeros((2, 3, questions.count), np.bool_)  # strict, lenient; parsed, target, valid
        self.indices: list[int] = []
        self.replies: list[str | None] = []
        self.reasons: Counter[str] = Counter()
        self.unread: list[Unread] = []
        self.usage = Usage()

    def add(self, completion: Completion, index: int) -> None:
        if self.lines[index]:
            raise ConfigurationError(
                f"{completion.where}: a second completion of {completion.question}; the first is in line "
                f"{self.lines[index]:,}"
            )
        self.lines[index] = completion.line
        self.indices.append(index)
        self.replies.append(completion.text)
        self.usage += completion.usage

    def flush(self, threads: int | None, on_graded: OnGraded | None) -> None:
        if not self.indices:
            return
        strict, lenient = self.questions.grade_both(self.indices, self.replies, threads)
        for number, grades in enumerate((strict, lenient)):
            self.verdicts[number][:, self.indices] = grades.parsed, grades.target, grades.valid
        for row in np.flatnonzero(~lenient.parsed):
            self._note_unread(self.indices[row], self.replies[row])
        if on_graded is not None:
            on_graded([self.questions.id_of(index) for index in self.indices], strict, lenient)
        self.indices, self.replies = [], []

    def _note_unread(self, index: int, reply: str | None) -> None:
        reason = self.questions.read(reply).reason
        self.reasons[reason] += 1
        if reply and len(self.unread) < UNREAD_SHOWN:
            self.unread.append(Unread(self.questions.id_of(index), reason, reply[-UNREAD_LETTERS:]))

    def score(self, threads: int | None) -> Score:
        asked, replied = self.questions, self.lines > 0
        strict, lenient = (
            Shares(share(target), share(valid), share(replied & ~parsed))
            for parsed, target, valid in self.verdicts
        )
        missing = np.flatnonzero(self.lines == 0)
        replies = asked.count - len(missing)
        if asked.count > max(PART, SPARSE * replies):
            raise ConfigurationError(
                f"{asked.name}: {replies:,} of {asked.count:,} questions have a completion; expected 1 of "
                f"{SPARSE} at least; ask for fewer questions, -n {PART}"
            )
        return Score(
            questions=asked.name,
            form=asked.form,
            n=asked.count,
            missing=len(missing),
            first_missing=asked.id_of(int(missing[0])) if len(missing) else None,
            **vars(strict),
            ceiling=asked.ceiling(threads),
            chance=asked.chance,
            lenient=lenient,
            reasons=dict(self.reasons.most_common()),
            unread=tuple(self.unread),
            usage=self.usage,
        )


class Sheets:
    """The sets of questions that completions belong to, by name, each made when the first one comes."""

    def __init__(self) -> None:
        self._sheets: dict[str, _Sheet] = {}

    def add(self, completion: Completion) -> _Sheet:
        """Note a completion.

        Raises:
            ConfigurationError: if its question isn't known, or has one.
        """
        try:
            questions, index = find_question(completion.question)
        except ConfigurationError as error:
            raise ConfigurationError(f"{completion.where}: {error}") from None
        sheet = self._sheets.get(questions.name)
        if sheet is None:
            asked = questions.count + sum(each.questions.count for each in self)
            if len(self._sheets) == MOST_SETS or asked > MOST_QUESTIONS:
                raise ConfigurationError(
                    f"{completion.where}: expected {MOST_SETS} sets of questions, and {MOST_QUESTIONS:,} "
                    "questions, at most; score others apart"
                )
            sheet = self._sheets[questions.name] = _Sheet(questions)
        sheet.add(completion, index)
        return sheet

    def flush(self, threads: int | None, on_graded: OnGraded | None) -> None:
        """Grade what has come in since."""
        for sheet in self:
            sheet.flush(threads, on_graded)

    def __iter__(self) -> Iterator[_Sheet]:
        """Yield the sets in the order in which they came."""
        return iter(self._sheets.values())


def score_completions(
    path: Path, *, threads: int | None = None, on_graded: OnGraded | None = None
) -> list[Score]:
    """Score a file of completions: each set of questions that it answers, in the order of the file.

    The file is read once, and memory doesn't grow with it but for some bytes a question.

    Args:
        path: JSON Lines, as `read_completions` takes them.
        threads: threads to use; None for all available ones.
        on_graded: is called with ids and their verdicts, part by part; see `OnGraded`.

    Raises:
        ConfigurationError: at the first line that can't be read, whose question isn't known, or has a
            completion already; or if there is no line.
    """
    sheets, pending = Sheets(), 0
    for completion in read_completions(path):
        sheet = sheets.add(completion)
        pending += len(completion.text or "")
        if len(sheet.indices) == PART or pending > MOST_PENDING:
            sheets.flush(threads, on_graded)
            pending = 0
    sheets.flush(threads, on_graded)
    if not (scores := [sheet.score(threads) for sheet in sheets]):
        raise ConfigurationError(f"{path} has no completions")
    return scores


def answered(path: Path, questions: Questions) -> NDArray[np.bool_]:
    """Return which of the questions have a completion in a file: bool ``[count]``; others may be there, too.

    Raises:
        ConfigurationError: as `score_completions`.
    """
    sheets, found = Sheets(), np.zeros(questions.count, np.bool_)
    for completion in read_completions(path):
        sheet = sheets.add(completion)
        sheet.indices, sheet.replies = [], []
    for sheet in sheets:
        if sheet.questions == questions:
            found = sheet.lines > 0
    return found
