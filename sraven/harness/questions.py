"""Questions for the harnesses by their options, and verdicts by the questions' ids."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sraven.task import SRAVEN
from sraven.text.forms import FORMS
from sraven.text.mixtures import Mixture, mixture_of
from sraven.text.questions import COUNT, HOLDOUT, SEED, Questions, find_question
from sraven.text.wording import form_name

VERDICTS = "accuracy", "target", "valid", "unparsed", "lenient_valid", "lenient_unparsed"
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
    """Return a set of questions; the defaults are those of a level of `sraven.text.LADDER`.

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


def pose_board(
    board: str, form: str = "told", shots: int = 0, fresh: int | None = None
) -> tuple[Mixture, list[tuple[Question, dict[str, Any]]]]:
    """Return the questions of a board, levels in turn, each with its place.

    A place has the ``level``, such as ``M4-K8``; of sets of twins also the ``set`` and how many ``variants``
    that has.

    Args:
        board: its id, such as ``sraven-text-v2``.
        form: ``told`` or ``untold``, in the words of that board.
        shots: solved examples before each question, none or as many as the board has.
        fresh: a seed to draw the same mixture of questions anew by; None for the board's own.

    Raises:
        ConfigurationError: for another board or form.
    """
    mixture = mixture_of(board, form_name(form, shots), fresh)
    variants = mixture.task.variants if mixture.task else 1
    posed = {asked: list(pose(asked)) for asked in mixture.sets}
    levels = {asked: name.partition(".")[0] for asked, name in zip(mixture.sets, mixture.levels, strict=True)}
    questions = []
    for asked, index in mixture.in_turn():
        level = levels[asked]
        of_set = {} if variants == 1 else {"set": f"{level}/{index}", "variants": variants}
        questions.append((posed[asked][index], {"level": level, **of_set}))
    return mixture, questions


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
        are read strictly; ``lenient_valid`` and ``lenient_unparsed`` where they are read as a person would;
        and ``accuracy``, which is valid by the reading that boards of that form rank by.

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
        ranked = lenient if FORMS[questions.form].lenient else strict
        columns = ranked.valid, strict.target, strict.valid, ~strict.parsed, lenient.valid, ~lenient.parsed
        for name, column in zip(VERDICTS, columns, strict=True):
            verdicts[name][here] = column
    return verdicts


def verdict(question: str, reply: object) -> dict[str, float]:
    """Return the verdict on one reply, as `judge` does, as 0.0 or 1.0."""
    return {name: float(values[0]) for name, values in judge([question], [reply]).items()}


def floor(questions: Questions) -> float:
    """Return what copying the last panel scores."""
    return float(questions.copied(range(questions.count)).mean())


def bounds(sets: Sequence[Questions]) -> dict[str, float | None]:
    """Return what a score is read against: the ceiling if it is known, chance, and the floor."""
    ceilings = [questions.ceiling() for questions in sets]
    weights = [questions.count for questions in sets]
    known = [each.value for each in ceilings if each is not None]
    return {
        "ceiling": float(np.average(known, weights=weights)) if len(known) == len(sets) else None,
        "chance": float(np.average([questions.chance for questions in sets], weights=weights)),
        "floor": float(np.average(list(map(floor, sets)), weights=weights)),
    }
