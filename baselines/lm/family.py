"""Language modelling on C4 as a family of tasks: a corpus, so it has boards but no datasets."""

from sraven.core.family import Family

FAMILY = Family(
    name="c4",
    package="baselines.lm",
    task="baselines.lm.task:C4",
    scoring="baselines.lm.task:C4Scoring",
    instead=(
        "the text of {task.dataset} isn't part of the benchmark: `sraven c4 prepare` makes its tokens, "
        "`sraven evaluate` the losses to submit"
    ),
    nouns="documents",
)
