"""Twins as a family of tasks: where all that the core and the commands ask of it is."""

from typing import Any

from sraven.core.family import Family, Help, Size
from sraven.family import FAMILY as SRAVEN
from sraven.twins.settings import TwinSettings


def _task(**settings: Any) -> Any:
    from sraven.twins.task import Twins

    return Twins(**settings)


FAMILY = Family(
    name="sraven-twins",
    package="sraven.twins",
    group="twins",
    task=_task,
    settings=TwinSettings,
    nouns="twins",
    resampled="sets",
    summary="SRAVEN in sets of twins: generate, show.",
    text="""
    Sets of certified variants of one puzzle, to see whether who solves it solves them all.

    Instance i is variant i % V of set i // V, where V is the number of variants of a set.
    """,
    helps={
        "generate": Help(
            "Write a dataset of twins that load_dataset loads.",
            """Write a dataset of sets of twins; sizes count variants, of which a set has 12 by default.

            \b
            Example:
              sraven twins generate --M 4 --K 8 --holdout 0.25
              sraven twins generate --columns 2 --rows 0 --values 0 --negated 0 --ood 3_000 --out pairs
            """,
        ),
        "show": Help(
            "Look at twins, with their rules and answers.",
            """Show variants of puzzles: colours stand for symbols, and with --explain for features.

            \b
            Example:
              sraven twins show --split ood --count 12
              sraven twins show --explain
            """,
        ),
    },
    sizes={
        "train": Size(1_200_000, "Variants of puzzles of known combinations."),
        "test": Size(49_152, "Variants of new puzzles of known combinations."),
        "ood": Size(49_152, "Variants of puzzles of held-out combinations."),
    },
    show=SRAVEN.show,
    examples={
        "twins": {"M": 3, "K": 7, "holdout": 0.3, "seed": 5},
        "pairs": {"M": 2, "K": 11, "holdout": 0.3, "seed": 5, "by_columns": 0, "by_rows": 0, "by_values": 1},
    },
)
