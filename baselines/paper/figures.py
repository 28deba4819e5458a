"""The paper's figures and tables, read from `figures.yaml`, and the queue of their parts, from `queue.yaml`.

What a row doesn't say is the recipe's: `baselines.table_a3.TABLE_A3`, at one point of its grid.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from baselines.config import TextRecipe, find_board
from baselines.table_a3 import TABLE_A3
from sraven.board.board import Board
from sraven.files.yaml_loader import load_yaml

read_board_once = cache(find_board)

ATTENTIONS = {"softmax": "softmax", "linear": "linear", "hyla": "HYLA"}
"""The three that all figures compare: names of functions, and what pages call them."""


@dataclass(frozen=True)
class Row:
    """A row of a table, or a point of a figure: one configuration but for seed and point of the grid.

    Attributes:
        board: id of the board.
        labels: what distinguishes it from other rows, by the heading of a column.
        changes: fields of the configuration in which it differs from the recipe.
        instances: that it is trained on; None for the board's budget.
        reported: name of the method among the board's reported figures; None if there is no number.
    """

    board: str
    labels: Mapping[str, str]
    changes: Mapping[str, Any]
    instances: int | None = None
    reported: str | None = None


@dataclass(frozen=True)
class Chart:
    """How the rows of a figure are drawn: a line for each attention.

    Attributes:
        across: heading of the column along the horizontal axis.
        panel: heading of the column of which each value has a panel; None for one.
    """

    across: str
    panel: str | None = None


@dataclass(frozen=True)
class Figure:
    """A figure or table of the paper.

    Attributes:
        name: short, for commands and files.
        title: what it is in the paper, and of what.
        family: of its tasks, a name of `TABLE_A3`.
        rows: what is compared.
        seeds: how often each.
        chart: how it is drawn; None for a table.
        gridded: whether the paper searches the grid for it.
        compared: headings of the columns along which rows are compared, all others being equal.
        costed: whether its page says what each row costs, and what its scores are read against.
        kept: whether its page says what rows keep of their score on known combinations.
    """

    name: str
    title: str
    family: str
    rows: tuple[Row, ...]
    seeds: tuple[int, ...] = (0, 1, 2)
    chart: Chart | None = None
    gridded: bool = True
    compared: tuple[str, ...] = ("attention",)
    costed: bool = False
    kept: bool = False

    @cached_property
    def points(self) -> tuple[Mapping[str, float], ...]:
        """Points of the grid, the recipe's first."""
        points = TABLE_A3[self.family].points
        return points if self.gridded else points[:1]

    @property
    def headings(self) -> tuple[str, ...]:
        """Of the columns that distinguish rows."""
        return tuple(self.rows[0].labels)

    @property
    def board(self) -> Board | TextRecipe:
        """Of the first row; its metric and splits are those of all."""
        return read_board_once(self.rows[0].board)


class Part(NamedTuple):
    """A part of the queue.

    Attributes:
        decides: the question that it answers.
        figure: name of the figure whose runs these are.
        where: values that the runs have, by the name of a field, see
            `baselines.paper.cells.choose_cells`.
    """

    decides: str
    figure: str
    where: Mapping[str, Sequence[str]] = {}


def _read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = load_yaml(Path(__file__).with_name(name).read_bytes())
    return {key: value for key, value in found.items() if not key.startswith(".")}


def _rows(block: Mapping[str, Any]) -> Iterator[Row]:
    """Yield the rows of a block, as the head of `figures.yaml` describes it."""
    axes, of_all = block["axes"], {name: value for name, value in block.items() if name != "axes"}
    for values in product(*(axis.items() for axis in axes.values())):
        labels, changes = dict[str, str](), dict(of_all)
        for headings, (words, change) in zip(axes, values, strict=True):
            several = ", " in headings
            columns = (headings.split(", "), words.split(", ")) if several else ([headings], [words])
            labels |= zip(*columns, strict=True)
            changes |= change
        board, instances, reported = (changes.pop(name, None) for name in ("board", "instances", "reported"))
        yield Row(board, labels, changes, instances, reported and reported.format(**labels))


def _figure(name: str, rows: Sequence[Any], chart: Mapping[str, str] | None = None, **fields: Any) -> Figure:
    fields = {name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()}
    every = tuple(row for block in rows for row in _rows(block))
    return Figure(name, rows=every, chart=Chart(**chart) if chart else None, **fields)


FIGURES: Mapping[str, Figure] = {
    name: _figure(name, **found) for name, found in _read("figures.yaml").items()
}
"""By name, in the order of the paper. A run that several have is trained once; its record is the first's."""

QUEUES: Mapping[str, Sequence[Part]] = {
    name: [Part(**part) for part in parts] for name, parts in _read("queue.yaml").items()
}
"""Parts of figures in order, for GPUs (``queue``) and for processors."""
