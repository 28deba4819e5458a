"""Tallies of SRAVEN's wrong answers: of all, and by what makes instances hard."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sraven.core.tasks.diagnosis import MISSING, OVERALL, Tally
from sraven.core.tasks.task import Labels
from sraven.errors import (
    CORRESPONDENCE,
    KINDS,
    OTHER_OPERAND,
    VALID_ALTERNATIVE,
    SortedErrors,
    sort_errors,
)
from sraven.rules import ADDITION, SUBTRACTION
from sraven.splits import exchanges
from sraven.task import SRAVEN, Batch

OPERAND = list(KINDS)[OTHER_OPERAND - 1]
"""Of wrong symbols, the column that answers of this kind are named after."""

_ANSWERS = {1: "1", 2: "2", 4: "3 to 4", 8: "5 to 8", 16: "9 to 16"}
"""Numbers of valid answers that stand together, by the largest."""
_MORE_ANSWERS = "17 and more"


def _tally(
    heading: str,
    names: tuple[str, ...],
    columns: tuple[str, ...],
    row: NDArray[Any],
    column: NDArray[Any],
    unit: str = "instances",
) -> Tally:
    """Count instances (or features) by row and, where wrong, by column; leave out rows that have none.

    Args:
        heading: what the rows are.
        names: of the rows.
        columns: names of the columns.
        row: the row of each.
        column: the column of each, -1 where it is right.
        unit: what is counted.
    """
    totals = np.bincount(row.ravel(), minlength=len(names))
    counts = np.zeros((len(names), len(columns) + 1), np.int64)
    np.add.at(counts, (row, column), 1)  # right ones go to the last column, which is dropped
    there = np.flatnonzero(totals)
    named = tuple(names[number] for number in there)
    return Tally(heading, unit, named, columns, totals[there], counts[there, :-1])


@dataclass(frozen=True)
class SRAVENDiagnosis:
    """Sorts the wrong answers of one task.

    ===============  =============================================================================
    tally            rows
    ===============  =============================================================================
    ``overall``      all instances
    ``answers``      by how many valid answers the context has
    ``distance``     by how many rules of the instance have to be exchanged to get a combination of
                     training: 0 for ``test``, at least 1 for ``ood``
    ``rules``        features by their rule. A wrong symbol is counted as of a valid alternative or
                     of an answer with wrong correspondence, if it is one's; else under the one
                     other rule whose row it completes, under several rules, under an operand of
                     another feature, or under no rule
    ``arithmetic``   features that add or subtract, by how many of these the instance has: a wrong
                     symbol is counted as what the other of the two rules gives, as one of an operand
                     of another feature, or as neither
    ===============  =============================================================================

    Attributes:
        task: the task.
    """

    task: SRAVEN

    kinds: ClassVar = KINDS

    @cached_property
    def _distances(self) -> NDArray[np.int64]:
        task = self.task
        return exchanges(task.M, task.combination_indices("train"), task.rules)

    def tally(
        self, labels: Labels, predictions: NDArray[Any], answered: NDArray[np.bool_], threads: int | None
    ) -> dict[str, Tally]:
        """Return the tallies of one run (uint8 ``[n, M]``) by name."""
        task, truth = self.task, labels.arrays
        batch = Batch(**{name: truth[name] for name in Batch._fields})
        # What isn't answered is of no kind, so that nothing is asked about it.
        given = np.where(answered[:, None], predictions, truth["target"])
        answers = truth["answers"]
        found = sort_errors(batch, given, task.K, answers=answers, threads=threads, **task.context_options)
        columns = (*KINDS, MISSING)
        column = np.where(answered, found.kind.astype(np.int64) - 1, len(KINDS))
        distance = self._distances[truth["combination"]]
        distances = tuple(map(str, range(task.M + 1)))
        by_answers = np.searchsorted(list(_ANSWERS), answers)
        return {
            OVERALL: _tally("", ("all",), columns, np.zeros(len(column), np.int64), column),
            "answers": _tally(
                "valid answers", (*_ANSWERS.values(), _MORE_ANSWERS), columns, by_answers, column
            ),
            "distance": _tally("distance to training", distances, columns, distance, column),
            "rules": self._by_rule(found, answered),
            "arithmetic": self._by_load(found, answered),
        }

    def _by_rule(self, found: SortedErrors, answered: NDArray[np.bool_]) -> Tally:
        """Count features by their rule, and wrong ones by the rule that they follow instead."""
        names = tuple(rule.name for rule in self.task.rules)
        others = list(KINDS)[VALID_ALTERNATIVE - 1 : CORRESPONDENCE]
        columns = (*others, *names, "several rules", OPERAND, "no rule", MISSING)
        followed = found.follows.sum(axis=2)
        column = np.where(followed == 1, found.follows.argmax(axis=2) + len(others), 0)
        column[followed > 1], column[followed == 0] = len(columns) - 4, len(columns) - 2
        column[(followed == 0) & found.operand] = len(columns) - 3
        for number in (VALID_ALTERNATIVE, CORRESPONDENCE):
            column[found.kind == number] = number - 1
        column = np.where(found.wrong, column, -1)
        column[~answered] = len(columns) - 1
        return _tally("rule", names, columns, found.rules.astype(np.int64), column, "features")

    def _by_load(self, found: SortedErrors, answered: NDArray[np.bool_]) -> Tally:
        """Count features that add or subtract by how many of these there are, and what is wrong of them."""
        columns = ("the other of the two", OPERAND, "anything else", MISSING)
        concerned = (found.rules == ADDITION) | (found.rules == SUBTRACTION)
        column = np.where(found.follows[..., (ADDITION, SUBTRACTION)].any(axis=2), 0, 2)
        column[(column == 2) & found.operand] = 1
        column = np.where(found.wrong, column, -1)
        column[~answered] = len(columns) - 1
        load = np.broadcast_to(concerned.sum(axis=1)[:, None], concerned.shape)
        names = tuple(map(str, range(self.task.M + 1)))
        heading = "adding or subtracting"
        return _tally(heading, names, columns, load[concerned], column[concerned], "features")
