"""Functions that the tasks of lm-eval call: questions made on the fly, and exact verdicts.

lm-eval loads this file from beside the tasks, by ``!function``.
"""

from typing import Any

from datasets import Dataset

from sraven.core.errors import ConfigurationError
from sraven.harness.questions import count_sets, floor, make_questions, pose, pose_board, verdict

_OPTIONS = ("M", "K", "form", "shots", "answers", "count")


def questions(puzzle_seed: int | None = None, **metadata: Any) -> dict[str, Dataset]:
    """Return the questions of a task, as split ``test``.

    Args:
        puzzle_seed: of the instances; of a board, to draw its mixture of questions anew. It isn't called
            seed, since the arguments of the model come here, too.
        metadata: options of `sraven.harness.questions.make_questions`, among all else that lm-eval hands in;
            or the ``board`` whose questions these are, with ``form`` and ``shots``.
    """
    options = {name: metadata[name] for name in _OPTIONS if name in metadata}
    if board := metadata.get("board"):
        if others := sorted(options.keys() - {"form", "shots"}):
            raise ConfigurationError(f"{board} says which questions there are; leave {others[0]} out")
        mixture, posed = pose_board(board, fresh=puzzle_seed, **options)
        levels = [name.partition(".")[0] for name in mixture.levels]
        floors = dict(zip(levels, map(floor, mixture.sets), strict=True))
        rows = [{**each._asdict(), **place, "floor": floors[place["level"]]} for each, place in posed]
    else:
        asked = make_questions(**options, seed=puzzle_seed or 0)
        copied = floor(asked)
        rows = [{**each._asdict(), "floor": copied} for each in pose(asked)]
    return {"test": Dataset.from_list(rows)}


def judge_reply(doc: dict[str, Any], results: list[str]) -> dict[str, Any]:
    """Return the metrics of a reply; of a board, ``accuracy`` once more by the name of its level."""
    found: dict[str, Any] = verdict(doc["id"], results[0])
    if "level" in doc:
        found[doc["level"]] = found["accuracy"]
    ceiling = {} if doc["ceiling"] is None else {"ceiling": doc["ceiling"]}
    return {**found, "floor": doc["floor"], **ceiling}


def judge_variant(doc: dict[str, Any], results: list[str]) -> dict[str, Any]:
    """Return the metrics of a reply to a variant of a puzzle, those of its set as what they are made of."""
    found = judge_reply(doc, results)
    solved = doc["set"], doc["variants"], found["accuracy"]
    return {**found, "pass_any": solved, "pass_mean": solved, "pass_all": solved}


def pass_any(solved: list[tuple[str, int, float]]) -> float:
    """Return the share of sets that are solved in any variant."""
    return count_sets(solved)["pass_any"]


def pass_mean(solved: list[tuple[str, int, float]]) -> float:
    """Return the mean share of the variants of a set that are solved."""
    return count_sets(solved)["pass_mean"]


def pass_all(solved: list[tuple[str, int, float]]) -> float:
    """Return the share of sets that are solved in all variants."""
    return count_sets(solved)["pass_all"]
