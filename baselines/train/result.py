"""The result of a run: `result.json` in its directory, written when training ends, and by evaluation.

All of it is read off the run's own files: configuration, log and records of who trained it. So it can be
written again at any time, and for runs of earlier versions as well.
"""

import json
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from baselines.config import LanguageConfig, RunConfig, TextRecipe, find_board
from baselines.train.code import imported_by
from baselines.train.command import train_command
from baselines.train.log import INSTANCES, SCORES, Scores, read_log
from baselines.train.provenance import read_provenance
from sraven.core.errors import OutputError
from sraven.core.spec import values_of
from sraven.files.files import read_bounded, write_json
from sraven.files.jsonable import as_json

RESULT, SCHEMA = "result.json", 1

WHILE_TRAINING, EVALUATION = "while training", "evaluation"
"""Where scores are from: the last ones of the log, on a slice; or `sraven evaluate`, on whole splits."""

LAST_STEPS = 1000
"""Steps at the end whose mean loss is reported."""


def write_result(folder: Path, config: RunConfig, diverged: int | None = None) -> None:
    """Write the result of a run when its training ends, in place of what was there.

    Args:
        folder: of the run.
        config: of it.
        diverged: the last step whose loss was a number, if a later one's wasn't.
    """
    write_json(folder / RESULT, result_of(folder, config, diverged))


def result_of(folder: Path, config: RunConfig, diverged: int | None = None) -> dict[str, Any]:
    """Return the result of a run, by its other files.

    Scores of an evaluation are those of the result that is there, if it is of the same run.

    Args:
        folder: of the run, whose training has ended.
        config: of it.
        diverged: the last step whose loss was a number, if a later one's wasn't.

    Raises:
        OutputError: if its log, or a record of who trained it, can't be read.
    """
    lines = [json.loads(line) for line in read_log(folder)]
    board = find_board(config.board)
    done = config.steps if diverged is None else diverged
    return {
        "schema": SCHEMA,
        "configuration": values_of(config),
        "digest": config.digest,
        "benchmark_version": board.version if isinstance(board, TextRecipe) else board.task.version,
        "command": train_command([config], imported_by(folder, config)),
        "steps": {"planned": config.steps, "done": done},
        "diverged": diverged,
        "seconds": _seconds(lines, config),
        "loss": _last_loss(lines),
        "trained_by": read_provenance(folder),
        "scores": _evaluated(folder, config, done) or _last_scores(config, lines),
    }


def add_evaluation(
    folder: Path, config: RunConfig, scores: Scores, instances: Mapping[str, int], corpus: str | None = None
) -> None:
    """Write the scores of a finished run on whole splits into its result.

    Args:
        folder: of the run.
        config: of it.
        scores: by split and metric.
        instances: of each split.
        corpus: digest of the documents that they are of, for text.
    """
    if not (folder / RESULT).is_file():
        write_result(folder, config)
    section = _section(config, EVALUATION, config.steps, scores, instances)
    named = {"corpus": corpus} if corpus else {}
    write_json(folder / RESULT, {**read_result(folder), "scores": {**section, **named}})


def read_result(folder: Path) -> dict[str, Any]:
    """Return the result of a run.

    Raises:
        OutputError: if there is no result, or it can't be read.
    """
    path = folder / RESULT
    try:
        found = json.loads(read_bounded(path))
        if not isinstance(found, dict) or found.get("schema") != SCHEMA:
            raise ValueError(f"expected an object with schema {SCHEMA}")
    except FileNotFoundError:
        raise OutputError(f"{folder} has no {RESULT}; training writes it when it ends") from None
    except (OSError, ValueError, RecursionError) as error:
        raise OutputError(f"{path} can't be read ({error}); remove it, and train or evaluate again") from None
    return found


def diverged_at(folder: Path) -> int | None:
    """Return the last step whose loss was a number, of a run that diverged; None for others."""
    try:
        found = read_result(folder).get("diverged")
    except OutputError:
        return None
    return found if isinstance(found, int) else None


def _section(
    config: RunConfig, source: str, step: int, scores: Scores, instances: Mapping[str, float]
) -> dict[str, Any]:
    """Return scores as a result has them; null is what isn't defined."""
    ranked = find_board(config.board).splits
    return {
        "from": source,
        "step": step,
        "instances": dict(instances),
        "unranked": [split for split in scores if split not in ranked],
        "splits": as_json(scores),
    }


def _evaluated(folder: Path, config: RunConfig, done: int) -> dict[str, Any] | None:
    """Return the scores of an evaluation that a result has; None if it has none of this run."""
    try:
        found = read_result(folder)
        same = found["digest"] == config.digest and found["scores"]["step"] == done
        return dict(found["scores"]) if same and found["scores"]["from"] == EVALUATION else None
    except (OutputError, KeyError, TypeError):
        return None


def _last_scores(config: RunConfig, lines: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    scored = [line for line in lines if SCORES in line]
    if not scored:
        return None
    scores = {split: dict(each) for split, each in scored[-1][SCORES].items()}
    instances = {split: each.pop(INSTANCES) for split, each in scores.items() if INSTANCES in each}
    return _section(config, WHILE_TRAINING, scored[-1]["step"], scores, instances)


def _steps_of(lines: Sequence[Mapping[str, Any]]) -> list[int]:
    """Return how many steps each line of a log is of."""
    return [later - earlier for earlier, later in pairwise([0, *(line["step"] for line in lines)])]


def _seconds(lines: Sequence[Mapping[str, Any]], config: RunConfig) -> float | None:
    """Return how long a run's steps took, over all resumptions, by the speeds in its log.

    That is the time from line to line, of compiling, scoring and waiting for data too; evaluation afterwards
    isn't in it. Of several runs in one program, each has its share.
    """
    length = config.length if isinstance(config, LanguageConfig) else 1
    total = 0.0
    for line, steps in zip(lines, _steps_of(lines), strict=True):
        speed = line.get("instances_per_second", line.get("tokens_per_second", 0) / length)
        if not speed:
            return None
        total += steps * config.batch_size / speed
    return round(total, 3) if lines else None


def _last_loss(lines: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Return the mean training loss of the last steps, and of how many it is; None where no line has one."""
    first = lines[-1]["step"] - LAST_STEPS if lines else 0
    pairs = zip(lines, _steps_of(lines), strict=True)
    late = [(steps, line["loss"]) for line, steps in pairs if line["step"] > first and "loss" in line]
    if not late:
        return None
    count = sum(steps for steps, _ in late)
    return {"mean": sum(steps * loss for steps, loss in late) / count, "steps": count}
