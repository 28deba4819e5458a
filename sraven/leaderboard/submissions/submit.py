"""Writing submissions, and filing them under the leaderboard."""

import json
import os
import platform
import re
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import ArrayLike

from sraven.board.board import Board, load_board, read_board
from sraven.core.arguments import check_choice, check_integer
from sraven.core.errors import ConfigurationError, OutputError, SubmissionError
from sraven.core.packages import installed_versions
from sraven.core.spec import SEED_LIMIT
from sraven.files.files import compact_json, sha256_of_file, write_text
from sraven.files.schemas import find_problem
from sraven.files.staging import staged
from sraven.files.table import to_table
from sraven.files.untrusted import INDEX, dump_yaml
from sraven.leaderboard.submissions.runs import DESCRIPTION, README, SCORES, named_files, prediction_path
from sraven.leaderboard.submissions.submission import (
    RANKED_SEEDS,
    SUBMISSIONS,
    board_problem,
    read_description,
    score_submission,
)

_PACKAGES = ("sraven", "numpy", "torch", "jax", "flax", "tensorflow", "scikit-learn", "transformers")
"""Libraries whose versions a description names, if this process has loaded them."""


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


def _by_seed(split: str, predictions: Any) -> dict[int, ArrayLike]:
    """Return the predictions of a split by seed; a list counts the seeds from 0."""
    if not isinstance(predictions, Mapping | Iterable):
        raise ConfigurationError(f"predictions of {split} is {predictions!r}; expected an array of each seed")
    items = predictions.items() if isinstance(predictions, Mapping) else enumerate(predictions)
    return {check_integer("a seed", seed, 0, SEED_LIMIT): array for seed, array in items}


def _checked_runs(board: Board, predictions: Any) -> dict[tuple[str, int], Any]:
    """Return the predictions of all runs, by split and seed, as arrays of the board's type or lists of texts.

    Raises:
        ConfigurationError: for the first that can't be submitted.
    """
    if not isinstance(predictions, Mapping):
        raise ConfigurationError("predictions has no names; expected {split: [array of each seed]}")
    return {
        (split, seed): board.checked_predictions(split, array)
        for split, arrays in predictions.items()
        for seed, array in sorted(_by_seed(split, arrays).items())
    }


def _write_run(board: Board, path: Path, predictions: Any) -> str:
    """Write the predictions of a run, an array or a list of texts; return the file's SHA-256."""
    path.parent.mkdir(parents=True, exist_ok=True)
    column, index = board.prediction, np.arange(len(predictions))
    encoding, dictionary = {"index": "DELTA_BINARY_PACKED"}, list[str]()
    if board.is_text:
        table = pa.table({"index": index, "prediction": pa.array(predictions, pa.string())})
    else:
        table = to_table({"index": index, "prediction": predictions}, [INDEX, column])
        leaf = f"{column.name}.list.element" if column.shape else column.name
        if predictions.dtype.kind == "f":
            encoding[leaf] = "BYTE_STREAM_SPLIT"
        else:
            dictionary = [leaf]
    pq.write_table(table, path, compression="zstd", use_dictionary=dictionary, column_encoding=encoding)
    return sha256_of_file(path)


def check_new(out: Path) -> None:
    """Check that there is nothing where a submission is to be written.

    Raises:
        OutputError: if there is.
    """
    if os.path.lexists(out):
        raise OutputError(f"{out} exists; choose another directory for the submission")


def describe_submission(
    board: Board,
    runs: Iterable[tuple[str, int]],
    *,
    method: Mapping[str, Any],
    model: Mapping[str, Any],
    training: Mapping[str, Any],
    replies: Mapping[str, Any] | None = None,
    **more: Any,
) -> dict[str, Any]:
    """Return what ``submission.yaml`` says, but for the digests of its files.

    Args:
        board: that it is of.
        runs: splits and seeds.
        method: this and the others are those of `write_submission`.
        model: likewise.
        training: likewise.
        replies: likewise.
        more: claimed, points, replaces.

    Raises:
        ConfigurationError: for what isn't allowed.
    """
    described = {"method": method, "model": model, "training": training}
    for name, value in (described if replies is None else {**described, "replies": replies}).items():
        if not isinstance(value, Mapping):
            raise ConfigurationError(f"{name} is {value!r}; expected names and values")
    loaded = (name for name in _PACKAGES if name.replace("scikit-learn", "sklearn") in sys.modules)
    content: dict[str, Any] = {
        "schema": 1,
        "board": board.id,
        "board_digest": board.digest,
        "method": method,
        "model": model,
        **({} if replies is None else {"replies": replies}),
        "training": {"extra_data": None, "used_ood": False, **training},
        "runs": [
            {"seed": seed, "split": split, "file": prediction_path(split, seed), "sha256": "0" * 64}
            for split, seed in runs
        ],
        "environment": {"python": platform.python_version(), "packages": installed_versions(loaded)},
    }
    content = _as_plain(content | {name: value for name, value in more.items() if value})
    if problem := find_problem(content, "submission") or board_problem(content, board):
        raise ConfigurationError(f"the description of the submission: {problem}")
    return content


