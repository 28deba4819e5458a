"""Scores of files of completions: of each level of a board, of all of them, and of fresh questions beside.

A question may have several replies, each a sample: its score is the share of them that are right. A line
without a reply, whose request failed, counts for nothing once there is one.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sraven.core.errors import ConfigurationError
from sraven.core.estimate import Mean
from sraven.text.completions import Completion, Usage, read_completions
from sraven.text.grading import share
from sraven.text.mixtures import Mixture, mixtures_of
from sraven.text.questions import PART, Questions
from sraven.text.replies import CUT_OFF
from sraven.text.samples import pass_at, share_right

MOST_PENDING = 1 << 26
"""Characters of completions that are kept until they are graded."""

MOST_ASKED = 1 << 20
"""Questions of all sets that a file may answer: a ceiling is computed over all of them."""

UNREAD_SHOWN, UNREAD_LETTERS = 3, 80
"""How many replies are kept that even the lenient reading doesn't understand, and how much of their ends."""

PARSED, TARGET, VALID = range(3)
"""Verdicts of a reading, as the sums of a `Sheet` number them."""


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
    """The scores of the completions of some questions, over all of them.

    Attributes:
        level: name of the level, or ``total``.
        n: number of questions.
        missing: how many have no completion; they count as wrong.
        first_missing: the id of the first of them, or None.
        accuracy: ``target`` by the reading that ranks.
        of_asked: the same over the questions that have a completion.
        of_complete: the same over the questions that have a reply which isn't cut off, and over these replies
            alone; None if there is none.
        of_cut: the same of those that are cut off.
        pass_at: pass@k by k, of the reading that ranks, if all asked questions have several replies.
        strict: shares by the strict reading: answered with the target; with a valid panel; and without an
            answer, though there is a completion. The last are wrong.
        lenient: shares by the lenient one.
        ceiling: the best expected ``target`` of anyone, if it is known; it is, where rules are told.
        chance: what guessing all numbers scores.
        floor: what copying the last panel scores on the questions that have a completion.
        reasons: why the lenient reading finds no answer, and in how many replies.
        unread: some of these.
        usage: tokens and cost of the replies.
    """

    level: str
    n: int
    missing: int
    first_missing: str | None
    accuracy: Mean
    of_asked: Mean
    of_complete: Mean | None
    of_cut: Mean | None
    pass_at: dict[int, Mean]
    strict: Shares
    lenient: Shares
    ceiling: Mean | None
    chance: float
    floor: float
    reasons: dict[str, int]
    unread: tuple[Unread, ...]
    usage: Usage


@dataclass(frozen=True)
class Scored:
    """The scores of a board's questions, or of a set of no board.

    Attributes:
        name: what was asked.
        board: id of the board, or name of the set.
        form: how it was asked, as the board calls it.
        fresh: the seed of fresh questions; None for the board's own.
        lenient: whether the lenient reading ranks.
        of_board: what ranks: the score over all levels, of which those without completions are wrong.
        levels: the scores of each level that has some.
        total: the score of these together.
    """

    name: str
    board: str
    form: str
    fresh: int | None
    lenient: bool
    of_board: float
    levels: tuple[Score, ...]
    total: Score


class Difference(NamedTuple):
    """How much better the public questions of a board are answered than fresh ones of the same mixture.

    Attributes:
        board: the board.
        form: how it was asked.
        value: the mean over levels that both have of the difference between the scores of what was asked.
        interval: in which the true one lies with 95 %.
    """

    board: str
    form: str
    value: float
    interval: tuple[float, float]


