"""What the tasks of lm-eval call: questions made on the fly, and exact verdicts.

lm-eval loads this file from beside the tasks, by ``!function``.
"""

from typing import Any

from datasets import Dataset

from sraven.harness.questions import ask, make_questions, verdict

_OPTIONS = ("M", "K", "form", "shots", "answers", "count")


def questions(puzzle_seed: int = 0, **metadata: Any) -> dict[str, Dataset]:
    """Return the questions of a task, as split ``test``.

    Args:
        puzzle_seed: of the instances. It isn't called seed, since the arguments of the model come here, too.
        metadata: options of `sraven.harness.questions.make_questions`, among all else that lm-eval hands in.
    """
    options = {name: metadata[name] for name in _OPTIONS if name in metadata}
    asked = make_questions(**options, seed=puzzle_seed)
    return {"test": Dataset.from_list([question._asdict() for question in ask(asked)])}


def process_results(doc: dict[str, Any], results: list[str]) -> dict[str, float]:
    """Return the metrics of a reply, and the ceiling of its instance if the prompt tells enough for one."""
    found = verdict(doc["id"], results[0])
    return found if doc["ceiling"] is None else {**found, "ceiling": doc["ceiling"]}
