"""What to train next, by what it decides: parts of figures, in order, for who has a device for a while."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from baselines.model.names import look_up
from baselines.reproduction.cells import Cell, choose_cells, fits
from baselines.reproduction.sets import FIGURES, Figure

QUEUE = "queue"
"""Its name among those of figures."""


class Part(NamedTuple):
    """A part of the queue.

    Attributes:
        decides: the question that it answers.
        figure: name of the figure whose runs these are.
        where: values that the runs have, by the name of a field, see
            `baselines.reproduction.cells.choose_cells`.
    """

    decides: str
    figure: str
    where: Mapping[str, Sequence[str]] = {}


def _seeds(*seeds: int) -> list[str]:
    return [str(seed) for seed in seeds]


QUEUE_PARTS = (
    *(
        Part(f"Who composes, where {what}?", figure, {"board": [board]})
        for what, figure, board in (
            ("rules are in two blocks", "who-composes-flagship", "sraven-blocks-v1"),
            ("combinations are as few", "who-composes-flagship", "sraven-few-v1"),
            ("four pairs are held out", "who-composes-flagship", "sraven-pairs-v1"),
            ("90 % are held out", "figure-a5", "sraven-holdout90-v1"),
        )
    ),
    Part("Who leads at 20 million?", "seeds-sraven", {"seed": _seeds(3, 4, 5, 6)}),
    Part(
        "Is it attention dropout?",
        "attention-dropout-sraven",
        {"attention": ["softmax", "linear"], "attention_dropout": ["0.1"]},
    ),
    Part("Does one head compose? (Figure 5C)", "figure-5c", {"heads": ["1"]}),
    Part("And other numbers of heads?", "figure-5c", {"heads": ["2", "4", "8"]}),
    Part("Which part of HYLA is it? (Table A1)", "table-a1-sraven", {"feedforward": ["mlp"]}),
    Part("Do mixtures of experts? (Table A1)", "table-a1-sraven", {"feedforward": ["moe"]}),
    Part("Rivals, where blocks are held out", "rivals-blocks"),
    Part("Rivals on the ranked board", "rivals-sraven", {"attention": ["sparse_coding"]}),
    Part("Looped transformers on the ranked board", "rivals-sraven", {"network": ["looped"]}),
    Part(
        "With half and twice the data? (Figure 4)",
        "figure-4",
        {"layers": ["4"], "width": ["128"], "steps": ["78125", "312500"]},
    ),
    Part("With twice the layers? (Figure 4)", "figure-4", {"layers": ["8"], "width": ["128"]}),
    Part(
        "With other shares held out? (Figure A5)",
        "figure-a5",
        {"board": [f"sraven-holdout{share}-v1" for share in (10, 50, 70)], "seed": ["0"]},
    ),
    Part("Networks whose codes are shown (Figures A6 and A7)", "figures-a6-a7"),
    Part("Other φ", "activations"),
    Part("Other numbers of features (Figure 5D)", "figure-5d"),
)
"""In order. A run that several parts have is trained once."""

PROCESSOR_PARTS = (
    Part("Who composes, with three features?", "who-composes"),
    Part("And with other blocks?", "who-composes-blocks"),
    Part("Table A1 on fuzzy logic", "table-a1-fuzzylogic"),
)
"""What processors may do meanwhile: the name `QUEUE` followed by ``-cpu``."""

QUEUES: Mapping[str, Sequence[Part]] = {QUEUE: QUEUE_PARTS, f"{QUEUE}-cpu": PROCESSOR_PARTS}


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
        options: as of `baselines.reproduction.cells.choose_cells`.

    Raises:
        ConfigurationError: for an unknown name, or as `choose_cells`.
    """
    for name in names:
        if name not in QUEUES:
            look_up("figure", name, {**FIGURES, **QUEUES})
            figure = FIGURES[name]
            yield Chosen(name, figure, choose_cells(figure, where=where, **options))
            continue
        for part in QUEUES[name]:
            figure = FIGURES[part.figure]
            cells = choose_cells(figure, where=part.where, **options)
            if cells := [each for each in cells if all(fits(each, *field) for field in where.items())]:
                yield Chosen(part.decides, figure, cells)
