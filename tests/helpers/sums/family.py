"""The sums as a family of tasks."""

from helpers.sums.task import Sums
from sraven.core.family import Family, Size

FAMILY = Family(
    name="sums",
    package="helpers.sums",
    task=Sums,
    settings=Sums,
    sizes={
        "train": Size(2_000, "Instances of known weights."),
        "test": Size(200, "New instances of known weights."),
        "ood": Size(200, "Instances of held-out weights."),
    },
    examples={"sums": {"P": 11, "N": 3, "holdout": 0.5, "seed": 5}},
)
