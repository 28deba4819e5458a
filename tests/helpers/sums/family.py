"""The sums as a family of tasks."""

from sraven.core.family import Family, Show, Size

FAMILY = Family(
    name="sums",
    package="helpers.sums",
    task="helpers.sums.task:Sums",
    rows="helpers.sums.rows:SumsRows",
    scoring="helpers.sums.scoring:SumsScoring",
    references="helpers.sums.scoring:SumsReferences",
    sizes={
        "train": Size(2_000, "Instances of known weights."),
        "test": Size(200, "New instances of known weights."),
        "ood": Size(200, "Instances of held-out weights."),
    },
    show=Show("helpers.sums.show", explain="Show the sum and the weights."),
    measure="helpers.sums.show:measure",
    encoding="helpers.sums.learning:encode",
    recipe="helpers.sums.learning:RECIPE",
    examples={"sums": {"P": 11, "N": 3, "holdout": 0.5, "seed": 5}},
)