class Sheet:
    """What is known of a set of questions while its completions come in.

    Attributes:
        questions: the set.
        lines: int64 ``[count]``, the line of the first completion of each; 0 for none.
        samples: int64 ``[count]``, replies of each.
        sums: int64 ``[2, 3, count]``, how many of these are parsed, the target, valid; strictly, leniently.
        cut: int64 ``[3, count]``, replies that are cut off, and how many of them are the target; strictly,
            leniently.
    """

    def __init__(self, questions: Questions) -> None:
        self.questions = questions
        self.lines = np.zeros(questions.count, np.int64)
        self.samples = np.zeros(questions.count, np.int64)
        self.sums = np.zeros((2, 3, questions.count), np.int64)
        self.cut = np.zeros((3, questions.count), np.int64)
        self.indices: list[int] = []
        self.replies: list[Completion] = []
        self.reasons: Counter[str] = Counter()
        self.failed: dict[int, str] = {}
        self.unread: list[Unread] = []
        self.usage = Usage()

    def add(self, completion: Completion, index: int) -> None:
        """Note a completion."""
        self.lines[index] = self.lines[index] or completion.line
        self.indices.append(index)
        self.replies.append(completion)
        self.usage += completion.usage

    def flush(self, threads: int | None = None) -> None:
        """Grade what has come in since."""
        if not self.indices:
            return
        texts = [reply.text for reply in self.replies]
        both = self.questions.grade_both(self.indices, texts, threads)
        indices = np.array(self.indices)
        np.add.at(self.samples, indices, [text is not None for text in texts])
        cut = np.array([reply.fault == CUT_OFF for reply in self.replies])
        for row, counted in enumerate((cut, both[0].target & cut, both[1].target & cut)):
            np.add.at(self.cut[row], indices, counted)
        for reading, grades in enumerate(both):
            for verdict, values in enumerate((grades.parsed, grades.target, grades.valid)):
                np.add.at(self.sums[reading, verdict], indices, values)
        for row in np.flatnonzero(~both[1].parsed).tolist():
            self._note_unread(self.indices[row], self.replies[row])
        self.indices, self.replies = [], []

    def _note_unread(self, index: int, reply: Completion) -> None:
        if reply.text is None:
            self.failed[index] = reply.fault
            return
        reason = reply.fault or self.questions.read(reply.text).reason
        self.reasons[reason] += 1
        if reply.text and len(self.unread) < UNREAD_SHOWN:
            self.unread.append(Unread(self.questions.id_of(index), reason, reply.text[-UNREAD_LETTERS:]))

    def copied(self) -> NDArray[np.bool_]:
        """Return of the questions that have a completion whether their last panel is the answer."""
        return self.questions.copied(np.flatnonzero(self.lines))


def _add(completion: Completion, sheets: dict[str, Sheet]) -> Sheet:
    """Note a completion on the sheet of its set, by name, which is made when the first one comes; return it.

    Raises:
        ConfigurationError: if the question isn't known, or there would be too many.
    """
    questions, index = completion.find()
    if questions.name not in sheets:
        if questions.count + sum(each.questions.count for each in sheets.values()) > MOST_ASKED:
            raise ConfigurationError(
                f"{completion.where}: expected sets of {MOST_ASKED:,} questions at most; score others apart"
            )
        sheets[questions.name] = Sheet(questions)
    sheets[questions.name].add(completion, index)
    return sheets[questions.name]


def _score(level: str, sheets: Sequence[Sheet], lenient: bool, threads: int | None) -> Score:
    lines, samples = (
        np.concatenate([getattr(sheet, name) for sheet in sheets]) for name in ("lines", "samples")
    )
    sums = np.concatenate([sheet.sums for sheet in sheets], axis=2)
    cut, *cut_right = np.concatenate([sheet.cut for sheet in sheets], axis=1)
    right = sums[int(lenient), TARGET]
    asked, each = lines > 0, sums / np.maximum(samples, 1)
    shares = [
        Shares(share(found[TARGET]), share(found[VALID]), share(np.where(asked, 1 - found[PARSED], 0.0)))
        for found in each
    ]
    ceilings = [sheet.questions.ceiling(threads) for sheet in sheets]
    counts = np.array([sheet.questions.count for sheet in sheets])
    missing = [(sheet.questions, np.flatnonzero(sheet.lines == 0)) for sheet in sheets]
    reasons = sum((sheet.reasons for sheet in sheets), Counter[str]())
    for sheet in sheets:
        reasons.update(why for index, why in sheet.failed.items() if not sheet.samples[index])
    return Score(
        level=level,
        n=len(lines),
        missing=int((~asked).sum()),
        first_missing=next((known.id_of(int(rows[0])) for known, rows in missing if len(rows)), None),
        accuracy=shares[lenient].target,
        of_asked=share(each[int(lenient), TARGET][asked]),
        of_complete=share_right(samples - cut, right - cut_right[lenient]),
        of_cut=share_right(cut, cut_right[lenient]),
        pass_at=pass_at(samples, right),
        strict=shares[0],
        lenient=shares[1],
        ceiling=_pooled([found for found in ceilings if found], len(sheets)),
        chance=float(np.average([sheet.questions.chance for sheet in sheets], weights=counts)),
        floor=float(np.concatenate([sheet.copied() for sheet in sheets]).mean()),
        reasons=dict(reasons.most_common()),
        unread=tuple(unread for sheet in sheets for unread in sheet.unread)[:UNREAD_SHOWN],
        usage=sum((sheet.usage for sheet in sheets), Usage()),
    )


