"""Whether what lies in a folder is of the network that is asked for."""

import inspect
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sraven.core.errors import OutputError
from sraven.core.spec import digest
from sraven.files.files import read_bounded, write_json
from sraven.leaderboard.submissions.submission import read_description, read_submission

IDENTITY = "identity.json"
"""Whose checkpoints lie beside it."""


def check_submission(folder: Path, checkpoints: Path, name: str, seeds: Sequence[int]) -> None:
    """Refuse a submission of another method or other seeds, or without checkpoints, where there is one."""
    if not folder.exists():
        return
    content, _ = read_description(folder)
    if (other := content["method"]["name"]) != name:
        raise OutputError(f"{folder} is of {other!r}; choose another folder for {name!r}")
    if (filed := sorted({each["seed"] for each in content["runs"]})) != sorted(seeds):
        raise OutputError(
            f"{folder} has seeds {filed}; remove it for {sorted(seeds)}, what is trained stays in checkpoints"
        )
    if not (checkpoints / IDENTITY).exists():
        raise OutputError(
            f"{folder} is a submission, but {checkpoints}, which would say of what network, isn't there; "
            "remove the submission to train anew"
        )


def check_identity(checkpoints: Path, found: Mapping[str, Mapping[str, Any]]) -> None:
    """Refuse checkpoints of another network, where there are some; note of which they are.

    Args:
        checkpoints: their folder.
        found: what `Trainer.identify` returns, by seed.
    """
    path, before = checkpoints / IDENTITY, {}
    if path.exists():
        try:
            before = json.loads(read_bounded(path))
        except ValueError:
            raise OutputError(f"{path} is damaged; remove {checkpoints} to train anew") from None
    elif checkpoints.exists() and any(checkpoints.iterdir()):
        raise OutputError(f"{checkpoints} doesn't say of what network it is; choose another folder")
    for seed, each in json.loads(json.dumps(found)).items():
        was = before.setdefault(seed, each)
        if differing := [name for name, value in each.items() if not _agree(was.get(name), value)]:
            raise OutputError(
                f"{checkpoints} is of another network, or was trained otherwise ({', '.join(differing)}); "
                "choose another folder"
            )
    write_json(path, before)


def _agree(first: Any, second: Any) -> bool:
    """Return whether two values are the same, numbers of a list but for rounding."""
    if isinstance(first, list) and isinstance(second, list) and len(first) == len(second):
        return bool(np.allclose(first, second, rtol=1e-4, atol=1e-6, equal_nan=True))
    return bool(first == second)


_SAME = 0.99
"""The least share of predictions in which a submission agrees with its network: devices round."""


def check_predictions(folder: Path, predictions: Mapping[str, Mapping[int, Any]]) -> None:
    """Refuse a submission whose predictions aren't those of the network."""
    for split, runs in read_submission(folder).runs.items():
        for run in runs:
            close = np.isclose(run.predictions, predictions[split][run.seed], atol=1e-3)
            if close.mean() < _SAME:
                raise OutputError(
                    f"{folder} has other predictions of {split}, seed {run.seed}, than the network that was "
                    "trained; remove it, what is trained stays in checkpoints"
                )


def digest_of_classes(kinds: Iterable[type]) -> str:
    """Return the digest of the source of some classes, in whatever module they are.

    Args:
        kinds: the classes; the source of one that was typed in isn't known, and doesn't count.
    """
    sources = {}
    for kind in kinds:
        try:
            sources[kind.__qualname__] = inspect.getsource(kind)
        except (OSError, TypeError):
            sources[kind.__qualname__] = ""
    return digest(sources)
