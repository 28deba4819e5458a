"""A run with its codes: collected once, and written before anything is computed from them.

Codes are written as Parquet: a row for each layer, instance and query position; a file for network and pair,
which says what its codes are made of.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from baselines.analysis import labels
from baselines.analysis.codes import Codes, Collector, traps_of, untrained_params
from baselines.analysis.labels import Part, Subject
from baselines.config import RunConfig
from sraven.core.errors import OutputError
from sraven.core.spec import canonical_json, digest
from sraven.files.files import read_bounded, replacing
from sraven.files.lock import LOCK, Lock

TRAINED, UNTRAINED = "trained", "untrained"

UNTRAINED_NETWORKS = 5
"""Untrained networks that a probe is compared with: the run's own before its first step, and other seeds."""

CODES, ANALYSIS = "codes", "analysis.json"
"""The folder of Parquet files, and the file of all numbers."""

METADATA = b"sraven.codes"

_LABEL = "label."

ByPart = Mapping[str, Codes]
OnStage = Callable[[str], None]
"""Is called with the name of the next step."""


@dataclass(frozen=True)
class Analysed:
    """A run with its codes.

    Attributes:
        folder: of the run.
        config: of it.
        subject: the task as it is analysed.
        parts: whose codes there are.
        codes: by network (`TRAINED`, `UNTRAINED`), pair and part.
        files: of the codes.
        notes: caveats for reading anything computed from them, a line each.
    """

    folder: Path
    config: RunConfig
    subject: Subject
    parts: tuple[Part, ...]
    codes: Mapping[str, Mapping[str, ByPart]]
    files: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def trained(self) -> Mapping[str, ByPart]:
        """The run's codes by pair and part."""
        return self.codes[TRAINED]

    @property
    def layers(self) -> range:
        """All layers, from 0."""
        return range(self.config.layers)

    @property
    def has_rules(self) -> bool:
        """Whether labels are rules of SRAVEN; else they are terms of fuzzy logic."""
        return labels.RULE in self.subject.decoded

    @property
    def rows(self) -> ByPart:
        """Codes of some pair, for what all pairs share: labels, targets, predictions."""
        return next(iter(self.trained.values()))

    @property
    def judged(self) -> str:
        """The part that stands for new combinations; `TEST` for a task that holds none out."""
        return labels.OOD if labels.OOD in self.rows else labels.TEST


@contextmanager
def claimed(out: Path, run: str) -> Iterator[None]:
    """Make the directory of an analysis, and hold it.

    Args:
        out: the directory.
        run: digest of the run that is analysed.

    Raises:
        OutputError: if it is a file, holds something else, or another process writes there.
    """
    if out.exists() and not out.is_dir():
        raise OutputError(f"{out} is a file; choose another directory")
    ours = (out / CODES).is_dir() or (out / ANALYSIS).is_file()
    if out.is_dir() and not ours and any(path.name != LOCK for path in out.iterdir()):
        raise OutputError(f"{out} isn't empty and holds no analysis; choose another directory")
    (out / CODES).mkdir(parents=True, exist_ok=True)
    with Lock(out):
        path = out / ANALYSIS
        try:
            is_other = path.is_file() and json.loads(read_bounded(path)).get("run", {}).get("digest") != run
        except (OSError, ValueError, AttributeError, RecursionError):
            raise OutputError(f"{path} can't be read; remove it, or choose another directory") from None
        if is_other:
            raise OutputError(f"{out} holds another analysis; choose another directory")
        yield


def analysed(
    folder: Path,
    config: RunConfig,
    params: Any,
    subject: Subject,
    parts: tuple[Part, ...],
    out: Path,
    on_progress: OnStage,
) -> Analysed:
    """Return a run with its codes, which are written.

    Args:
        folder: of the run.
        config: of it.
        params: its parameters.
        subject: the task as it is analysed.
        parts: whose codes are collected.
        out: the directory of its analysis, claimed.
        on_progress: is called with the name of the next step.
    """
    collector = Collector(config, subject)
    codes: dict[str, dict[str, ByPart]] = {}
    files: list[str] = []
    for network, each in ((TRAINED, params), (UNTRAINED, untrained_params(config, subject.task))):
        made_of = {
            "schema": 1,
            "run": config.digest,
            "task": digest(subject.task.config),
            "protocol": subject.name,
            "parts": [asdict(part) for part in parts],
        }
        on_progress(f"codes, {network}")
        codes[network] = found = _collect(collector, each, parts)
        for pair in subject.pairs:
            path = out / CODES / f"{network}-{pair}.parquet"
            write_codes(path, found[pair], {**made_of, "pair": pair})
            files.append(f"{CODES}/{path.name}")
    notes = [
        line
        for pair, by_part in codes[TRAINED].items()
        for line in traps_of(config, pair, by_part[labels.FIT])
    ]
    return Analysed(folder, config, subject, parts, codes, tuple(files), tuple(notes))


def write_codes(path: Path, found: Mapping[str, Codes], plan: Mapping[str, Any]) -> None:
    """Write the codes of all parts of a pair, in place of what was there.

    Columns: ``part``, ``layer`` (from 1), ``index``, ``position``, ``code`` (a list of C float32),
    ``label.NAME`` for each label, ``combination``, ``target``, ``prediction``, ``output`` (O float32).

    Args:
        path: the file.
        found: codes by part.
        plan: what they are made of, as JSON values.
    """
    tables = [_table(part, layer, codes) for part, codes in found.items() for layer in range(codes.layers)]
    table = pa.concat_tables(tables).replace_schema_metadata(
        {METADATA: canonical_json({"plan": plan}).encode()}
    )
    with replacing(path) as temporary:
        pq.write_table(table, temporary, compression="zstd")


def _table(part: str, layer: int, codes: Codes) -> pa.Table:
    """Return a layer's codes of a part as a table."""
    n = len(codes.index)
    columns: dict[str, Any] = {
        "part": pa.array([part] * n).dictionary_encode(),
        "layer": np.full(n, layer + 1, np.int32),
        "index": codes.index,
        "position": codes.position,
        "code": _lists(codes.codes[layer]),
        **{f"{_LABEL}{name}": values for name, values in codes.labels.items()},
        "combination": codes.combination,
        "target": codes.target,
        "prediction": codes.prediction,
        "output": _lists(codes.output),
    }
    return pa.table({name: pa.array(column) for name, column in columns.items()})


def _lists(rows: Any) -> pa.Array:
    flat = pa.array(np.ascontiguousarray(rows).reshape(-1))
    return pa.FixedSizeListArray.from_arrays(flat, rows.shape[1])


def _collect(collector: Collector, params: Any, parts: Sequence[Part]) -> dict[str, Mapping[str, Codes]]:
    """Return the codes of a network by pair and part."""
    by_part = {part.name: collector.collect(params, part) for part in parts}
    return {pair: {part: codes[pair] for part, codes in by_part.items()} for pair in collector.pairs}


def untrained_codes(found: Analysed) -> Iterator[Mapping[str, ByPart]]:
    """Yield codes of untrained networks by pair and part: the run's own first, then of the seeds after it."""
    yield found.codes[UNTRAINED]
    collector = Collector(found.config, found.subject)
    for further in range(1, UNTRAINED_NETWORKS):
        params = untrained_params(found.config, found.subject.task, found.config.seed + further)
        yield _collect(collector, params, found.parts)


def batch_of(found: Analysed, part: str) -> Any:
    """Return the instances of a part."""
    each = next(each for each in found.parts if each.name == part)
    return found.subject.task.sample(each.split, each.start, each.count)
