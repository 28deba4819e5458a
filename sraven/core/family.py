"""A family of tasks: one object with all that the core and the commands need of it.

It costs nothing to import, and a command loads no more than it uses: the family's own modules are imported
in functions.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from rich.console import RenderableType

    from sraven.core.bench import Case


class Help(NamedTuple):
    """What the help says of a command: its line in a list of commands, and its own text."""

    summary: str
    text: str


class Size(NamedTuple):
    """The instances of a split that ``generate`` writes by default: how many, and what they are."""

    instances: int
    meaning: str


class LevelText(NamedTuple):
    """What scores on a family's boards are read against, beside chance and the ceilings of their files.

    Attributes:
        title: what stands beside it.
        meaning: whose score it is, in words.
        is_baseline: whether it is what can be reached without what the board asks for.
        is_remarked: whether an entry that isn't clearly above it is ranked with a remark.
    """

    title: str
    meaning: str
    is_baseline: bool = False
    is_remarked: bool = False


class Measured(NamedTuple):
    """What ``ambiguity`` prints: dataclasses for programs, a table for people."""

    results: Sequence[Any]
    title: str
    headings: Sequence[str]
    rows: Iterable[Sequence[str]]


class Shows(Protocol):
    """A module with what ``show`` needs."""

    make_puzzle: Callable[[Any, str, int], Any]
    """Returns an instance with what explains it, given the task, the split and its index."""
    render: Callable[[Any, bool], "RenderableType"]
    """Returns what `rich` prints, given that and whether to explain it."""
    to_json: Callable[[Any], Mapping[str, object]]
    """Returns it as JSON values."""


class Benches(Protocol):
    """A module with what ``bench`` needs."""

    REFERENCE: str
    """What speeds are compared with."""
    cases: Callable[[int, Path], Iterator["Case"]]
    """Yields the work to measure, given threads and a folder to write into."""


@dataclass(frozen=True)
class Show:
    """How instances are shown.

    Attributes:
        module: imports and returns a `Shows`.
        explain: what ``--explain`` adds, for the help.
        picture: imports and returns what writes a puzzle of ``make_puzzle`` as a picture, given a path and
            whether to explain; None if nothing does.
    """

    module: Callable[[], Shows]
    explain: str
    picture: Callable[[], Callable[[Any, Path, bool], None]] | None = None


@dataclass(frozen=True)
class Family:
    """A family of tasks. What is a function here imports what it needs when it is called.

    Attributes:
        name: of the family, which its tasks' configurations begin with.
        package: holds its boards, in a folder ``boards``.
        task: returns a task, given its settings: a frozen dataclass, a `sraven.core.roles.Task`.
        settings: a dataclass with the fields of its tasks, of which commands make their options; None for a
            family without commands.
        reference_levels: what scores on its boards are read against besides, by name: see
            `sraven.board.reference_levels`. The task's `References` measure them.
        nouns: what its instances are called.
        resampled: what bootstrap samples, and so intervals of scores, are over.
        group: name of its group of commands; "" for that of the family.
        summary: a line for the list of commands.
        text: the help of its group of commands.
        helps: the helps of its commands, by name.
        sizes: what ``generate`` writes, by split; nothing for a family without datasets.
        show: how instances are shown; None if they aren't.
        measure: returns what ``ambiguity`` prints of a task, given it, the number of instances and threads.
        bench: imports and returns a `Benches`.
        regrouped: boards that rank no longer, whatever their file says: by id, the series they belong to.
        examples: small configurations, by name, on which the tests check what every task has to keep.
    """

    name: str
    package: str
    task: Callable[..., Any]
    settings: type | None = None
    reference_levels: Mapping[str, LevelText] = field(default_factory=dict, hash=False)
    nouns: str = "instances"
    resampled: str = "instances"
    group: str = ""
    summary: str = ""
    text: str = ""
    helps: Mapping[str, Help] = field(default_factory=dict, hash=False)
    sizes: Mapping[str, Size] = field(default_factory=dict, hash=False)
    show: Show | None = None
    measure: Callable[[Any, int, int | None], Measured] | None = None
    bench: Callable[[], Benches] | None = None
    regrouped: Mapping[str, str] = field(default_factory=dict, hash=False)
    examples: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, hash=False)

    @property
    def commands(self) -> str:
        """Name of its group of commands."""
        return self.group or self.name
