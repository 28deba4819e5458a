"""Writing submissions, and filing them under the leaderboard."""

import json
import os
import platform
import re
import shutil
import sys
import tempfile
from collections.abc import Iterable, Mapping
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import ArrayLike, NDArray

from sraven.core.arguments import check_choice, check_integer
from sraven.core.boards import Board, load_board, read_board
from sraven.core.errors import ConfigurationError, OutputError, SubmissionError
from sraven.core.files import compact_json, sha256_of_file, sync_directory, write_text
from sraven.core.schemas import find_problem
from sraven.core.spec import SEED_LIMIT
from sraven.core.submission import (
    DESCRIPTION,
    RANKED_SEEDS,
    README,
    SCORES,
    SUBMISSIONS,
    prediction_path,
    read_description,
    score_submission,
)
from sraven.core.table import to_table
from sraven.core.task import Column
from sraven.core.untrusted import dump_yaml

_INDEX = Column("index", "int64", (), "index of the instance in its split")
_PACKAGES = ("sraven", "numpy", "torch", "jax", "flax", "tensorflow", "scikit-learn", "transformers")


def _environment() -> dict[str, Any]:
    """Return the versions of Python and of the libraries that this process has loaded."""
    found = {}
    for package in _PACKAGES:
        if package.replace("scikit-learn", "sklearn") in sys.modules:
            try:
                found[package] = version(package)
            except PackageNotFoundError:  # imported from a path, not installed
                continue
    return {"python": platform.python_version(), "packages": found}


def _by_seed(split: str, predictions: Any) -> dict[int, ArrayLike]:
    """Return the predictions of a split by seed; a list counts the seeds from 0."""
    if not isinstance(predictions, Mapping | Iterable):
        raise ConfigurationError(f"predictions of {split} is {predictions!r}; expected an array of each seed")
    items = predictions.items() if isinstance(predictions, Mapping) else enumerate(predictions)
    return {check_integer("a seed", seed, 0, SEED_LIMIT): array for seed, array in items}


def _write_run(board: Board, path: Path, predictions: NDArray[Any]) -> str:
    """Write the predictions of a run; return the file's SHA-256."""
    path.parent.mkdir(parents=True, exist_ok=True)
    table = to_table(
        {"index": np.arange(len(predictions)), "prediction": predictions}, [_INDEX, board.prediction]
    )
    floats = predictions.dtype.kind == "f"
    encoding = {"index": "DELTA_BINARY_PACKED"}
    if floats:
        encoding["prediction"] = "BYTE_STREAM_SPLIT"
    dictionary = [] if floats else ["prediction.list.element"]
    pq.write_table(table, path, compression="zstd", use_dictionary=dictionary, column_encoding=encoding)
    return sha256_of_file(path)


def _checked_runs(board: Board, predictions: Any) -> dict[tuple[str, int], NDArray[Any]]:
    """Return the predictions of all runs, by split and seed, as arrays of the board's type."""
    if not isinstance(predictions, Mapping):
        raise ConfigurationError("predictions has no names; expected {split: [array of each seed]}")
    return {
        (split, seed): board.checked_predictions(split, array)
        for split, arrays in predictions.items()
        for seed, array in sorted(_by_seed(split, arrays).items())
    }


