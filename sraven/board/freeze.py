"""Making the files of boards, for maintainers: definitions in, frozen boards out."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from sraven.board.ceilings import FIRST_DEFINITION, PLACES, measure_splits, rounded
from sraven.board.content import find_fault
from sraven.board.reference_levels import boards_folder
from sraven.core.arguments import check_choice
from sraven.core.digests import digest_prompts, digest_split
from sraven.core.errors import BoardError, ConfigurationError
from sraven.core.families import make_board_task
from sraven.core.roles import TEXT, Column, Task
from sraven.files.files import compact_json, read_bounded, write_text

TRAIN_DIGESTED = 1 << 20
"""Instances of the training split that a board's digests cover."""


def read_definitions(path: Path, ids: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Return the definitions of boards in a YAML file, those with the given ids or all.

    Raises:
        ConfigurationError: if it isn't such a file, or lacks one of them.
    """
    try:
        boards = {board["id"]: board for board in yaml.safe_load(read_bounded(path))["boards"]}
    except (yaml.YAMLError, KeyError, TypeError, ValueError, RecursionError) as error:
        problem = " ".join(str(error).split())
        raise ConfigurationError(f"{path} isn't a list of definitions of boards: {problem}") from None
    for board_id in ids:
        check_choice("the board", board_id, tuple(boards))
    return [boards[board_id] for board_id in ids or boards]


def _reported(definition: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the figures that a paper reports, each with its source."""
    return [
        {
            "seeds": definition["reference_seeds"],
            "train_instances": definition["train_budget"],
            "source": definition["reference_source"],
            "paper": definition["reference_paper"],
            "notes": definition["reference_notes"],
            **row,
        }
        for row in definition.get("reference", [])
    ]


def _worded(task: Task, split: str, size: int) -> dict[str, Any]:
    """Return what a board says of its prompts and rungs; nothing where predictions are numbers."""
    wording = task.wording
    if wording is None:
        return {}
    return {
        "prompts": {form: digest_prompts(wording.prompts(split, size, form)) for form in wording.forms},
        "rungs": [
            {
                **level._asdict(),
                "settings": dict(level.settings),
                "floors": {name: round(value, PLACES) for name, value in level.floors.items()},
                "ceilings": {name: rounded(mean) for name, mean in level.ceilings.items()},
            }
            for level in wording.levels(split, size, None)
        ],
    }


def make_board(definition: Mapping[str, Any], *, train_digested: int = TRAIN_DIGESTED) -> dict[str, Any]:
    """Return the file of a board: its definition, with all that follows from it.

    Args:
        definition: id, title, series, configuration, sizes of the scored splits, budgets in
            instances, primary metric and split, and reported figures, as in ``docs/leaderboard/boards.yaml``.
        train_digested: instances of the training split that its digests cover.

    Raises:
        ConfigurationError: if it isn't a definition of a board.
    """
    try:
        task, sizes = make_board_task(definition["config"]), definition["sizes"]
        scoring, newest = task.scoring, max(task.references.answers)
        covered = {"train": train_digested, **sizes} if "train" in task.splits else sizes
        submitted = Column("prediction", TEXT, (), "") if task.wording else scoring.prediction
        content: dict[str, Any] = {
            "schema": 1,
            **{name: definition[name] for name in ("id", "version", "title", "series")},
            "task": task.name,
            "config": dict(task.config),
            "labels": "generated",
            "prediction": {"dtype": submitted.dtype, "shape": list(submitted.shape)},
            **{name: definition[name] for name in ("train_budget", "train_budgets")},
            "metric": check_choice("metric", definition["metric"], tuple(scoring.metrics)),
            "primary_split": check_choice("primary_split", definition["primary_split"], tuple(sizes)),
            "higher_is_better": scoring.metrics[definition["metric"]].higher_is_better,
            "metrics": list(scoring.metrics),
            "ceiling": measure_splits(task.references.ceilings, sizes),
            **({} if newest == FIRST_DEFINITION else {"ceiling_definition": newest}),
            "reference": _reported(definition),
            **_worded(task, definition["primary_split"], sizes[definition["primary_split"]]),
            "splits": {split: digest_split(task, split, size) for split, size in covered.items()},
            "held_out": {split: task.combinations(split).tolist() for split in sizes if split != "test"},
        }
    except KeyError as error:
        raise ConfigurationError(f"the definition of board {definition.get('id')!r} lacks {error}") from None
    if fault := find_fault(content):
        raise ConfigurationError(f"the definition of board {definition['id']!r}: {fault}")
    return content


def board_path(checkout: Path, content: Mapping[str, Any]) -> Path:
    """Return where the file of a board lies in a checkout.

    Raises:
        OutputError: if there are no boards of its family there.
    """
    return boards_folder(checkout, content["task"]) / f"{content['id']}.json"


def write_board(path: Path, content: Mapping[str, Any]) -> bool:
    """Write a board's file, unless it is there; return whether it was written.

    Raises:
        BoardError: if it is there with other content.
    """
    text = compact_json(content)
    if path.exists():
        if path.read_text("utf-8") == text:
            return False
        raise BoardError(
            f"{path} is another board; released boards never change: choose a new id and version"
        )
    write_text(path, text)
    return True
