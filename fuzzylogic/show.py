"""Sequences for the eye: a table of points, and the function as a formula."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from fuzzylogic.task import FuzzyLogic
from fuzzylogic.terms import formula

_BAR = "▏▎▍▌▋▊▉█"
_BAR_WIDTH = 12


@dataclass(frozen=True)
class Puzzle:
    """One sequence with what it leaves open.

    Attributes:
        split: its split.
        index: its index there.
        inputs: float32 ``[N, L]``.
        targets: float32 ``[N]``, the query's last.
        terms: term ids ``[K]``.
        agreeing: number of combinations of all terms that agree with the points shown.
        prediction: mean of what they predict for the query.
    """

    split: str
    index: int
    inputs: NDArray[np.float32]
    targets: NDArray[np.float32]
    terms: NDArray[np.int64]
    agreeing: int
    prediction: float

    @property
    def formula(self) -> str:
        """The function, as a formula."""
        return formula(self.terms, self.inputs.shape[1])


def make_puzzle(task: FuzzyLogic, split: str, index: int) -> Puzzle:
    """Return a sequence with what its points leave open."""
    batch = task.take(split, [index])
    found = task.identify(batch)
    return Puzzle(
        split=split,
        index=index,
        inputs=batch.inputs[0],
        targets=batch.targets[0],
        terms=batch.terms[0].astype(np.int64),
        agreeing=int(found.agreeing[0]),
        prediction=float(found.prediction[0]),
    )


def _bar(value: float) -> str:
    """Return a bar of up to twelve characters for a value from 0 to 1."""
    eighths = round(value * _BAR_WIDTH * len(_BAR))
    whole, rest = divmod(eighths, len(_BAR))
    return _BAR[-1] * whole + (_BAR[rest - 1] if rest else "")


def render(puzzle: Puzzle, explain: bool = False) -> RenderableType:
    """Return a sequence for `rich` to print.

    Args:
        puzzle: what to show.
        explain: also show the query's target, the function, and how many functions agree.
    """
    table = Table(box=None, pad_edge=False)
    for name in ("point", *(f"x{variable + 1}" for variable in range(puzzle.inputs.shape[1])), "value"):
        table.add_column(name, justify="right")
    table.add_column()
    last = len(puzzle.targets) - 1
    for n, (point, target) in enumerate(zip(puzzle.inputs.tolist(), puzzle.targets.tolist(), strict=True)):
        hidden = n == last and not explain
        table.add_row(
            "query" if n == last else str(n + 1),
            *(f"{x:.3f}" for x in point),
            "?" if hidden else f"{target:.3f}",
            Text("" if hidden else _bar(target), "cyan"),
            style="bold" if n == last else "",
        )
    title = Text(f"{puzzle.split} {puzzle.index:,}", "bold")
    if not explain:
        return Group(title, table)
    verb = "functions agree" if puzzle.agreeing != 1 else "function agrees"
    agree = f"{puzzle.agreeing:,} {verb} with the points shown"
    lines = Text(f"\n{puzzle.formula}\n{agree}; the ideal observer predicts {puzzle.prediction:.3f}\n")
    return Group(title, table, lines)


def to_json(puzzle: Puzzle) -> dict[str, object]:
    """Return a sequence as JSON values."""
    return {
        "split": puzzle.split,
        "index": puzzle.index,
        "inputs": puzzle.inputs.tolist(),
        "targets": puzzle.targets.tolist(),
        "terms": puzzle.terms.tolist(),
        "formula": puzzle.formula,
        "agreeing": puzzle.agreeing,
        "prediction": puzzle.prediction,
    }
