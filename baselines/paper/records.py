"""Records of runs: what was trained, where, and what it scores; a file of JSON each, named by its digest."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from baselines.config import LanguageConfig, RunConfig, read_config
from baselines.paper.cells import Figures, homes_of
from baselines.paper.figures import FIGURES
from sraven.core.errors import ConfigurationError, OutputError
from sraven.core.spec import values_of
from sraven.files.files import write_json
from sraven.files.schemas import read_described

FOLDER = "reproduction"
"""Of the records, within the folder of results."""

SCHEMA = 1

Scores = Mapping[str, Mapping[str, float | None]]
"""By split, then by metric."""


@dataclass(frozen=True)
class Record:
    """What is kept of a run.

    Attributes:
        config: of the run.
        steps: that were done; fewer than the configuration's if the run diverged.
        scores: of its parameters, on whole splits; none if it diverged.
        training_loss: mean of the last 1,000 steps.
        seconds: of training, with compiling and scoring meanwhile; None if nobody knows.
        command: that trains it again.
        commit: of the code that trained it; None if nobody knows, or files differed from it.
        machine: what it was trained on; None if nobody knows.
        documents: digest of the text that it is scored on; None for runs that need no text.
    """

    config: RunConfig
    steps: int
    scores: Scores
    training_loss: float | None
    seconds: float | None
    command: str
    commit: str | None
    machine: Mapping[str, Any] | None
    documents: str | None = None

    @property
    def digest(self) -> str:
        """Of the configuration."""
        return self.config.digest

    @property
    def diverged(self) -> bool:
        """Whether the run ended early, at a loss that is no number."""
        return self.steps < self.config.steps

    def score(self, split: str, metric: str) -> float | None:
        """Return a score; None if there is none."""
        return self.scores.get(split, {}).get(metric)

    @property
    def text(self) -> str | None:
        """Digest of the text that it was trained on; None for runs that need none."""
        return self.config.corpus if isinstance(self.config, LanguageConfig) else None

    def as_json(self) -> dict[str, Any]:
        """Return what the file has."""
        values = asdict(self)
        if self.documents is None:
            del values["documents"]
        return {
            "schema": SCHEMA,
            "digest": self.digest,
            **values,
            "config": values_of(self.config),
            "steps": {"done": self.steps, "planned": self.config.steps},
        }


def read_record(path: Path) -> Record:
    """Return the record that a file holds.

    Raises:
        OutputError: if it is none.
    """
    try:
        values = read_described(path, "record")
        names = "scores", "training_loss", "seconds", "command", "commit", "machine", "documents"
        kept: dict[str, Any] = {name: values.get(name) for name in names}
        record = Record(read_config(values["config"]), values["steps"]["done"], **kept)
    except (OSError, ValueError) as error:
        raise OutputError(f"{path} is no record ({error}); remove it, and adopt its run again") from None
    if path.stem != record.digest:
        raise OutputError(f"{path} holds the run {record.digest[:12]}…; a record is named by its digest")
    return record


def read_records(results: Path) -> dict[str, Record]:
    """Return all records below a folder of results, by digest.

    Raises:
        OutputError: if a file there is none.
    """
    return {path.stem: read_record(path) for path in sorted((results / FOLDER).glob("*/*.json"))}


def path_of(results: Path, home: str, config: RunConfig) -> Path:
    """Return where the record of a run is kept.

    Args:
        results: folder of results.
        home: the first figure that has the run.
        config: of the run.
    """
    return results / FOLDER / home / f"{config.digest}.json"


def write_record(results: Path, record: Record, figures: Figures = FIGURES) -> Path:
    """Write a record where it belongs; return where that is.

    Raises:
        ConfigurationError: if the run is no cell of a figure.
    """
    homes = homes_of(record.config, figures)
    if not homes:
        raise ConfigurationError(f"the run {record.digest[:12]}… is no cell of a figure of the paper")
    path = path_of(results, homes[0], record.config)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, record.as_json())
    return path
