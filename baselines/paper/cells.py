"""Cells: board × configuration × seed, known by the digest of the configuration.

The configuration has the number of steps, on which the learning rate depends: a shorter run is no part of the
same cell but a cell of another *level*.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

from baselines.config import C4, LanguageConfig, RunConfig, TextRecipe, check_warmup
from baselines.lm.recipes import config_on_text
from baselines.model.names import look_up
from baselines.paper.figures import FIGURES, QUEUES, Figure, Row, read_board_once
from baselines.recipes import USUAL, make_config
from sraven.core.errors import ConfigurationError

Figures = Mapping[str, Figure]

NO_CORPUS = "the corpus isn't prepared"
"""In place of its digest, in the configuration of a cell of language modelling."""


@dataclass(frozen=True)
class Cell:
    """A run of a figure.

    Attributes:
        row: of the figure.
        point: of the grid.
        config: of the run, with its seed and steps.
    """

    row: Row
    point: Mapping[str, float]
    config: RunConfig

    @cached_property
    def digest(self) -> str:
        """What it is known by."""
        return self.config.digest


def config_of(row: Row, point: Mapping[str, float], seed: int) -> RunConfig:
    """Return the configuration of a row at a point of the grid, at full length.

    Args:
        row: of a figure.
        point: values of what the grid varies.
        seed: of the run.
    """
    board = read_board_once(row.board)
    changes: dict[str, Any] = {"seed": seed, **point, **row.changes}
    if isinstance(board, TextRecipe):
        return config_on_text(corpus=NO_CORPUS, vocabulary=board.pieces, **changes)
    config = make_config(board, **changes)
    return config if row.instances is None else replace(config, steps=row.instances // config.batch_size)


def as_planned(config: RunConfig) -> RunConfig:
    """Return a configuration as its cell had it before there was text: alike for all texts."""
    if not isinstance(config, LanguageConfig):
        return config
    return replace(config, corpus=NO_CORPUS, vocabulary=C4.pieces)


def cells_of(
    figure: Figure, *, steps: int | None = None, points: Sequence[Mapping[str, float]] | None = None
) -> list[Cell]:
    """Return the cells of a figure: by point of the grid, then by seed, then by row.

    Args:
        figure: of the paper.
        steps: of another level; None for full length.
        points: of the grid; None for all.

    Raises:
        ConfigurationError: for another level of a figure whose rows differ in length.
    """
    if steps is not None and not has_levels(figure):
        raise ConfigurationError(
            f"steps={steps:,}: the rows of {figure.name} have lengths of their own; "
            "choose another figure, or leave out --steps"
        )
    cells = []
    for point in figure.points if points is None else points:
        for seed in figure.seeds:
            for row in figure.rows:
                config = config_of(row, point, seed)
                cells.append(Cell(row, point, config if steps is None else replace(config, steps=steps)))
    return cells


def choose_cells(
    figure: Figure,
    *,
    grid: bool = False,
    steps: int | None = None,
    where: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> list[Cell]:
    """Return some cells of a figure.

    Args:
        figure: of the paper.
        grid: whether those of all points of the grid are wanted, not of the recipe's alone.
        steps: of another level; None for full length.
        where: values by the name of a field; a cell has one of them in each.

    Raises:
        ConfigurationError: if there is none, none has one of the values, or a rate would never reach its
            peak.
    """
    cells = cells_of(figure, steps=steps, points=figure.points if grid else figure.points[:1])
    found = [cell for cell in cells if all(fits(cell, name, values) for name, values in where.items())]
    unknown = [
        f"{name}={value}"
        for name, values in where.items()
        for value in values
        if not any(fits(cell, name, [value]) for cell in cells)
    ]
    if unknown or not found:
        given = unknown or [f"{name}={','.join(values)}" for name, values in where.items()]
        raise ConfigurationError(f"no run of {figure.name} is meant by --where {' --where '.join(given)}")
    for cell in found:
        check_warmup(cell.config)
    return found


class Chosen(NamedTuple):
    """Cells of a figure, or of a part of the queue.

    Attributes:
        name: of the figure, or the question of the part.
        figure: of the cells.
        cells: in the figure's order.
    """

    name: str
    figure: Figure
    cells: Sequence[Cell]


def choose(names: Sequence[str], where: Mapping[str, Sequence[str]], **options: Any) -> Iterator[Chosen]:
    """Yield the cells of figures and of queues, in order.

    Args:
        names: of figures, or of `QUEUES`.
        where: values that cells have by the name of a field; a part of a queue may have none.
        options: as of `choose_cells`.

    Raises:
        ConfigurationError: for an unknown name, or as `choose_cells`.
    """
    for name in names:
        if name not in QUEUES:
            look_up("figure", name, {**FIGURES, **QUEUES})
            yield Chosen(name, FIGURES[name], choose_cells(FIGURES[name], where=where, **options))
            continue
        for part in QUEUES[name]:
            figure = FIGURES[part.figure]
            cells = choose_cells(figure, where=part.where, **options)
            if cells := [each for each in cells if all(fits(each, *field) for field in where.items())]:
                yield Chosen(part.decides, figure, cells)


def read_where(texts: Sequence[str]) -> dict[str, list[str]]:
    """Return fields and values of texts such as ``attention=softmax,hyla``.

    An attention that is named is meant with the usual feed-forward layers, unless these are named as well.

    Raises:
        ConfigurationError: for another form, a field that no configuration has, or one that is there twice.
    """
    known, found = [field.name for field in fields(RunConfig)], {}
    for text in texts:
        name, equals, values = text.partition("=")
        if name not in known or not equals:
            raise ConfigurationError(
                f"--where {text!r}: expected FIELD=VALUE, a field being one of {', '.join(known)}"
            )
        if name in found:
            raise ConfigurationError(
                f"--where {text!r}: {name} is there twice; separate its values by commas"
            )
        found[name] = values.split(",")
    return {"feedforward": [USUAL["feedforward"]], **found} if "attention" in found else found


def fits(cell: Cell, name: str, wanted: Sequence[str]) -> bool:
    """Return whether a field of a cell has one of some values that were written down."""
    value = getattr(cell.config, name)
    for text in wanted:
        with suppress(ValueError):
            if value == type(value)(text):
                return True
    return False


def has_levels(figure: Figure) -> bool:
    """Return whether a shorter run can be one of a figure's: not if its rows differ in their length."""
    return len({row.instances for row in figure.rows}) == 1


def homes_of(config: RunConfig, figures: Figures = FIGURES) -> list[str]:
    """Return the names of the figures of which a run is one, the record's home first.

    At full length those that have it, else those that have it but for its length.
    """
    config = as_planned(config)
    whole, shorter = list[str](), list[str]()
    for figure in figures.values():
        found = [
            config_of(row, point, config.seed)
            for row in figure.rows
            if row.board == config.board and config.seed in figure.seeds
            for point in figure.points
            if all(getattr(config, name) == value for name, value in {**point, **row.changes}.items())
        ]
        if config in found:
            whole.append(figure.name)
        elif has_levels(figure) and any(replace(config, steps=each.steps) == each for each in found):
            shorter.append(figure.name)
    return whole or shorter
