"""Puzzles as text as a family of tasks: boards on which language models reply; its datasets are SRAVEN's."""

from typing import Any

from sraven.core.family import Family


def _task(**settings: Any) -> Any:
    from sraven.text.task import Ladder

    return Ladder(**settings)


FAMILY = Family(
    name="sraven-text",
    package="sraven.text",
    task=_task,
    nouns="questions",
)
