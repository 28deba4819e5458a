"""Reference levels of a board, beside chance and the ceilings of its file.

A board's file never changes, and some of what its scores are read against was thought of later. So it
stands in a file beside the boards, ``lines.yaml``, by the digest of the board's file. What each line is, its
family says (`Family.lines`). ``sraven freeze --lines`` measures them.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import yaml

from sraven.core.base.errors import BoardError, OutputError
from sraven.core.boards.board_paths import read_beside
from sraven.core.boards.ceilings import MeasuredCeiling, rounded
from sraven.core.boards.content import BoardFile
from sraven.core.system.files import write_text
from sraven.core.tasks.families import find_family, make_board_task
from sraven.core.untrusted.read import dump_yaml

LINES = "lines.yaml"

_HEAD = """\
# What scores on boards are read against beside the ceilings of their files, by the digest of a board's file:
# by split, line and metric. `sraven freeze --lines` measures it; what each line is, the family says.
"""

Lines = Mapping[str, Mapping[str, Mapping[str, MeasuredCeiling]]]
"""The numbers of a board, by split, by name of the line, and by metric."""


@dataclass(frozen=True)
class BoardLine:
    """A line of a board.

    Attributes:
        name: such as ``composition-blind``.
        title: what stands beside it.
        meaning: whose score it is, in words.
        is_lower: whether it is what can be reached without what the board asks for.
        value: the score.
        standard_error: over the instances of the split.
    """

    name: str
    title: str
    meaning: str
    is_lower: bool
    value: float
    standard_error: float


def parse_lines(data: bytes) -> dict[str, Lines]:
    """Return the lines in a file, by the digest of a board's file.

    Raises:
        BoardError: if it isn't such a file.
    """
    try:
        content = yaml.safe_load(data) or {}
        return {
            digest: {
                split: {
                    name: {metric: MeasuredCeiling(**found) for metric, found in metrics.items()}
                    for name, metrics in lines.items()
                }
                for split, lines in of_board["lines"].items()
            }
            for digest, of_board in content.items()
        }
    except (yaml.YAMLError, UnicodeDecodeError, AttributeError, KeyError, TypeError):
        raise BoardError(f"{LINES} of the boards is damaged; reinstall sraven") from None


@cache
def read_lines() -> Mapping[str, Lines]:
    """Return the lines of all boards of this installation, by the digest of a board's file.

    Raises:
        BoardError: if a file of them is damaged.
    """
    return {digest: lines for data in read_beside(LINES) for digest, lines in parse_lines(data).items()}


def lines_of(board: BoardFile, split: str, metric: str) -> tuple[BoardLine, ...]:
    """Return the lines of a board by a metric, in the order of its family; none where none is known."""
    measured = read_lines().get(board.digest, {}).get(split, {})
    return tuple(
        BoardLine(name, *line, measured[name][metric].value, measured[name][metric].standard_error)
        for name, line in find_family(board.family).lines.items()
        if metric in measured.get(name, {})
    )


def measure_lines(board: BoardFile, threads: int | None = None) -> dict[str, Any]:
    """Return what `LINES` has of a board."""
    task, measure = make_board_task(board.config), find_family(board.family).measure_lines
    return {
        "board": board.id,
        "lines": {
            split: {
                name: {metric: rounded(mean) for metric, mean in means.items()}
                for name, means in resolve_name(measure)(task, split, size, threads).items()
            }
            for split, size in board.splits.items()
        },
    }


def boards_folder(checkout: Path, family: str) -> Path:
    """Return where the boards of a family lie in a checkout."""
    return checkout.joinpath(*find_family(family).package.split("."), "boards")


def write_lines(checkout: Path, boards: Iterable[BoardFile]) -> Iterator[Path]:
    """Measure the lines of boards and write them beside those of others; yield the files written.

    Raises:
        OutputError: if a family's boards aren't there.
    """
    by_family: dict[str, list[BoardFile]] = {}
    for board in boards:
        if find_family(board.family).lines:
            by_family.setdefault(board.family, []).append(board)
    for family, members in by_family.items():
        path = boards_folder(checkout, family) / LINES
        if not path.parent.is_dir():
            raise OutputError(f"{path.parent} doesn't exist; run this in a checkout, or name one with --out")
        known: dict[str, Any] = yaml.safe_load(path.read_text("utf-8")) or {} if path.is_file() else {}
        known |= {board.digest: measure_lines(board) for board in members}
        write_text(path, _HEAD + dump_yaml(known))
        yield path
