"""Instances and pairs of tokens that codes are collected of, and labels of them by the generator.

Letters in array names: B instances, P query positions of each that are looked at, K keys of a pair. A row is
an instance at a query position, so n = B · P.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fuzzylogic.settings import QUERIES
from sraven.core.arguments import check_choice, check_integer
from sraven.core.errors import ConfigurationError
from sraven.core.roles import Task

Array = NDArray[Any]

SELF, ROW3 = "self", "row3"
"""Pairs of tokens: the query with itself; the query with the two keys of its feature in row 3."""

BOARD = "board"
"""The protocol of the board's own instances."""

FIT, TEST, OOD = "fit", "test", "ood"
"""Parts: instances of known combinations to fit on, others of them to judge on, and held-out combinations."""


@dataclass(frozen=True)
class Part:
    """A range of instances.

    Attributes:
        name: `FIT`, `TEST` or `OOD`.
        split: of the task.
        start: its first index there.
        count: how many.
    """

    name: str
    split: str
    start: int
    count: int


class Truth(NamedTuple):
    """What is true of the rows of a batch, by the generator.

    Attributes:
        target: ``[B, P]``, what the row's output is to be: a symbol, or a number.
        labels: ``[B, P]`` each, by name.
        keys: integers ``[B, P, K]`` by pair: tokens that the row's query is paired with.
    """

    target: Array
    labels: Mapping[str, Array]
    keys: Mapping[str, Array]


class Subject(NamedTuple):
    """A task as its codes are analysed.

    Attributes:
        name: of the protocol.
        task: that makes the instances.
        pairs: that there are.
        positions: ``[P]``: those of the tokens with outputs that are looked at, from 0.
        decoded: names of the labels that probes decode.
        truth: returns what is true of a batch.
        instances: of a part, by default.
    """

    name: str
    task: Any
    pairs: tuple[str, ...]
    positions: Array
    decoded: tuple[str, ...]
    truth: Callable[[Any], Truth]
    instances: int

    def parts(self, n: int | None = None) -> tuple[Part, ...]:
        """Return the parts: n instances of ``test`` and a quarter more, and n of ``ood`` if there is one.

        Raises:
            ConfigurationError: for an n below 8.
        """
        n = check_integer("n", self.instances if n is None else n, 8, 1 << 30)
        parts = Part(FIT, "test", 0, n), Part(TEST, "test", n, n // 4), Part(OOD, "ood", 0, n)
        return tuple(part for part in parts if part.split in self.task.splits)


# SRAVEN ---------------------------------------------------------------------------------------------

RULE, FIRST, SECOND = "rule", "first_input", "second_input"
"""Labels of SRAVEN: the rule of a position's feature, and its symbols in columns 1 and 2 of row 3."""


def sraven_truth(task: Any, positions: Array, batch: Any) -> Truth:
    """Return what is true of rows of SRAVEN.

    Position p of column 3 shows feature ``permutations[2, p]``; where columns 1 and 2 show that feature is
    found by their permutations.

    Args:
        task: which.
        positions: ``[P]`` of column 3.
        batch: its instances.
    """
    M = task.M
    shown_BCM = batch.permutations.astype(np.int64)
    feature_BP = shown_BCM[:, 2, positions]
    found_BCM = np.argsort(shown_BCM, axis=2)  # the inverse: where each feature is shown
    places = [np.take_along_axis(found_BCM[:, column], feature_BP, 1) for column in (0, 1)]
    tokens_BP2 = np.stack([(6 + column) * M + place for column, place in enumerate(places)], axis=-1)
    symbols_BT = batch.context.reshape(len(batch.context), 8 * M)
    first_BP, second_BP = (np.take_along_axis(symbols_BT, tokens_BP2[..., c], 1) for c in (0, 1))
    query_BP1 = np.broadcast_to(8 * M + positions, feature_BP.shape)[..., None]
    return Truth(
        batch.target[:, positions],
        {RULE: np.take_along_axis(batch.rules, feature_BP, 1), FIRST: first_BP, SECOND: second_BP},
        {SELF: query_BP1, ROW3: tokens_BP2},
    )


def _sraven(task: Any) -> Subject:
    """Return the board's instances."""
    positions = np.arange(task.M)
    truth = partial(sraven_truth, task, positions)
    return Subject(BOARD, task, (SELF, ROW3), positions, (RULE,), truth, 10_240)


# Fuzzy logic ----------------------------------------------------------------------------------------


def term_label(term: int) -> str:
    """Return the name of the label that says whether a function has a term."""
    return f"term_{term}"


def fuzzylogic_truth(task: Any, batch: Any) -> Truth:
    """Return what is true of sequences: the query's target, and which seen terms are in the function."""
    terms_BK = batch.terms.astype(np.int64)
    labels = {term_label(t): (terms_BK == t).any(axis=1)[:, None] for t in task.partition.seen.tolist()}
    last_B11 = np.full((len(terms_BK), 1, 1), task.N - 1)
    return Truth(batch.targets[:, -1:], labels, {SELF: last_B11})


def _fuzzylogic(query: str | None, task: Any) -> Subject:
    """Return sequences that share what the protocol says; None for what the board's share."""
    task = task if query is None else replace(task, query=query)
    decoded = tuple(map(term_label, task.partition.seen.tolist()))
    truth = partial(fuzzylogic_truth, task)
    return Subject(query or BOARD, task, (SELF,), np.array([0]), decoded, truth, 16_384)


# The table ------------------------------------------------------------------------------------------

PROTOCOLS: Mapping[str, Mapping[str, Callable[[Any], Subject]]] = {
    "sraven": {BOARD: _sraven},
    "fuzzylogic": {query or BOARD: partial(_fuzzylogic, query) for query in (None, *QUERIES)},
}
"""What makes the subject of a task, by the names of task and protocol."""


def subject_of(task: Task, protocol: str = BOARD) -> Subject:
    """Return a task as its codes are analysed.

    Args:
        task: of the run's board.
        protocol: a name of `PROTOCOLS`.

    Raises:
        ConfigurationError: (a ValueError) for a task without analysis, or a protocol that it doesn't have.
    """
    if task.name not in PROTOCOLS:
        raise ConfigurationError(
            f"task {task.name!r} has no analysis of latent codes; expected one of {', '.join(PROTOCOLS)}"
        )
    protocols = PROTOCOLS[task.name]
    return protocols[check_choice("protocol", protocol, tuple(protocols))](task)
