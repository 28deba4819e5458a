"""Puzzles as text as a family of tasks: boards on which language models reply; its datasets are SRAVEN's."""

from sraven.core.family import Family

FAMILY = Family(
    name="sraven-text",
    package="sraven.text",
    task="sraven.text.task:Ladder",
    scoring="sraven.text.scoring:LadderScoring",
    references="sraven.text.references:LadderReferences",
    wording="sraven.text.wording:LadderWording",
    instead=(
        "{task.name} has no datasets: `sraven text generate` writes its prompts, and `sraven generate "
        "--answers unique` the puzzles of one setting"
    ),
    nouns="questions",
)