def _pooled(means: Sequence[Mean], wanted: int) -> Mean | None:
    """Return the mean over the instances of several means; None if there are fewer than are wanted."""
    if len(means) < wanted:
        return None
    n = sum(found.n for found in means)
    value = sum(found.value * found.n for found in means) / n
    return Mean(value, sqrt(sum((found.standard_error * found.n) ** 2 for found in means)) / n, n)


def _scored(mixture: Mixture, sheets: Sequence[Sheet], threads: int | None) -> Scored:
    known = {sheet.questions: sheet for sheet in sheets}
    there = [
        (level, known[asked])
        for level, asked in zip(mixture.levels, mixture.sets, strict=True)
        if asked in known
    ]
    levels = tuple(_score(level, [sheet], mixture.lenient, threads) for level, sheet in there)
    total = _score("total", [sheet for _, sheet in there], mixture.lenient, threads)
    return Scored(
        name=mixture.name,
        board=mixture.board,
        form=mixture.form,
        fresh=mixture.fresh,
        lenient=mixture.lenient,
        of_board=total.accuracy.value * total.n / mixture.count,
        levels=levels,
        total=total,
    )


def score_completions(path: Path, *, threads: int | None = None) -> list[Scored]:
    """Score a file of completions: each board that it answers questions of, in the order of the file.

    The file is read once, and memory doesn't grow with it but for some bytes a question.

    Args:
        path: JSON Lines, as `sraven.text.completions.read_completions` takes them.
        threads: threads to use; None for all available ones.

    Raises:
        ConfigurationError: at the first line that can't be read, or whose question isn't known; or if there
            is no line.
    """
    sheets, pending = dict[str, Sheet](), 0
    for completion in read_completions(path):
        sheet = _add(completion, sheets)
        pending += len(completion.text or "")
        if len(sheet.indices) == PART or pending > MOST_PENDING:
            for each in sheets.values():
                each.flush(threads)
            pending = 0
    by_questions = {sheet.questions: sheet for sheet in sheets.values()}
    if not by_questions:
        raise ConfigurationError(f"{path} has no completions")
    for sheet in by_questions.values():
        sheet.flush(threads)
    return [
        _scored(mixture, [by_questions[each] for each in found], threads)
        for mixture, found in mixtures_of(by_questions)
    ]


def public_less_fresh(found: Sequence[Scored]) -> list[Difference]:
    """Return how much better public questions are answered than fresh ones, where a file has both.

    Questions of different seeds are independent, so the variances of the levels' scores add up.
    """
    differences = []
    for public in (each for each in found if each.fresh is None):
        others = [
            each
            for each in found
            if each.fresh is not None and (each.board, each.form) == (public.board, public.form)
        ]
        parts, variance = [], 0.0
        for level in public.levels:
            fresh = [each.of_asked for other in others for each in other.levels if each.level == level.level]
            if (pooled := _pooled(fresh, 1)) is not None:
                parts.append(level.of_asked.value - pooled.value)
                variance += level.of_asked.standard_error**2 + pooled.standard_error**2
        if parts:
            value, error = float(np.mean(parts)), 1.96 * sqrt(variance) / len(parts)
            differences.append(Difference(public.board, public.form, value, (value - error, value + error)))
    return differences