def write_submission(
    out: str | os.PathLike[str],
    board: str,
    predictions: Mapping[str, Any],
    *,
    method: Mapping[str, Any],
    model: Mapping[str, Any],
    training: Mapping[str, Any],
    replies: Mapping[str, Any] | None = None,
    claimed: Mapping[str, Mapping[str, float]] | None = None,
    points: Sequence[Mapping[str, Any]] = (),
    replaces: str | None = None,
    readme: str = "",
) -> None:
    """Write the directory of a submission, whole or not at all.

    Args:
        out: a directory that doesn't exist yet.
        board: id of the board, such as ``sraven-v1``.
        predictions: for each scored split, the predictions of each seed: a list of arrays (seeds
            0, 1, ...) or arrays by seed. An array has the whole split in the order of its
            indices: integers ``[n, M]`` for SRAVEN, floats ``[n]`` for fuzzy logic. On a board of texts it
            is a list of n replies, None for one that there isn't.
        method: ``name``, ``description`` and ``authors`` (a list); if you like ``family``,
            ``paper``, ``code``, ``code_commit``, ``license``.
        model: ``parameters`` (their number; None for a language model of which nobody says it); if you like
            ``layers``, ``heads``, ``width``.
        training: ``instances`` (how many were seen, repeats included),
            ``selection_split`` (by which split hyperparameters were chosen); ``extra_data`` if there
            was any; ``tuning_trials`` (how many settings were tried) of a trained model; if you like
            ``optimiser``, ``hardware``, ``seconds``.
            ``used_ood`` must be False.
        replies: on a board of texts alone, ``model`` and its ``revision``, the ``form`` of its prompts and
            the ``prompt_digest`` of all of them, ``harness`` and ``harness_version``; if you like
            ``temperature``, ``usage``, ``settings`` and, where people replied, ``people``.
        claimed: your own scores by split and metric, to be compared with the recomputed ones.
        points: the other points of the grid: ``name``, and ``scores`` by split, the means of the board's
            primary metric. One that does better on ``test`` should be submitted in place of this.
        replaces: the filed entry that this one replaces, such as ``sraven-v1/20261121-hyla``, whose
            predictions it may repeat. A maintainer confirms it.
        readme: free text in Markdown.

    Raises:
        ConfigurationError: for predictions of a wrong shape, type or value, or a description that
            isn't allowed. Nothing is written then.
        OutputError: if ``out`` exists.
    """
    goal = Path(out)
    check_new(goal)
    loaded = load_board(board)
    arrays = _checked_runs(loaded, predictions)
    content = describe_submission(
        loaded,
        arrays,
        method=method,
        model=model,
        training=training,
        replies=replies,
        claimed=claimed,
        points=[*points],
        replaces=replaces,
    )
    with staged(goal) as folder:
        for entry, array in zip(content["runs"], arrays.values(), strict=True):
            entry["sha256"] = _write_run(loaded, folder / entry["file"], array)
        write_text(folder / DESCRIPTION, dump_yaml(content))
        write_text(folder / README, readme or f"# {method['name']}\n\n{method['description']}\n")


def write_reference(out: str | os.PathLike[str], board: str, name: str) -> None:
    """Write the submission of a reference predictor, by `write_submission`, as any other.

    Args:
        out: a directory that doesn't exist yet.
        board: id of the board.
        name: of the predictor.

    Raises:
        ConfigurationError: if there is no such board or predictor.
        OutputError: if ``out`` exists.
    """
    loaded = read_board(board)
    references = loaded.task.references.predictors
    reference = references[check_choice("the reference", name, tuple(references))]
    seeds = range(RANKED_SEEDS if reference.random else 1)
    replies: dict[str, Any] | None = None
    if loaded.is_text:  # what such a predictor says of itself; it reads no prompt
        form, digest = next(iter(loaded.prompts.items()))
        replies = {"model": name, "revision": loaded.task.version, "form": form, "prompt_digest": digest}
        replies |= {"harness": "sraven reference", "harness_version": version("sraven")}
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
        replies=replies,
        training={"instances": reference.instances, "selection_split": None},
        readme=f"# {name}\n\n{reference.description}\n\nWritten by `sraven reference {board} {name}`.\n",
    )


def slug(name: str) -> str:
    """Return a name in lower-case letters, digits and hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:60].rstrip("-") or "method"


def check_leaderboard(leaderboard: Path) -> None:
    """Check that there is a leaderboard to file under.

    Raises:
        OutputError: if there is none.
    """
    if not leaderboard.is_dir():
        raise OutputError(f"{leaderboard} isn't a directory; run this in a checkout, or name it")


def file_submission(
    folder: str | os.PathLike[str],
    leaderboard: Path,
    *,
    day: date | None = None,
    scores: Mapping[str, Any] | None = None,
) -> Path:
    """Validate and score a submission, and copy it with its scores under the leaderboard.

    Args:
        folder: the submission.
        leaderboard: the leaderboard's folder, ``docs/leaderboard`` of a checkout.
        day: its date; None for today (UTC).
        scores: what `score_submission` returns, if that is at hand.

    Returns:
        where it lies: ``<leaderboard>/submissions/<board>/<YYYYMMDD>-<name>``.

    Raises:
        SubmissionError: if it is refused.
        OutputError: if there is no leaderboard, or already such an entry.
    """
    source = Path(folder)
    check_leaderboard(leaderboard)
    if scores is None:
        scores = score_submission(source)
    content, _ = read_description(source)
    stamp = f"{day or datetime.now(UTC):%Y%m%d}"
    goal = leaderboard / SUBMISSIONS / str(scores["board"]) / f"{stamp}-{slug(content['method']['name'])}"
    if os.path.lexists(goal):
        raise OutputError(f"{goal} exists; give the method another name, or remove that entry first")
    with staged(goal) as folder:
        named = named_files(content)
        for path in (DESCRIPTION, README, *named):
            if (source / path).is_file():
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source / path, folder / path, follow_symlinks=False)
        copies = {**named, DESCRIPTION: scores["submission_digest"]}
        if any(sha256_of_file(folder / path) != checksum for path, checksum in copies.items()):
            raise SubmissionError(f"{source} was changed while it was scored; run the command again")
        write_text(folder / SCORES, compact_json(scores))
    return goal
