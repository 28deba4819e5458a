"""Sets of twins of several levels, as one task for language models."""

from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sraven.core.roles import References, Scoring, Wording
from sraven.task import SRAVEN, Batch as Puzzles
from sraven.text import task as ladder
from sraven.text.task import Edition, Ladder
from sraven.twins.task import TwinBatch, Variant

FIRST_FORM = "told2"
"""The form in which all variants are asked but those of another notation."""

NOTATION = "notation"
"""The kind of the twins that are the first puzzle in another notation."""

NOTATIONS = ("told2words", "told2json", "told2last")
"""The forms in which the first puzzle is asked once more. None changes."""

_LEVEL_STRIDE = 1 << 20
"""More combinations than a level has: those of different levels get different numbers."""


class Batch(ladder.Batch):
    """Questions of sets, as C-contiguous NumPy arrays; ``rung`` numbers the variants of all levels.

    Attributes:
        set: int64 ``[n]``, the number of its set; levels take turns.
        combination: int32 ``[n]``, number of its combination of rules among those of all levels.
    """

    __slots__ = ()

    set: NDArray[np.int64]
    combination: NDArray[np.int32]


@dataclass(frozen=True)
class TwinLadder(Ladder):
    """Sets of twins at several levels, to be asked in words.

    A set is a puzzle, certified twins of it by columns, rows, values and negation, one of each, and the
    puzzle in the notations of `NOTATIONS`. A single feature has no columns: at M=1 there is a second twin by
    values in place of that, so that all sets have as many variants. Sets of all levels take turns, and a set
    is asked as a whole before the next.

    What a ladder calls a rung is here one variant of one level: rung ``level * variants + variant``.

    Attributes:
        rungs: the levels by name, such as ``M4-K8``.
        size: sets of each.
        holdout: of the levels with several features.
        seed: of all levels.
        version: of the benchmark, by keyword; the newest unless another one is given.

    Raises:
        ConfigurationError: (a ValueError) for a value out of range.
    """

    name: ClassVar[str] = "sraven-text-twins"
    fewest_shots: ClassVar[int] = 0

    rungs: tuple[str, ...] = tuple(f"M{M}-K8" for M in range(1, 5))
    size: int = 500
    shots: ClassVar[int] = 0  # type: ignore[misc]  # no field any more
    edition: ClassVar[int] = 2  # type: ignore[misc]

    @property
    def config_name(self) -> str:
        """Short name of the configuration, such as ``ladder-4x500-twins``."""
        return f"{super().config_name}-twins"

    @property
    def presentation(self) -> Edition:
        """How the questions are put."""
        return Edition(True, {"told": FIRST_FORM})

    @cached_property
    def tasks(self) -> tuple[Variant, ...]:
        """The task of each rung: one variant of the sets of a level."""
        return tuple(chain(*(_variants(self._make_task(rung)) for rung in self.rungs)))

    @property
    def variants(self) -> int:
        """Variants of a set."""
        return len(self.tasks) // len(self.rungs)

    def forms_of(self, form: str) -> tuple[str, ...]:
        """Return in which of `FORMS` each variant of each level is asked, given a board's name of it."""
        usual = super().forms_of(form)[: self.variants - len(NOTATIONS)]
        return (*usual, *NOTATIONS) * len(self.rungs)

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """The kind of variants that each rung has."""
        return tuple(
            NOTATION if form in NOTATIONS else task.kinds[task.variant]
            for form, task in zip(self.forms_of("told"), self.tasks, strict=True)
        )

    @property
    def part_names(self) -> tuple[str, ...]:
        """What each rung is called, such as ``M4-K8.3-values`` and ``M4-K8.6-told2json``."""
        names = zip(self.forms_of("told"), self.kinds, strict=True)
        return tuple(
            f"{self.rungs[rung // self.variants]}.{rung % self.variants}-{form if kind == NOTATION else kind}"
            for rung, (form, kind) in enumerate(names)
        )

    def empty_batch(self, count: int) -> Batch:
        """Return a batch for ``count`` questions, without any symbols."""
        arrays = tuple(super().empty_batch(count))
        return Batch._make((*arrays, np.zeros(count, np.int64), np.zeros(count, np.int32)))

    def write_rung(self, found: Puzzles, rung: int, batch: ladder.Batch, rows: NDArray[np.int64]) -> None:
        """Write instances of a rung's task into rows of a batch of questions."""
        assert isinstance(found, TwinBatch) and isinstance(batch, Batch)
        super().write_rung(found, rung, batch, rows)
        level = rung // self.variants
        batch.set[rows] = found.set * len(self.rungs) + level
        batch.combination[rows] = found.combination + level * _LEVEL_STRIDE

    # Roles

    @property
    def scoring(self) -> Scoring:
        """How predictions are scored."""
        from sraven.text.twins.roles import TwinLadderScoring

        return TwinLadderScoring(self)

    @property
    def references(self) -> References:
        """What scores are read against: reference predictors and the ideal observer."""
        from sraven.text.twins.roles import TwinLadderReferences

        return TwinLadderReferences(self)

    @property
    def wording(self) -> Wording:
        """The questions in words, and replies read."""
        from sraven.text.twins.roles import TwinLadderWording

        return TwinLadderWording(self)


def _variants(task: SRAVEN) -> tuple[Variant, ...]:
    """Return the variants of a level, given its setting: those of the sets, then the first once more."""
    drawn: dict[str, Any] = {name: getattr(task, name) for name in ("M", "K", "holdout", "seed", "version")}
    drawn |= {"by_columns": int(task.M > 1), "by_rows": 1, "by_values": 1 + (task.M == 1), "by_negation": 1}
    first = Variant(**drawn)
    others = (Variant(**drawn, variant=variant) for variant in range(1, first.size))
    return (first, *others, *[first] * len(NOTATIONS))
