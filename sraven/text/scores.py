"""Scores of files of completions: of each level of a board, of all of them, and of fresh questions beside.

A question may have several replies, each a sample: its score is the share of them that are right. A line
without a reply, whose request failed, counts for nothing once there is one, and as wrong until then. What a
file has no line of enters the score of the whole board alone.
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
from sraven.core.means import Mean, share
from sraven.text.completions import Completion, Usage, read_completions
from sraven.text.mixtures import Mixture, mixtures_of
from sraven.text.questions import PART, Questions
from sraven.text.replies import CUT_OFF
from sraven.text.samples import pass_at, share_right
from sraven.twins.metrics import SetScore, score_sets

MOST_PENDING = 1 << 26
"""Characters of completions that are kept until they are graded."""

MOST_ASKED = 1 << 20
"""Questions of all sets that a file may answer: a ceiling is computed over all of them."""

UNREAD_SHOWN, UNREAD_LETTERS = 3, 80
"""How many replies are kept that even the lenient reading doesn't understand, and how much of their ends."""

PARSED, TARGET, VALID, TARGET_CUT = range(4)
"""Verdicts of a reading, as the sums of a `Sheet` number them."""


@dataclass(frozen=True)
class Shares:
    """Verdicts by one reading, as shares of the questions that have a completion: see `Score`."""

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
    """The scores of the completions of some questions, over those that have one.

    Attributes:
        level: name of the level, or ``total``.
        n: number of questions that have a completion.
        missing: how many more there are, without one.
        first_missing: the id of the first of them, or None.
        accuracy: ``target`` by the reading that ranks.
        of_complete: the same over the questions that have a reply which isn't cut off, and over these replies
            alone; None if there is none.
        of_cut: the same of those that are cut off.
        pass_at: pass@k by k, of the reading that ranks, if all asked questions have several replies.
        strict: shares by the strict reading: answered with the target; with a valid panel; and without an
            answer, though there is a completion. The last are wrong.
        lenient: shares by the lenient one.
        ceiling: the best expected ``target`` of anyone, if it is known; it is, where rules are told.
        chance: what guessing all numbers scores.
        floor: what copying the last panel scores.
        reasons: why the lenient reading finds no answer, and in how many replies.
        unread: some of these.
        usage: tokens and cost of the replies.
    """

    level: str
    n: int
    missing: int
    first_missing: str | None
    accuracy: Mean
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
        replies: how many there are; if all requests failed, none, and then no score means anything.
        of_board: what ranks, `accuracy` or ``pass_all`` of sets, over all of the board: what isn't there is
            wrong.
        levels: the scores of each level that has some.
        total: the score of these together.
        sets: of a board of twins, those of sets, of each of these levels and of all; else nothing.
    """

    name: str
    board: str
    form: str
    fresh: int | None
    lenient: bool
    replies: int
    of_board: float
    levels: tuple[Score, ...]
    total: Score
    sets: tuple[SetScore, ...]

    @property
    def compared(self) -> dict[str, Mean]:
        """The share right on each level; of twins the mean over sets, as what is within one is alike."""
        if self.sets:
            return {each.level: each.pass_mean for each in self.sets[:-1]}
        return {each.level: each.accuracy for each in self.levels}


class Difference(NamedTuple):
    """How much better the public questions of a board are answered than fresh ones of the same mixture.

    Attributes:
        board: the board.
        form: how it was asked.
        value: the mean over levels that both have of the difference between the scores.
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
        asked: bool ``[count]``, which have a completion.
        samples: int64 ``[count]``, replies of each.
        cut: int64 ``[count]``, how many of these are cut off.
        sums: int64 ``[2, 4, count]``, how many are parsed, the target, valid, the target though cut off;
            strictly, leniently.
    """

    def __init__(self, questions: Questions) -> None:
        self.questions = questions
        self.asked = np.zeros(questions.count, np.bool_)
        self.samples = np.zeros(questions.count, np.int64)
        self.cut = np.zeros(questions.count, np.int64)
        self.sums = np.zeros((2, 4, questions.count), np.int64)
        self.indices: list[int] = []
        self.replies: list[Completion] = []
        self.reasons: Counter[str] = Counter()
        self.failed: dict[int, str] = {}
        self.unread: list[Unread] = []
        self.usage = Usage()

    def add(self, completion: Completion, index: int) -> None:
        """Note a completion."""
        self.asked[index] = True
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
        np.add.at(self.cut, indices, cut)
        for reading, grades in enumerate(both):
            verdicts = grades.parsed, grades.target, grades.valid, grades.target & cut
            for verdict, values in enumerate(verdicts):
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


def _score(level: str, sheets: Sequence[Sheet], lenient: bool, threads: int | None) -> Score:
    asked = np.concatenate([sheet.asked for sheet in sheets])
    samples = np.concatenate([sheet.samples for sheet in sheets])[asked]
    sums = np.concatenate([sheet.sums for sheet in sheets], axis=2)[:, :, asked]
    cut = np.concatenate([sheet.cut for sheet in sheets])[asked]
    right, cut_right = sums[int(lenient), [TARGET, TARGET_CUT]]
    each = sums / np.maximum(samples, 1)
    shares = [Shares(share(found[TARGET]), share(found[VALID]), share(1 - found[PARSED])) for found in each]
    known = [ceiling for sheet in sheets if (ceiling := sheet.questions.ceiling(threads))]
    counts = [sheet.questions.count for sheet in sheets]
    copied = [sheet.questions.copied(np.flatnonzero(sheet.asked)) for sheet in sheets]
    missing = [(sheet.questions, np.flatnonzero(~sheet.asked)) for sheet in sheets]
    reasons = sum((sheet.reasons for sheet in sheets), Counter[str]())
    for sheet in sheets:
        reasons.update(why for index, why in sheet.failed.items() if not sheet.samples[index])
    return Score(
        level=level,
        n=len(samples),
        missing=len(asked) - len(samples),
        first_missing=next((own.id_of(int(rows[0])) for own, rows in missing if len(rows)), None),
        accuracy=shares[lenient].target,
        of_complete=share_right(samples - cut, right - cut_right),
        of_cut=share_right(cut, cut_right),
        pass_at=pass_at(samples, right),
        strict=shares[0],
        lenient=shares[1],
        ceiling=_pooled(known) if len(known) == len(sheets) else None,
        chance=float(np.average([sheet.questions.chance for sheet in sheets], weights=counts)),
        floor=float(np.concatenate(copied).mean()),
        reasons=dict(reasons.most_common()),
        unread=tuple(unread for sheet in sheets for unread in sheet.unread)[:UNREAD_SHOWN],
        usage=sum((sheet.usage for sheet in sheets), Usage()),
    )


def _pooled(means: Sequence[Mean]) -> Mean:
    """Return the mean over the instances of several means."""
    n = sum(found.n for found in means)
    value = sum(found.value * found.n for found in means) / n
    return Mean(value, sqrt(sum((found.standard_error * found.n) ** 2 for found in means)) / n, n)


def _scored(mixture: Mixture, sheets: Sequence[Sheet], threads: int | None) -> Scored:
    known = {sheet.questions: sheet for sheet in sheets}
    rungs = [known.get(asked) for asked in mixture.sets]
    names, size = mixture.levels, 1
    if mixture.task:  # perhaps of twins, where each is a variant of a level
        names, size = mixture.task.rungs, mixture.task.variants
    by_level = {name: rungs[size * level : size * (level + 1)] for level, name in enumerate(names)}
    there = {name: found for name, rows in by_level.items() if (found := [row for row in rows if row])}
    total = _score("total", [sheet for found in there.values() for sheet in found], mixture.lenient, threads)
    solved = {name: _solved(by_level[name], mixture.lenient) for name in there} if size > 1 else {}
    sets = [score_sets(name, [found]) for name, found in solved.items()]
    sets += [score_sets("total", list(solved.values()))] if solved else []
    ranked = sets[-1].pass_all if sets else total.accuracy
    return Scored(
        name=mixture.name,
        board=mixture.board,
        form=mixture.form,
        fresh=mixture.fresh,
        lenient=mixture.lenient,
        replies=sum(int(sheet.samples.sum()) for sheet in sheets),
        of_board=ranked.value * ranked.n * size / mixture.count,
        levels=tuple(_score(name, found, mixture.lenient, threads) for name, found in there.items()),
        total=total,
        sets=tuple(sets),
    )


def _solved(variants: Sequence[Sheet | None], lenient: bool) -> NDArray[np.float64]:
    """Return the share of replies that are right, ``[variants, sets]``, of sets that are there as a whole."""
    sheets = [sheet for sheet in variants if sheet]
    if len(sheets) < len(variants):
        return np.zeros((len(variants), 0))
    right = np.array([sheet.sums[int(lenient), TARGET] / np.maximum(sheet.samples, 1) for sheet in sheets])
    whole = np.all([sheet.asked for sheet in sheets], axis=0)
    return right[:, whole]


def score_completions(path: Path, *, threads: int | None = None) -> list[Scored]:
    """Score a file of completions: each board that it answers questions of, in the order of the file.

    The file is read once, and memory doesn't grow with it but for some bytes a question.

    Args:
        path: JSON Lines, as `sraven.text.completions.read_completions` takes them.
        threads: threads to use; None for all available ones.

    Raises:
        ConfigurationError: at the first line that can't be read, or whose question isn't known; if there
            are too many questions; or if there is no reply.
    """
    sheets, pending = dict[Questions, Sheet](), 0
    for completion in read_completions(path):
        questions, index = completion.find()
        if questions not in sheets:
            if questions.count + sum(each.count for each in sheets) > MOST_ASKED:
                raise ConfigurationError(
                    f"{completion.where}: expected sets of {MOST_ASKED:,} questions at most; score others "
                    "apart"
                )
            sheets[questions] = Sheet(questions)
        sheet = sheets[questions]
        sheet.add(completion, index)
        pending += len(completion.text or "")
        if len(sheet.indices) == PART or pending > MOST_PENDING:
            for each in sheets.values():
                each.flush(threads)
            pending = 0
    if not sheets:
        raise ConfigurationError(f"{path} has no completions")
    for sheet in sheets.values():
        sheet.flush(threads)
    if not any(sheet.samples.any() for sheet in sheets.values()):
        why = Counter(reason for sheet in sheets.values() for reason in sheet.failed.values())
        told = "; ".join(f"{count:,} {reason}" for reason, count in why.most_common())
        raise ConfigurationError(f"{path} has no reply to score. Its questions: {told}")
    return [
        _scored(mixture, [sheets[each] for each in found], threads) for mixture, found in mixtures_of(sheets)
    ]


def public_less_fresh(found: Sequence[Scored]) -> list[Difference]:
    """Return how much better public questions are answered than fresh ones, where a file has both.

    Questions of different seeds are independent, so the variances of the levels' scores add up.
    """
    replied, differences = [each for each in found if each.replies], []
    for public in (each for each in replied if each.fresh is None):
        others = [
            each.compared
            for each in replied
            if each.fresh is not None and (each.board, each.form) == (public.board, public.form)
        ]
        parts, variance = [], 0.0
        for level, own in public.compared.items():
            fresh = [each[level] for each in others if level in each and each[level].n]
            if own.n and fresh:
                pooled = _pooled(fresh)
                parts.append(own.value - pooled.value)
                variance += own.standard_error**2 + pooled.standard_error**2
        if parts:
            value, error = float(np.mean(parts)), 1.96 * sqrt(variance) / len(parts)
            differences.append(Difference(public.board, public.form, value, (value - error, value + error)))
    return differences
