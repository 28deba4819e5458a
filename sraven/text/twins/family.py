"""Twins as text as a family of tasks: boards on which language models reply to sets of questions."""

from typing import Any

from sraven.core.family import Family


def _task(**settings: Any) -> Any:
    from sraven.text.twins.task import TwinLadder

    return TwinLadder(**settings)


FAMILY = Family(
    name="sraven-text-twins",
    package="sraven.text.twins",
    task=_task,
    nouns="questions",
    resampled="sets",
)
