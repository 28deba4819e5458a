"""Twins as text as a family of tasks: boards on which language models reply to sets of questions."""

from sraven.core.family import Family

FAMILY = Family(
    name="sraven-text-twins",
    package="sraven.text.twins",
    task="sraven.text.twins.task:TwinLadder",
    scoring="sraven.text.twins.scoring:TwinLadderScoring",
    references="sraven.text.twins.references:TwinLadderReferences",
    wording="sraven.text.twins.wording:TwinLadderWording",
    instead=(
        "{task.name} has no datasets: `sraven text generate --board` writes its prompts, and `sraven twins "
        "generate` the sets of one level"
    ),
    nouns="questions",
    resampled="sets",
)
