"""Reference levels of a board, beside chance and the ceilings of its file.

A board's file never changes, and some of what its scores are read against was thought of later. So it
stands in a file beside the boards, ``levels.yaml``, by the digest of the board's file. What each level is,
its family says (`Family.reference_levels`). ``sraven freeze --levels`` measures them.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from sraven.board.ceilings import measure_splits
from sraven.board.content import BoardFile
from sraven.board.paths import read_beside
from sraven.core.errors import OutputError
from sraven.core.families import find_family, make_board_task
from sraven.files.files import write_text
from sraven.files.untrusted import dump_yaml
from sraven.files.yaml_loader import load_yaml

LEVELS_FILE = "levels.yaml"

_HEAD = """\
# What scores on boards are read against beside the ceilings of their files, by the digest of a board's file:
# by split, level and metric. `sraven freeze --levels` measures it; what each level is, the family says.
"""


Levels = Mapping[str, Mapping[str, Mapping[str, Mapping[str, float]]]]
"""Of a board, by split, by name of the level and by metric: ``value`` and its ``standard_error``."""


@dataclass(frozen=True)
class ReferenceLevel:
    """A reference level of a board.

    Attributes:
        name: such as ``composition-blind``.
        title: what stands beside it.
        meaning: whose score it is, in words.
        is_baseline: whether it is what can be reached without what the board asks for.
        is_remarked: whether an entry that isn't clearly above it is ranked with a remark.
        value: the score.
        standard_error: over the instances of the split.
    """

    name: str
    title: str
    meaning: str
    is_baseline: bool
    is_remarked: bool
    value: float
    standard_error: float


@cache
def read_levels() -> Mapping[str, Levels]:
    """Return the reference levels of all boards of this installation, by the digest of a board's file."""
    return {
        digest: found["lines"]
        for data in read_beside(LEVELS_FILE)
        for digest, found in load_yaml(data).items()
    }


def find_reference_levels(board: BoardFile, split: str, metric: str) -> tuple[ReferenceLevel, ...]:
    """Return the reference levels of a board by a metric, in the order of its family, as far as known."""
    measured: Mapping[str, Any] = read_levels().get(board.digest, {}).get(split, {})
    return tuple(
        ReferenceLevel(name, *level, **measured[name][metric])
        for name, level in find_family(board.family).reference_levels.items()
        if metric in measured.get(name, {})
    )


def measure_board(board: BoardFile) -> dict[str, Any]:
    """Return what `LEVELS_FILE` has of a board."""
    levels = make_board_task(board.config).references.levels
    return {"board": board.id, "lines": measure_splits(levels, board.splits)}


def boards_folder(checkout: Path, family: str) -> Path:
    """Return where the boards of a family lie in a checkout.

    Raises:
        OutputError: if they don't.
    """
    folder = checkout.joinpath(*find_family(family).package.split("."), "boards")
    if not folder.is_dir():
        raise OutputError(f"{folder} doesn't exist; run this in a checkout, or name one with --out")
    return folder


def write_levels(checkout: Path, boards: Iterable[BoardFile]) -> Iterator[Path]:
    """Measure the reference levels of boards and write them beside those of others; yield the files written.

    Raises:
        OutputError: if a family's boards aren't there.
    """
    by_family: dict[str, list[BoardFile]] = {}
    for board in boards:
        if find_family(board.family).reference_levels:
            by_family.setdefault(board.family, []).append(board)
    for family, members in by_family.items():
        path = boards_folder(checkout, family) / LEVELS_FILE
        known: dict[str, Any] = load_yaml(path.read_bytes()) or {} if path.is_file() else {}
        known |= {board.digest: measure_board(board) for board in members}
        write_text(path, _HEAD + dump_yaml(known))
        yield path
