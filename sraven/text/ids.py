"""From the id of a question to the questions that it belongs to."""

import re
from functools import lru_cache
from typing import Any

from sraven.core.errors import ConfigurationError
from sraven.core.escape import quoted
from sraven.divisions import DIVISIONS
from sraven.rules import PAPER
from sraven.task import SRAVEN
from sraven.text.questions import Questions
from sraven.twins.task import Variant

_DIVISION = "|".join(DIVISIONS)
_NAME = re.compile(
    rf"v([0-9]{{1,3}})_M([0-9]{{1,2}})-K([0-9]{{1,3}})(?:-(?:{_DIVISION}))?"
    r"(-unique)?(-unpermuted)?(?:-([a-z0-9]{1,20}))?"
    r"(?:-twins([0-9]{1,2})-([0-9])-([0-9]{1,2})-([01])-([0-9]{1,3}))?"
    rf"_h([0-9]{{1,30}}|{_DIVISION})_s([0-9]{{1,19}})"
    r"_([a-z]{1,9})-([0-9]{1,8})_([a-z0-9]{1,20})-([0-9]{1,2})"
)
_TWINS = "by_columns", "by_rows", "by_values", "by_negation", "variant"
_INDEX = re.compile("0|[1-9][0-9]{0,7}")


@lru_cache(256)
def _named(name: str) -> Questions | None:
    """Return the questions of a name, or None if it is none that they give themselves."""
    found = _NAME.fullmatch(name)
    if not found:
        return None
    version, M, K, unique, unpermuted, rule_set, *rest = found.groups()
    *twins, holdout, seed, split, count, form, shots = rest
    drawn: dict[str, Any] = {
        "M": int(M),
        "K": int(K),
        "holdout": holdout if holdout in DIVISIONS else float(f"0.{holdout}"),
        "seed": int(seed),
        "version": version,
    }
    if twins[0]:
        drawn |= zip(_TWINS, map(int, twins), strict=True)
        task: SRAVEN = Variant(**drawn)
    else:
        answers = "unique" if unique else "any"
        task = SRAVEN(**drawn, answers=answers, permute=not unpermuted, rule_set=rule_set or PAPER)
    questions = Questions(task, split, int(count), form, int(shots))
    return questions if questions.name == name else None


def find_question(question: object) -> tuple[Questions, int]:
    """Return the questions to which an id belongs, and the index of its own.

    Raises:
        ConfigurationError: if it is none that `Questions.id_of` gives.
    """
    name, _, index = question.rpartition("_") if isinstance(question, str) else ("", "", "")
    try:
        questions = _named(name)
    except ConfigurationError:  # such as a version of the future
        questions = None
    if questions is None or not _INDEX.fullmatch(index) or int(index) >= questions.count:
        raise ConfigurationError(f"{quoted(question)} is no id that `sraven text generate` gives")
    return questions, int(index)
