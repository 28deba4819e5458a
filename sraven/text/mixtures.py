"""What boards ask, as mixtures of sets of questions: found from the sets, drawn anew by another seed."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, islice
from typing import Any

from sraven.board.board import Board, board_ids, read_board
from sraven.core.errors import ConfigurationError
from sraven.text.forms import FORMS
from sraven.text.questions import Questions
from sraven.text.task import Ladder, T, take_turns
from sraven.text.wording import LadderWording


@dataclass(frozen=True)
class Mixture:
    """The questions of a board, asked in one form.

    Attributes:
        board: its id; the name of what is of no board.
        form: the board's name of the form, such as ``told-0-shot``; empty for sets of no board.
        levels: their names, such as ``M4-K8``.
        sets: the questions of each level.
        fresh: the seed by which they were drawn anew; None for the board's own questions.
        task: the questions as the board's task has them, drawn anew as they are; None for sets of no board.
    """

    board: str
    form: str
    levels: tuple[str, ...]
    sets: tuple[Questions, ...]
    fresh: int | None = None
    task: Ladder | None = None

    @property
    def name(self) -> str:
        """What to call it."""
        fresh = "" if self.fresh is None else f"fresh seed {self.fresh}"
        return ", ".join(filter(None, (self.board, self.form, fresh)))

    @property
    def count(self) -> int:
        """Number of questions."""
        return sum(questions.count for questions in self.sets)

    @property
    def lenient(self) -> bool:
        """Whether replies are ranked by the lenient reading."""
        return FORMS[self.sets[0].form].lenient

    def in_order(self, sets: Iterable[Iterable[T]]) -> Iterator[T]:
        """Merge what belongs to the questions, given set by set, into the order of the board."""
        return self.task.in_order(sets) if self.task else chain.from_iterable(sets)

    def in_turn(self, limit: int | None = None) -> list[tuple[Questions, int]]:
        """Return the first questions, levels in turn, so that any number of them is of all levels."""
        asked = ([(questions, index) for index in range(questions.count)] for questions in self.sets)
        return list(islice(take_turns(asked), limit))


def read_text_board(board_id: str) -> tuple[Board, LadderWording]:
    """Return a board whose questions `sraven text` asks.

    Raises:
        ConfigurationError: if there is no such board, or it asks no questions in words.
    """
    board = read_board(board_id)
    wording = board.task.wording if board.is_text else None
    if not isinstance(wording, LadderWording):
        raise ConfigurationError(f"{board.id} asks nothing in words; `sraven boards` lists those that do")
    return board, wording


def mixture_of(board_id: str, form: str, fresh: int | None = None) -> Mixture:
    """Return the questions of a board.

    Args:
        board_id: its id.
        form: a name of the board's, such as ``told-0-shot``.
        fresh: a seed to draw the same mixture of questions anew by; None for the board's own.

    Raises:
        ConfigurationError: for another board, form or seed.
    """
    board, wording = read_text_board(board_id)
    if form not in board.prompts:
        raise ConfigurationError(f"{board.id} has no form {form}; it has {', '.join(board.prompts)}")
    if fresh == wording.task.seed:
        raise ConfigurationError(f"{fresh} is the seed of {board.id} itself; choose another fresh seed")
    task = wording.task if fresh is None else replace(wording.task, seed=fresh)
    return Mixture(board.id, form, task.part_names, type(wording)(task).questions(form), fresh, task)


def of_no_board(name: str, *sets: Questions) -> Mixture:
    """Return sets of no board as a mixture, in which one comes after the other."""
    return Mixture(name, "", tuple(questions.name for questions in sets), sets)


def _without_seed(questions: Questions) -> Questions:
    return replace(questions, task=replace(questions.task, seed=0))


@lru_cache(1)
def _known(boards: tuple[str, ...]) -> dict[Questions, tuple[str, str, int]]:
    """Return the board, its form and its seed by sets of questions, whose own seed is left out."""
    found: dict[Questions, tuple[str, str, int]] = {}
    for name in boards:
        wording = read_text_board(name)[1]
        for form in wording.forms:
            for questions in wording.questions(form):
                found.setdefault(_without_seed(questions), (name, form, wording.task.seed))
    return found


def mixtures_of(sets: Iterable[Questions]) -> Iterator[tuple[Mixture, list[Questions]]]:
    """Yield sets of questions by the mixture that they are of; each of no board is one by itself."""
    known = _known(tuple(each for each in board_ids() if read_board(each).is_text))
    found: dict[Any, list[Questions]] = {}
    for questions in sets:
        key: Any = questions
        if place := known.get(_without_seed(questions)):
            board, form, seed = place
            key = board, form, None if questions.task.seed == seed else questions.task.seed
        found.setdefault(key, []).append(questions)
    for key, members in found.items():
        yield of_no_board(key.name, key) if isinstance(key, Questions) else mixture_of(*key), members
