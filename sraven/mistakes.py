"""Wrong answers, sorted by the kind of mistake that they are: from predictions alone.

A wrong answer has at least one wrong symbol. Its kind is the first of these that fits:

==============================  ==================================================================
kind                            the answer
==============================  ==================================================================
``valid alternative``           is another ninth panel that explains the context
                                (`sraven.is_answer`)
``correspondence``              has the target's symbols, each as often, at other positions
``another rule``                completes, at each wrong position, the third row of the feature
                                shown there to a row of another rule
``operand of another feature``  has, at each wrong position, such a symbol, or the one that the
                                feature's own rule gives if one of its two operands is taken from
                                another feature that needs two
``none of these``               is none of the above
==============================  ==================================================================

The target shows, at each position, what the rule of its feature gives. So to have the target's
symbols elsewhere is to have found what all rules give, and not which feature is where.

A row (x, y, z) is a row of a rule if it fits that rule by itself: z alone is the answer's, x and y are
the symbols that the feature has in the context, at its true positions. The rows of distribute three
depend on each other. Here the third row is one of them if it shows the three distinct symbols of the
first or of the second.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sraven.arguments import check_context, check_K, check_symbols
from sraven.certificates.ambiguity import is_answer
from sraven.core.arguments import check_array
from sraven.core.errors import ConfigurationError
from sraven.core.roles import Arrays, Labels
from sraven.features import symbols_by_asked_feature
from sraven.rules import ADDITION, DISTRIBUTE_THREE, RULES, SUBTRACTION, Rules, row_ends
from sraven.scoring.mistakes import MISSING, OVERALL, SIBLINGS, Tally, tally
from sraven.siblings import PARTNERS, partners_say
from sraven.splits import exchanges

if TYPE_CHECKING:
    from sraven.task import SRAVEN, Batch

VALID_ALTERNATIVE, CORRESPONDENCE, ANOTHER_RULE, OTHER_OPERAND, NONE_OF_THESE = range(1, 6)

KINDS = {
    "valid alternative": "another panel that explains the context as well as the target does",
    "correspondence": "the symbols of the target, each as often, at other positions",
    "another rule": "each wrong symbol is what another rule gives for its feature",
    "operand of another feature": "each is that, or what its own rule gives with another one's operand",
    "none of these": "any other wrong answer",
}
"""The kinds of wrong answers with their meanings, in the order in which they are asked for. ``kind`` of a
`SortedErrors` counts them from 1."""


class SortedErrors(NamedTuple):
    """What predictions get wrong, and how.

    Attributes:
        kind: uint8 ``[n]``: 0 where the prediction is right, else the kind of its mistake, from 1 in the
            order of `KINDS`.
        rules: uint8 ``[n, M]``: the rule of the feature that each position of the ninth panel shows.
        wrong: bool ``[n, M]``: where the symbol isn't the target's.
        follows: bool ``[n, M, R]``: of which rules each wrong symbol completes a row; nothing where
            the symbol is right.
        operand: bool ``[n, M]``: where the wrong symbol is what the feature's own rule gives if one of its
            two operands is taken from another feature whose rule needs two.
    """

    kind: NDArray[np.uint8]
    rules: NDArray[np.uint8]
    wrong: NDArray[np.bool_]
    follows: NDArray[np.bool_]
    operand: NDArray[np.bool_]


def _exchange(
    rows: NDArray[np.uint8], predicted: NDArray[np.uint8], shown: NDArray[np.int64], K: int, rules: Rules
) -> NDArray[np.bool_]:
    """Return which symbols a feature's own rule gives with an operand of another: bool ``[n, M]``.

    Args:
        rows: ``[n, row, column, M]``.
        predicted: ``[n, M]``.
        shown: the rule of the feature at each position ``[n, M]``.
        K: symbols.
        rules: the rules that there are.
    """
    x, y, ends = rows[:, 2, 0], rows[:, 2, 1], row_ends(K, rules)
    needs_two = np.array([rule.outcomes(K) == K**6 for rule in rules])  # rows of two free symbols each
    able, found = needs_two[shown], np.zeros(shown.shape, np.bool_)
    for distance in range(1, shown.shape[1]):
        other_x, other_y, other_able = (np.roll(each, distance, axis=1) for each in (x, y, able))
        given = (ends[shown, x, other_y] == predicted) | (ends[shown, other_x, y] == predicted)
        found |= given & able & other_able
    return found


def _follow(rows: NDArray[np.uint8], predicted: NDArray[np.uint8], K: int, rules: Rules) -> NDArray[np.bool_]:
    """Return by which rules predicted symbols complete rows ``[n, row, column, M]``: bool ``[n, M, R]``.

    Instances lie side by side in memory, as NumPy is slow along short axes.
    """
    panels = np.moveaxis(rows, 0, 2).copy()  # [row, column, n, M]
    earlier, x, y = panels[:2], panels[2, 0], panels[2, 1]
    follows: NDArray[np.bool_] = np.moveaxis(row_ends(K, rules)[:, x, y] == predicted, 0, 2)
    shows = [(earlier == symbol).any(axis=1) for symbol in (x, y, predicted)]  # [2, n, M] each
    distinct = (x != y) & (y != predicted) & (predicted != x)
    follows[..., DISTRIBUTE_THREE] = distinct & (shows[0] & shows[1] & shows[2]).any(axis=0)
    return follows


def _check(batch: "Batch", predictions: ArrayLike, K: int, rules: Rules) -> tuple[NDArray[np.uint8], ...]:
    """Return context, target, predictions, rules of features and permutations as arrays of the right kind."""
    context, K = check_context(batch.context, K)
    n, _, M = context.shape
    target = check_symbols("target", batch.target, (n, M), K)
    predicted = check_symbols("predictions", predictions, (n, M), K)
    of_features = check_symbols("rules", batch.rules, (n, M), len(rules))
    permutations = check_symbols("permutations", batch.permutations, (n, 3, M), M)
    if (np.sort(permutations) != np.arange(M)).any():
        raise ConfigurationError(
            f"permutations has a row that doesn't name each feature once; expected the features 0 to {M - 1} "
            "in the order in which a column shows them"
        )
    return context, target, predicted, of_features, permutations


def sort_errors(
    batch: "Batch",
    predictions: ArrayLike,
    K: int,
    *,
    permute: bool = True,
    rules: Rules = RULES,
    answers: ArrayLike | None = None,
    threads: int | None = None,
) -> SortedErrors:
    """Sort the wrong answers by the kind of mistake that they are; see `sraven.mistakes` for the kinds.

    Args:
        batch: the instances, as ``task.sample`` returns them.
        predictions: integers ``[n, M]``: a ninth panel for each.
        K: number of symbols, 3 to 256.
        permute: whether columns may show the features in different orders.
        rules: the rules that there are, as ``task.rules``; the paper's unless others are given.
        answers: integers ``[n]``: how many answers each context has, if that is known (`count_answers`):
            where there is one, no other is looked for.
        threads: threads to use; None for all available ones.

    Raises:
        ConfigurationError: for a wrong shape, dtype, symbol, rule or permutation.
        CapacityError: if an instance has too many explanations for an exact answer.
    """
    K = check_K(K)
    context, target, predicted, of_features, permutations = _check(batch, predictions, K, rules)
    n, M = target.shape
    shown = np.take_along_axis(of_features, permutations[:, 2].astype(np.int64), axis=1)
    wrong = predicted != target
    asked = mistaken = np.flatnonzero(wrong.any(axis=1))
    if answers is not None:
        asked = mistaken[check_array("answers", answers, (n,), "iu", "integers")[mistaken] > 1]

    follows = np.moveaxis(np.zeros((len(rules), n, M), np.bool_), 0, 2)  # see `_follow`
    asked_rows = symbols_by_asked_feature(context[mistaken], target[mistaken], permutations[mistaken])
    follows[mistaken] = _follow(asked_rows, predicted[mistaken], K, rules) & wrong[mistaken][..., None]

    operand = np.zeros((n, M), np.bool_)
    of_mistaken = shown[mistaken].astype(np.int64)
    operand[mistaken] = _exchange(asked_rows, predicted[mistaken], of_mistaken, K, rules) & wrong[mistaken]

    kind, another_rule = np.zeros(n, np.uint8), follows.any(axis=2) | ~wrong
    kind[mistaken] = NONE_OF_THESE
    kind[mistaken[(another_rule | operand).all(axis=1)[mistaken]]] = OTHER_OPERAND
    kind[mistaken[another_rule.all(axis=1)[mistaken]]] = ANOTHER_RULE
    same_symbols = (np.sort(predicted[mistaken]) == np.sort(target[mistaken])).all(axis=1)
    kind[mistaken[same_symbols]] = CORRESPONDENCE
    valid = is_answer(context[asked], predicted[asked], K, permute=permute, rules=rules, threads=threads)
    kind[asked[valid]] = VALID_ALTERNATIVE
    return SortedErrors(kind, shown, wrong, follows, operand)


# Tallies over instances

OPERAND = list(KINDS)[OTHER_OPERAND - 1]
"""Of wrong symbols, the column that answers of this kind are named after."""

_ANSWERS = {1: "1", 2: "2", 4: "3 to 4", 8: "5 to 8", 16: "9 to 16"}
"""Numbers of valid answers that stand together, by the largest."""
_MORE_ANSWERS = "17 and more"


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
    ``siblings``     features, alone of their family, for which their rule's sibling gives another symbol,
                     by what the rules beside them say (`sraven.siblings.PARTNERS`), and by how many of
                     the first two rows tell the two apart: rows or partners
    ===============  =============================================================================

    Attributes:
        task: the task.
    """

    task: "SRAVEN"

    kinds: ClassVar = KINDS

    @cached_property
    def _partners(self) -> NDArray[np.uint8]:
        task = self.task
        return partners_say(task.combinations("all"), task.combination_indices("train"), task.rules)

    @cached_property
    def _distances(self) -> NDArray[np.int64]:
        task = self.task
        return exchanges(task.M, task.combination_indices("train"), task.rules)

    def tally(
        self, labels: Labels, predictions: NDArray[Any], answered: NDArray[np.bool_], threads: int | None
    ) -> dict[str, Tally]:
        """Return the tallies of one run (uint8 ``[n, M]``) by name."""
        task, truth = self.task, labels.arrays
        kind = type(task.empty_batch(0))
        batch = kind(**{name: truth[name] for name in kind._fields})
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
            OVERALL: tally("", ("all",), columns, np.zeros(len(column), np.int64), column),
            "answers": tally(
                "valid answers", (*_ANSWERS.values(), _MORE_ANSWERS), columns, by_answers, column
            ),
            "distance": tally("distance to training", distances, columns, distance, column),
            "rules": self._by_rule(found, answered),
            "arithmetic": self._by_load(found, answered),
            SIBLINGS: self._by_partners(truth, predictions, answered),
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
        return tally("rule", names, columns, found.rules.astype(np.int64), column, "features")

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
        return tally(heading, names, columns, load[concerned], column[concerned], "features")

    def _by_partners(self, truth: Arrays, predictions: NDArray[Any], answered: NDArray[np.bool_]) -> Tally:
        """Count features that siblings answer otherwise, by partners and by how many rows tell."""
        asked = np.nonzero(truth["sibling_symbol"] >= 0)
        instance, answer = asked[0], predictions[asked]
        partners = self._partners[truth["combination"][instance], truth["rules_by_position"][asked]]
        column = np.where(answer == truth["sibling_symbol"][asked], 0, 1)
        column[answer == truth["target"][asked]] = -1
        column[~answered[instance]] = 2
        telling = ("no row tells", "one row tells", "both rows tell")
        names = [f"partners {name}, {rows}" for name in PARTNERS for rows in telling]
        row = len(telling) * partners.astype(np.int64) + truth["telling_rows"][asked]
        columns = ("the sibling's answer", "anything else", MISSING)
        return tally("rows or partners", names, columns, row, column, "features")
