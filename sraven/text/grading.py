"""Replies held against their instances: what is parsed, what is the target, what is valid."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sraven.arguments import check_context, check_symbols
from sraven.core.errors import ConfigurationError
from sraven.rules import RULES, Rules
from sraven.text.replies import parse

if TYPE_CHECKING:
    from sraven.task import Batch


@dataclass(frozen=True)
class Grades:
    """The verdicts on n replies.

    Attributes:
        panels: uint8 ``[n, M]``, what was answered; zeros where nothing was.
        parsed: bool ``[n]``, whether a reply answers at all. One that doesn't is wrong.
        target: bool ``[n]``, whether it answers the target.
        valid: bool ``[n]``, whether it answers one of all panels that fit, the target or another. On
            instances with one answer it is the same as ``target``.
    """

    panels: NDArray[np.uint8]
    parsed: NDArray[np.bool_]
    target: NDArray[np.bool_]
    valid: NDArray[np.bool_]


def grade(
    replies: Sequence[object],
    batch: "Batch",
    K: int,
    *,
    permute: bool = True,
    rules: Rules = RULES,
    reading: str = "strict",
    threads: int | None = None,
) -> Grades:
    """Grade replies to the prompts of a batch, exactly.

    Args:
        replies: n texts, each to the instance of the same number; None for one that there isn't.
        batch: the instances; of its arrays, ``context`` and ``target`` are read.
        K: number of symbols.
        permute: whether columns may show the features in different orders.
        rules: the rules that there are, as ``task.rules``; the paper's unless others are given.
        reading: ``strict`` or ``lenient``, see `sraven.text.parse`.
        threads: threads to use; None for all available ones.

    Raises:
        ConfigurationError: if there aren't as many replies as instances, or symbols are out of range.
        CapacityError: if an instance has too many explanations for an exact verdict.
    """
    contexts, K = check_context(batch.context, K)
    n, _, M = contexts.shape
    targets = check_symbols("target", batch.target, (n, M), K)
    if len(replies) != n:
        raise ConfigurationError(
            f"{len(replies):,} replies for {n:,} instances; expected one for each, None where there is none"
        )
    read = [parse(reply, M, K, reading) for reply in replies]
    parsed = np.array([panel is not None for panel in read], np.bool_)
    panels = np.array([panel or (0,) * M for panel in read], np.uint8).reshape(n, M)
    target = parsed & (panels == targets).all(axis=1)
    valid = target.copy()
    asked = np.flatnonzero(parsed & ~target)  # the target is valid by the way instances are made
    if len(asked):
        from sraven.certificates.ambiguity import is_answer  # compiles; prompts alone don't need it

        valid[asked] = is_answer(
            contexts[asked], panels[asked], K, permute=permute, rules=rules, threads=threads
        )
    return Grades(panels, parsed, target, valid)
