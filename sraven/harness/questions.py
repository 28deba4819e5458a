"""Questions for the harnesses by their options, and verdicts by the questions' ids."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sraven.core.base.estimate import Mean
from sraven.task import SRAVEN
from sraven.text.grading import share
from sraven.text.ids import find_question
from sraven.text.ladder import COUNT, HOLDOUT, SEED
from sraven.text.mixtures import read_text_board
from sraven.text.questions import Questions

VERDICTS = "target", "valid", "unparsed", "lenient_valid", "lenient_unparsed"
"""What is said of a reply; see `judge`."""


class Question(NamedTuple):
    """A question as logs and datasets hold it.

    Attributes:
        id: it says all about the question: whoever has it can judge a reply.
        prompt: what the model is asked.
        answer: the right last line of a reply, such as ``Answer: [3 6 2 0]``; on instances with several
            valid answers, that of the target.
        ceiling: the probability of the most probable answer; None if the prompt doesn't say enough for one.
    """

    id: str
    prompt: str
    answer: str
    ceiling: float | None


def make_questions(
    M: int = 4,
    K: int = 8,
    form: str = "told",
    shots: int = 0,
    answers: str = "unique",
    split: str | None = None,
    seed: int = SEED,
    count: int = COUNT,
) -> Questions:
    """Return a set of questions; the defaults are those of a rung of `sraven.text.LADDER`.

    Args:
        M: features of a panel, 1 to 12.
        K: symbols, 3 to 256.
        form: of the prompts, ``told`` or ``untold``.
        shots: solved examples before each question, from train.
        answers: ``unique`` for instances with exactly one answer, or ``any``.
        split: where they come from, ``train``, ``test`` or ``ood``; None for the last one that there is.
            At M=1 nothing is held out, so there is no ood.
        seed: of the instances and of what is held out. A new one gives puzzles that nobody has seen.
        count: how many.

    Raises:
        ConfigurationError: (a ValueError) for a value out of range.
    """
    task = SRAVEN(M, K, 0.0 if M == 1 else HOLDOUT, seed, answers)
    return Questions(task, task.splits[-1] if split is None else split, count, form, shots)


def pose(questions: Questions) -> Iterator[Question]:
    """Yield questions in their order."""
    for part in questions.parts():
        known = questions.certainties(part)
        ceilings = repeat(None, len(part)) if known is None else known.tolist()
        columns = map(questions.id_of, part), *questions.prompts_and_answers(part), ceilings
        yield from map(Question._make, zip(*columns, strict=True))


class Posed(NamedTuple):
    """The questions of one rung of a text board.

    Attributes:
        rung: its name, such as ``M4-K8``.
        asked: the set.
        questions: all of them.
        variants: questions of a set of twins; 1 where there are no sets.
    """

    rung: str
    asked: Questions
    questions: list[Question]
    variants: int

    def set_of(self, question: Question) -> dict[str, Any]:
        """Return the set of twins that a question is of, and how many questions it has; or nothing."""
        if self.variants == 1:
            return {}
        level, number = self.rung.partition(".")[0], question.id.rpartition("_")[2]
        return {"set": f"{level}/{number}", "variants": self.variants}


def pose_board(
    board: str, form: str = "told", shots: int = 0
) -> tuple[list[Posed], Iterator[tuple[Posed, Question]]]:
    """Return the questions of a board by rung, and all of them in the order of the board, each with its rung.

    Args:
        board: its id, such as ``sraven-text-v2``.
        form: ``told`` or ``untold``, in the words of that board.
        shots: solved examples before each question.

    Raises:
        ConfigurationError: for another board or form, or too many examples.
    """
    ladder = read_text_board(board)[1]
    rows = zip(ladder.task.part_names, ladder.ask(form, shots), strict=True)
    rungs = [Posed(rung, asked, list(pose(asked)), ladder.task.variants) for rung, asked in rows]
    return rungs, ladder.task.in_order([(rung, each) for each in rung.questions] for rung in rungs)


def count_sets(solved: Iterable[tuple[str, int, float]]) -> dict[str, float]:
    """Return how many sets of twins are whole, and what is solved of these.

    Args:
        solved: of each question the set, how many questions that has, and whether it is solved, 1 or 0.

    Returns:
        ``count`` of the sets; ``pass_any`` and ``pass_all``, the shares of these that are solved in any and
        in each variant; ``pass_mean``, the mean share of variants. Shares are 0 if no set is whole.
    """
    sets: dict[tuple[str, int], list[float]] = {}
    for name, variants, each in solved:
        sets.setdefault((name, variants), []).append(each)
    whole = [np.array(found) for (_, variants), found in sets.items() if len(found) == variants]
    shares = np.array([[found.max(), found.mean(), found.min()] for found in whole] or [[0.0] * 3])
    names = "pass_any", "pass_mean", "pass_all"
    return {"count": len(whole), **dict(zip(names, shares.mean(axis=0).tolist(), strict=True))}


def judge(ids: Sequence[str], replies: Sequence[object]) -> dict[str, NDArray[np.bool_]]:
    """Return the verdicts on replies to questions, by their ids alone.

    Args:
        ids: n ids, of one set of questions or of several.
        replies: n texts; anything else answers nothing.

    Returns:
        bool ``[n]`` each: ``target``, ``valid`` (one of all panels that fit) and ``unparsed``, where replies
        are read strictly; ``lenient_valid`` and ``lenient_unparsed`` where they are read as a person would.

    Raises:
        ConfigurationError: for what is no id of a question.
    """
    rows: dict[Questions, list[int]] = {}
    found = [find_question(each) for each in ids]
    for row, (questions, _) in enumerate(found):
        rows.setdefault(questions, []).append(row)
    verdicts = {name: np.zeros(len(ids), np.bool_) for name in VERDICTS}
    for questions, here in rows.items():
        asked = [found[row][1] for row in here], [replies[row] for row in here]
        strict, lenient = questions.grade_both(*asked, threads=1)
        columns = strict.target, strict.valid, ~strict.parsed, lenient.valid, ~lenient.parsed
        for name, column in zip(VERDICTS, columns, strict=True):
            verdicts[name][here] = column
    return verdicts


def verdict(question: str, reply: object) -> dict[str, float]:
    """Return the verdict on one reply, as `judge` does, as 0.0 or 1.0."""
    return {name: float(values[0]) for name, values in judge([question], [reply]).items()}


def floors(questions: Questions) -> dict[str, Mean]:
    """Return what answers score that take no thought: copying the last panel."""
    batch = questions.take(range(questions.count))
    return {"copying the last panel": share((batch.context[:, 7] == batch.target).all(axis=1))}


def ceiling(questions: Sequence[Question]) -> Mean | None:
    """Return the best expected share of ``target``; None if the prompts don't say enough for one."""
    known = [question.ceiling for question in questions if question.ceiling is not None]
    return share(np.array(known)) if known else None
