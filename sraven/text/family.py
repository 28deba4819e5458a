"""Puzzles as text as families of tasks: boards on which language models reply; datasets are SRAVEN's."""

from typing import Any

from sraven.core.family import Family


def _task(**settings: Any) -> Any:
    from sraven.text.task import Ladder

    return Ladder(**settings)


def _twins(**settings: Any) -> Any:
    from sraven.text.twins.task import TwinLadder

    return TwinLadder(**settings)


FAMILY = Family(name="sraven-text", package="sraven.text", task=_task, nouns="questions")

TWINS = Family(
    name="sraven-text-twins", package="sraven.text.twins", task=_twins, nouns="questions", resampled="sets"
)
