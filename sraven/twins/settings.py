"""The configuration of twins: its fields, their defaults and what they mean. Commands make options of it."""

from dataclasses import dataclass
from typing import ClassVar

from sraven.core.spec import setting
from sraven.settings import Settings


@dataclass(frozen=True)
class TwinSettings(Settings):
    """The fields of `sraven.twins.Twins`: those of SRAVEN, but for those that twins leave no choice."""

    answers: ClassVar[str] = "unique"  # type: ignore[misc]  # no field any more
    permute: ClassVar[bool] = True  # type: ignore[misc]
    rule_set: ClassVar[str] = "paper"  # type: ignore[misc]  # minimum and maximum have no negation

    by_columns: int = setting(4, "Twins with other orders of the features.", option="columns")
    by_rows: int = setting(2, "Twins with another row asked for, 0 to 2.", option="rows")
    by_values: int = setting(4, "Twins with other values under the same rules.", option="values")
    by_negation: int = setting(1, "Twins with -x in place of every symbol x, 0 or 1.", option="negated")