def _as_plain(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return a description as YAML can hold it: NumPy's numbers become Python's, tuples lists."""

    def plain(value: Any) -> Any:
        if isinstance(value, np.generic):
            return value.item()
        raise ConfigurationError(
            f"the description of the submission has {value!r}; expected texts and numbers"
        )

    try:
        return dict(json.loads(json.dumps(content, default=plain, allow_nan=False)))
    except ValueError as error:
        if isinstance(error, ConfigurationError):
            raise
        raise ConfigurationError("the description of the submission has NaN or infinity") from None


def write_submission(
    out: str | os.PathLike[str],
    board: str,
    predictions: Mapping[str, Any],
    *,
    method: Mapping[str, Any],
    model: Mapping[str, Any],
    training: Mapping[str, Any],
    claimed: Mapping[str, Mapping[str, float]] | None = None,
    readme: str = "",
) -> None:
    """Write the directory of a submission, whole or not at all.

    Args:
        out: a directory that doesn't exist yet.
        board: id of the board, such as ``sraven-v1``.
        predictions: for each scored split, the predictions of each seed: a list of arrays (seeds
            0, 1, ...) or arrays by seed. An array has the whole split in the order of its
            indices: integers ``[n, M]`` for SRAVEN, floats ``[n]`` for fuzzy logic.
        method: ``name``, ``description`` and ``authors`` (a list); if you like ``family``,
            ``paper``, ``code``, ``code_commit``, ``license``.
        model: ``parameters`` (their number); if you like ``layers``, ``heads``, ``width``.
        training: ``instances`` (how many were seen, repeats included), ``selection_split`` (by
            which split hyperparameters were chosen); ``extra_data`` if there was any; if you like
            ``optimiser``, ``tuning_trials``, ``hardware``, ``seconds``. ``used_ood`` must be False.
        claimed: your own scores by split and metric, to be compared with the recomputed ones.
        readme: free text in Markdown.

    Raises:
        ConfigurationError: for predictions of a wrong shape, type or value, or a description that
            isn't allowed. Nothing is written then.
        OutputError: if ``out`` exists.
    """
    goal = Path(out)
    if os.path.lexists(goal):
        raise OutputError(f"{goal} exists; choose another directory for the submission")
    for name, value in (("method", method), ("model", model), ("training", training)):
        if not isinstance(value, Mapping):
            raise ConfigurationError(f"{name} is {value!r}; expected names and values")
    loaded = load_board(board)
    arrays = _checked_runs(loaded, predictions)
    content: dict[str, Any] = {
        "schema": 1,
        "board": loaded.id,
        "board_digest": loaded.digest,
        "method": method,
        "model": model,
        "training": {"extra_data": None, "used_ood": False, **training},
        "runs": [
            {"seed": seed, "split": split, "file": prediction_path(split, seed), "sha256": "0" * 64}
            for split, seed in arrays
        ],
        "environment": _environment(),
    }
    content = _as_plain(content | ({"claimed": claimed} if claimed else {}))
    if problem := find_problem(content, "submission"):
        raise ConfigurationError(f"the description of the submission: {problem}")
    goal.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=goal.parent, prefix=".submission-") as name:
        folder = Path(name) / "new"
        folder.mkdir()
        for entry, array in zip(content["runs"], arrays.values(), strict=True):
            entry["sha256"] = _write_run(loaded, folder / entry["file"], array)
        write_text(folder / DESCRIPTION, dump_yaml(content))
        write_text(folder / README, readme or f"# {method['name']}\n\n{method['description']}\n")
        os.replace(folder, goal)
    sync_directory(goal.parent)


def write_reference(out: str | os.PathLike[str], board: str, name: str) -> None:
    """Write the submission of a reference predictor, through the same door as any other.

    Args:
        out: a directory that doesn't exist yet.
        board: id of the board.
        name: of the predictor.

    Raises:
        ConfigurationError: if there is no such board or predictor.
        OutputError: if ``out`` exists.
    """
    loaded = read_board(board)
    references = loaded.task.scoring.references
    reference = references[check_choice("the reference", name, tuple(references))]
    seeds = range(RANKED_SEEDS if reference.random else 1)
    write_submission(
        out,
        board,
        {
            split: [reference.predict(split, size, seed) for seed in seeds]
            for split, size in loaded.splits.items()
        },
        method={
            "name": name,
            "family": "reference",
            "description": reference.description,
            "authors": ["The SRAVEN maintainers"],
            "license": "Apache-2.0",
        },
        model={"parameters": 0},
        training={"instances": reference.instances, "selection_split": None},
        readme=f"# {name}\n\n{reference.description}\n\nWritten by `sraven reference {board} {name}`.\n",
    )


def slug(name: str) -> str:
    """Return a name in lower-case letters, digits and hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:60] or "method"


def file_submission(
    folder: str | os.PathLike[str], leaderboard: Path, *, day: date | None = None, threads: int | None = None
) -> Path:
    """Validate and score a submission, and copy it with its scores under the leaderboard.

    Args:
        folder: the submission.
        leaderboard: the leaderboard's folder, ``docs/leaderboard`` of a checkout.
        day: its date; None for today (UTC).
        threads: threads to use; None for all available ones.

    Returns:
        where it lies: ``<leaderboard>/submissions/<board>/<YYYYMMDD>-<name>``.

    Raises:
        SubmissionError: if it is refused.
        OutputError: if there is no leaderboard, or already such an entry.
    """
    source = Path(folder)
    if not leaderboard.is_dir():
        raise OutputError(f"{leaderboard} isn't a directory; run this in a checkout, or name it")
    scores = score_submission(source, threads=threads)
    content, _ = read_description(source)
    stamp = f"{day or _today():%Y%m%d}"
    goal = leaderboard / SUBMISSIONS / str(scores["board"]) / f"{stamp}-{slug(content['method']['name'])}"
    if goal.exists():
        raise OutputError(f"{goal} exists; give the method another name, or remove that entry first")
    goal.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=goal.parent, prefix=".filing-") as name:
        staged = Path(name) / "new"
        for path in (DESCRIPTION, README, *(run["file"] for run in content["runs"])):
            if (source / path).is_file():
                (staged / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source / path, staged / path, follow_symlinks=False)
        copies = {run["file"]: run["sha256"] for run in content["runs"]}
        copies[DESCRIPTION] = scores["submission_digest"]
        if any(sha256_of_file(staged / path) != checksum for path, checksum in copies.items()):
            raise SubmissionError(f"{source} was changed while it was scored; run the command again")
        write_text(staged / SCORES, compact_json(scores))
        os.replace(staged, goal)
    sync_directory(goal.parent)
    return goal


def _today() -> date:
    from datetime import UTC, datetime

    return datetime.now(UTC).date()
