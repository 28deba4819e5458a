"""A dataset of twins: its columns, the checks of `sraven verify`, and what its card says."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sraven.core.roles import Arrays, Column, Description, row_faults
from sraven.describe import describe, splits_section
from sraven.record import SRAVENRows

if TYPE_CHECKING:
    from sraven.twins.task import Twins


@dataclass(frozen=True)
class TwinsRows(SRAVENRows):
    """The instances of a task as rows of a dataset.

    Attributes:
        task: the task.
    """

    task: "Twins"

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of a dataset."""
        *instance, num_answers = super().columns
        return (
            *instance,
            Column("set", "int64", (), f"number of the set: index // {self.task.size}"),
            Column("variant", "uint8", (), f"number in the set: index % {self.task.size}"),
            num_answers,
        )

    def find_faults(self, split: str, arrays: Arrays) -> list[str]:
        """Return what is wrong with rows read from a dataset, a line for each kind of fault."""
        sets, variants = np.divmod(arrays["index"], self.task.size)
        right = {
            "set and variant aren't those of the index": (arrays["set"] == sets)
            & (arrays["variant"] == variants),
            "there are several answers": arrays["num_answers"] == 1,
        }
        return super().find_faults(split, arrays) or row_faults(arrays, right)

    def remark(self, tallies: Mapping[str, Any]) -> str:
        """Return what to print behind a split's size: how many sets there are, the last one in part."""
        return f", {sum(tallies['instances']) / self.task.size:,.1f} sets"

    def describe(self, tallies: Mapping[str, Arrays]) -> Description:
        """Return the texts of a dataset card: those of SRAVEN with one answer, and what sets are."""
        task = self.task
        kinds = ", ".join(f"{count} {kind}" for kind, count in task.counts.items())
        known = {split: len(task.drawn_combinations(split)) for split in task.splits}
        drawn = ", ".join(f"{count:,} of `{split}`" for split, count in known.items())
        return replace(
            describe(task, tallies),
            title=f"SRAVEN twins (M={task.M}, K={task.K}, {task.size} variants of a puzzle)",
            body=(
                f"## Sets\n\nEach {task.size} rows with the same `set` are variants of one puzzle ({kinds}), "
                f"each with exactly one answer.\n\n{splits_section(task)} First puzzles are drawn from those "
                f"combinations whose negation is on the same side: {drawn}."
            ),
            biases=(
                "A puzzle is drawn again if one of its twins has several answers, so combinations that are "
                "ambiguous more often occur less often."
            ),
        )
