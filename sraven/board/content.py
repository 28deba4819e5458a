"""The file of a board as a typed value, beside the JSON that it was read from.

The file never changes, and its digest is the board's identity. So it is kept as it was read, and what has its
default isn't written in it at all.
"""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

from sraven.board.ceilings import FIRST_DEFINITION, KNOWS
from sraven.core.escape import quoted
from sraven.core.families import find_family
from sraven.core.roles import TEXT, Column
from sraven.core.spec import digest
from sraven.files.schemas import find_problem

RANKED = "ranked"
"""The series of boards that rank; others are diagnostic."""

_AS_WRITTEN = ("id", "version", "title", "train_budget", "metric", "primary_split", "higher_is_better")


@dataclass(frozen=True)
class BoardSplit:
    """What a board says of a split.

    Attributes:
        instances: how many are covered: all of a scored split, the beginning of ``train``.
        sha256: digest of the instances.
        blocks: digests of the blocks, in order.
        arrays: digest of each array, by name.
    """

    instances: int
    sha256: str
    blocks: tuple[str, ...]
    arrays: Mapping[str, str]


@dataclass(frozen=True)
class Reported:
    """A figure that a paper reports; no predictions stand behind it.

    Attributes:
        seeds: behind the figure.
        train_instances: seen in training.
        source: where in the paper it stands.
        paper: its address.
        notes: what differs from the board, in sentences.
        method: name of what was measured.
        value: of the primary metric on the primary split.
        standard_error: over seeds; None where none is reported.
        parameters: of the model; None where they aren't reported.
    """

    seeds: int
    train_instances: int
    source: str
    paper: str
    notes: tuple[str, ...]
    method: str
    value: float
    standard_error: float | None
    parameters: int | None


def find_fault(content: Any) -> str | None:
    """Return what is missing or wrong in the file of a board, in a line; None if nothing is."""
    if problem := find_problem(content, "board"):
        return problem
    if content.get("ceiling_definition") == FIRST_DEFINITION:
        return f"has ceiling_definition: {FIRST_DEFINITION}, which goes without saying; leave it out"
    family, configured = content["task"], content["config"].get("task")
    if configured != family:
        return f"config.task is {quoted(configured)}; expected {quoted(family)}, as task says"
    if any((content["prediction"]["dtype"] == TEXT) != (name in content) for name in ("prompts", "rungs")):
        return f"expected prompts and rungs where the dtype of its prediction is {TEXT}, and nowhere else"
    for known in (known for split in content["ceiling"].values() for known in split):
        if known not in KNOWS.values():
            return f"has a ceiling of an observer {quoted(known)}; expected {', '.join(KNOWS.values())}"
    return None


def series_of(content: Mapping[str, Any]) -> str:
    """Return the series of a board: that of its file, unless its family says that it ranks no longer."""
    return str(find_family(content["task"]).regrouped.get(content["id"], content["series"]))


@dataclass(frozen=True, repr=False)
class BoardFile:
    """What the file of a board says.

    Attributes:
        file: the file itself, as JSON values; see `content`.
        id: name of the board, such as ``sraven-v1``.
        version: of the board, from 1.
        title: what it is called on the page.
        series: ``ranked``, or the diagnostic series that it belongs to, see `series_of`.
        config: everything that determines its instances, as JSON values; see `Board.task`.
        prediction: type and shape of the prediction of one instance.
        train_budget: what training may see, in instances.
        train_budgets: the budgets within which entries are ranked, ascending.
        metric: the primary metric.
        primary_split: the split on which the primary metric ranks.
        higher_is_better: whether more of the primary metric is better.
        metric_names: the metrics that score it, in the order of its scores.
        ceiling_definition: which definition its ceilings have, see `Board.ceiling`.
        reported: figures of papers.
        covered: what its digests cover, by split, ``train`` included.
        held_out: the combinations of each split that shares none with ``train``.
        prompts: of a board whose predictions are texts, the SHA-256 of all prompts by form: of each in
            UTF-8 with a NUL behind it, in the order of the indices.
        rungs: the parts of the primary split that are scored apart, as the file
            has them; see `sraven.core.roles.ScoredLevel`.
    """

    file: Mapping[str, Any]
    id: str
    version: int
    title: str
    series: str
    config: Mapping[str, Any]
    prediction: Column
    train_budget: int
    train_budgets: tuple[int, ...]
    metric: str
    primary_split: str
    higher_is_better: bool
    metric_names: tuple[str, ...]
    ceiling_definition: int
    reported: tuple[Reported, ...]
    covered: Mapping[str, BoardSplit]
    held_out: Mapping[str, tuple[tuple[int, ...], ...]]
    prompts: Mapping[str, str]
    rungs: tuple[Mapping[str, Any], ...]

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> Self:
        """Return the board of a file, given as JSON values: one in which `find_fault` finds none."""
        kind = content["prediction"]
        return cls(
            file=dict(content),
            **{name: content[name] for name in _AS_WRITTEN},
            series=series_of(content),
            ceiling_definition=content.get("ceiling_definition", FIRST_DEFINITION),
            config=dict(content["config"]),
            prediction=Column("prediction", kind["dtype"], tuple(kind["shape"]), "what is predicted"),
            train_budgets=tuple(content["train_budgets"]),
            metric_names=tuple(content["metrics"]),
            reported=tuple(Reported(**{**row, "notes": tuple(row["notes"])}) for row in content["reference"]),
            covered={
                split: BoardSplit(**{**entry, "blocks": tuple(entry["blocks"])})
                for split, entry in content["splits"].items()
            },
            held_out={split: tuple(map(tuple, rows)) for split, rows in content["held_out"].items()},
            prompts=dict(content.get("prompts", {})),
            rungs=tuple(content.get("rungs", ())),
        )

    @property
    def content(self) -> dict[str, Any]:
        """The board's file as JSON values, see ``docs/boards.md``; a new one each time."""
        return deepcopy(dict(self.file))

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the canonical JSON of the board's file; a submission names it."""
        return digest(self.file)

    @property
    def family(self) -> str:
        """Name of its task's family, such as ``sraven``."""
        return str(self.config["task"])

    @property
    def is_text(self) -> bool:
        """Whether predictions are texts, what language models replied; others are numbers."""
        return self.prediction.dtype == TEXT

    @property
    def is_ranked(self) -> bool:
        """Whether entries are ranked on it; others are diagnostic."""
        return self.series == RANKED

    @property
    def splits(self) -> dict[str, int]:
        """Sizes of the splits that are scored, by name."""
        return {name: entry.instances for name, entry in self.covered.items() if name != "train"}

    def __repr__(self) -> str:
        sizes = ", ".join(f"{size:,} of {split}" for split, size in self.splits.items())
        return f"<Board {self.id} ({self.digest[:12]}): {self.metric} on {self.primary_split}; {sizes}>"

    def __hash__(self) -> int:
        return hash(self.digest)
