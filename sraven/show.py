"""Instances for the eye: a coloured grid in the terminal."""

from colorsys import hls_to_rgb
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rich.columns import Columns
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from sraven.certificates.ambiguity import list_answers
from sraven.features import symbols_by_feature
from sraven.rules import Rules
from sraven.task import SRAVEN

ANSWERS_SHOWN = 12


@dataclass(frozen=True)
class Puzzle:
    """One instance with all that explains it.

    Attributes:
        split: its split.
        index: its index there.
        panels: uint8 ``[9, M]``: context and target.
        rules: uint8 ``[M]``: rule of each feature.
        permutations: uint8 ``[3, M]``: feature shown at each position, by column.
        answers: uint8 ``[n_answers, M]``: every ninth panel that fits.
        most_probable: uint8 ``[M]``: the ideal observer's answer.
        probability: how probable it is.
        K: number of symbols.
        known_rules: those that there are.
    """

    split: str
    index: int
    panels: NDArray[np.uint8]
    rules: NDArray[np.uint8]
    permutations: NDArray[np.uint8]
    answers: NDArray[np.uint8]
    most_probable: NDArray[np.uint8]
    probability: float
    K: int
    known_rules: Rules

    @property
    def rows(self) -> NDArray[np.uint8]:
        """The symbols of each feature, permutations undone: uint8 ``[M, 3 rows, 3 columns]``."""
        context, target = self.panels[None, :8], self.panels[8:]
        symbols = symbols_by_feature(context, target, self.permutations[None])[0]
        return np.moveaxis(symbols, 2, 0)


def make_puzzle(task: SRAVEN, split: str, index: int) -> Puzzle:
    """Return an instance with its answers and the ideal observer's view of it."""
    batch = task.take(split, [index])
    best, probability = task.ideal_observer(batch)
    return Puzzle(
        split=split,
        index=index,
        panels=np.concatenate([batch.context[0], batch.target]),
        rules=batch.rules[0],
        permutations=batch.permutations[0],
        answers=list_answers(batch.context[0], task.K, **task.context_options),
        most_probable=best[0],
        probability=float(probability[0]),
        K=task.K,
        known_rules=task.rules,
    )


def colour(value: int, total: int) -> tuple[int, int, int]:
    """Return the red, green and blue of one of ``total`` well separated colours, 0 to 255."""
    # Neighbours differ in lightness too, for eyes and terminals that tell few hues apart.
    red, green, blue = hls_to_rgb(value / total, 0.62 if value % 2 else 0.75, 0.75)
    return round(255 * red), round(255 * green), round(255 * blue)


def _style(value: int, total: int) -> str:
    return "rgb({},{},{})".format(*colour(value, total))


def _grid(puzzle: Puzzle, by_feature: bool, reveal: bool) -> Table:
    """Return the nine panels, coloured by symbol or by feature."""
    grid = Table.grid(padding=(0, 0))
    total = puzzle.panels.shape[1] if by_feature else puzzle.K
    width = max(2, len(str(puzzle.K - 1)))
    for row in range(3):
        cells = []
        for column in range(3):
            panel = puzzle.panels[3 * row + column]
            shades = puzzle.permutations[column] if by_feature else panel
            hidden = row == column == 2 and not reveal
            text = Text(justify="center")
            for symbol, shade in zip(panel.tolist(), shades.tolist(), strict=True):
                style = "dim" if hidden else f"bold {_style(shade, total)}"
                text.append(f"{'?' if hidden else symbol:>{width}} ", style)
            cells.append(Panel(text, expand=False))
        grid.add_row(*cells)
    return grid


def _rule_table(puzzle: Puzzle) -> Table:
    table = Table("feature", "rule", "row 1", "row 2", "row 3", "positions", box=None)
    for feature, (rule, rows) in enumerate(zip(puzzle.rules.tolist(), puzzle.rows, strict=True)):
        positions = [int(np.flatnonzero(order == feature)[0]) + 1 for order in puzzle.permutations]
        table.add_row(
            str(feature),
            Text(puzzle.known_rules[rule].name, _style(feature, len(puzzle.rules))),
            *(" ".join(map(str, row)) for row in rows.tolist()),
            " ".join(map(str, positions)),
        )
    return table


def _answer_lines(puzzle: Puzzle) -> Text:
    n = len(puzzle.answers)
    text = Text(f"{n} valid answer{'s' * (n != 1)}" + (":" if n else "") + "\n")
    for answer in puzzle.answers[:ANSWERS_SHOWN]:
        notes = ["the target"] * np.array_equal(answer, puzzle.panels[8])
        if np.array_equal(answer, puzzle.most_probable):
            notes.append(f"most probable, {puzzle.probability:.3f}")
        text.append(f"  {' '.join(map(str, answer))}  {', '.join(notes)}\n")
    if n > ANSWERS_SHOWN:
        text.append(f"  and {n - ANSWERS_SHOWN:,} more\n")
    return text


def render(puzzle: Puzzle, explain: bool = False) -> RenderableType:
    """Return a puzzle for `rich` to print.

    Args:
        puzzle: what to show.
        explain: also show the answer, the rules, which feature is where, and all valid answers.
    """
    title = Text(f"{puzzle.split} {puzzle.index:,}", "bold")
    question = _grid(puzzle, by_feature=False, reveal=False)
    if not explain:
        return Group(title, question)
    answer = _grid(puzzle, by_feature=True, reveal=True)
    grids = Columns([question, answer], padding=(0, 4))
    heading = Text("\nrules, with the rows of each feature and its positions in columns 1, 2, 3")
    return Group(title, grids, heading, _rule_table(puzzle), Text(), _answer_lines(puzzle))


def to_json(puzzle: Puzzle) -> dict[str, object]:
    """Return a puzzle as JSON values."""
    return {
        "split": puzzle.split,
        "index": puzzle.index,
        "context": puzzle.panels[:8].tolist(),
        "target": puzzle.panels[8].tolist(),
        "rules": [puzzle.known_rules[rule].name for rule in puzzle.rules],
        "permutations": puzzle.permutations.tolist(),
        "answers": puzzle.answers.tolist(),
        "most_probable": puzzle.most_probable.tolist(),
        "probability": puzzle.probability,
    }
