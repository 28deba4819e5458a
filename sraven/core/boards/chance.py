"""What guessing scores on a board."""

from collections.abc import Callable, Mapping
from math import log

from sraven.core.boards.board import Board

CHANCE: Mapping[str, Callable[[Board], float]] = {
    # all features of a panel guessed
    "accuracy": lambda board: float(board.config["K"]) ** -board.prediction.shape[0],
    # the mean of each sequence's targets
    "r2_per_sequence": lambda board: 0.0,
    # all pieces of the tokenizer equally likely
    "loss": lambda board: log(board.config["pieces"]),
}
"""What guessing scores, by primary metric."""


def chance_of(board: Board) -> float | None:
    """Return what guessing scores by a board's primary metric; None where nobody said."""
    guess = CHANCE.get(board.metric)
    return None if guess is None else guess(board)
