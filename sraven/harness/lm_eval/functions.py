"""Functions that the tasks of lm-eval call: questions made on the fly, and exact verdicts.

lm-eval loads this file from beside the tasks, by ``!function``.
"""

from typing import Any

from datasets import Dataset

from sraven.core.base.errors import ConfigurationError
from sraven.harness.questions import count_sets, floors, make_questions, pose, pose_board, verdict
from sraven.text.questions import Questions

_OPTIONS = ("M", "K", "form", "shots", "answers", "count")


def questions(puzzle_seed: int = 0, **metadata: Any) -> dict[str, Dataset]:
    """Return the questions of a task, as split ``test``.

    Args:
        puzzle_seed: of the instances. It isn't called seed, since the arguments of the model come here, too.
        metadata: options of `sraven.harness.questions.make_questions`, among all else that lm-eval hands in;
            or the ``board`` whose questions these are, with ``form`` and ``shots``.
    """
    options = {name: metadata[name] for name in _OPTIONS if name in metadata}
    if board := metadata.get("board"):
        if others := sorted(options.keys() - {"form", "shots"}) + ["puzzle_seed"] * bool(puzzle_seed):
            raise ConfigurationError(f"{board} says which questions there are; leave {others[0]} out")
        rungs, posed = pose_board(board, **options)
        highest = {rung.rung: _highest_floor(rung.asked) for rung in rungs}
        rows = [{**each._asdict(), "floor": highest[rung.rung], **rung.set_of(each)} for rung, each in posed]
    else:
        asked = make_questions(**options, seed=puzzle_seed)
        floor = _highest_floor(asked)
        rows = [{**each._asdict(), "floor": floor} for each in pose(asked)]
    return {"test": Dataset.from_list(rows)}


def _highest_floor(asked: Questions) -> float:
    return max(floor.value for floor in floors(asked).values())


def _bounded(doc: dict[str, Any], found: dict[str, float]) -> dict[str, float]:
    """Add the highest floor of the questions, and the ceiling if the prompt says enough for one."""
    ceiling = {} if doc["ceiling"] is None else {"ceiling": doc["ceiling"]}
    return {**found, "floor": doc["floor"], **ceiling}


def judge_reply(doc: dict[str, Any], results: list[str]) -> dict[str, float]:
    """Return the metrics of a reply."""
    return _bounded(doc, verdict(doc["id"], results[0]))


def judge_variant(doc: dict[str, Any], results: list[str]) -> dict[str, Any]:
    """Return the metrics of a reply to a variant of a puzzle, those of its set as what they are made of."""
    found = judge_reply(doc, results)
    solved = doc["set"], doc["variants"], found["lenient_valid"]
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
