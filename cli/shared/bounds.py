"""Print what scores are read against: ceilings, reference levels, chance."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from cli.shared.printing import print_rows
from sraven.core.base.escape import with_error

if TYPE_CHECKING:
    from sraven.core.boards.board import Board

Row = tuple[str, Mapping[str, str]]
"""The title of a reference level, and its score by split."""


def _ceiling(board: "Board", splits: Sequence[str]) -> Iterator[Row]:
    """Yield the ceiling of the board's file, and what it assumes."""
    found = {split: each for split in splits if (each := board.ceiling(split, board.metric))}
    scores = {split: with_error(each.value, each.standard_error) for split, each in found.items()}
    for answers in dict.fromkeys(each.answers for each in found.values()):
        yield f"ceiling, {answers}, knowing the split", scores


def line_rows(board: "Board", splits: Sequence[str]) -> Iterator[Row]:
    """Yield the reference levels of a board, and last the score of guessing."""
    by_name: dict[str, dict[str, str]] = {}
    for split in splits:
        for line in board.reference_levels(split):
            by_name.setdefault(line.title, {})[split] = with_error(line.value, line.standard_error)
    yield from by_name.items()
    if board.chance is not None:
        yield "chance", dict.fromkeys(splits, f"{board.chance:.4g}")


def print_bounds(board: "Board", splits: Sequence[str]) -> None:
    """Print what scores by the board's primary metric are read against on some splits."""
    if found := [*_ceiling(board, splits), *line_rows(board, splits)]:
        rows = ((label, *(values.get(split, "–") for split in splits)) for label, values in found)
        print_rows((f"{board.metric} is read against", *splits), rows)
