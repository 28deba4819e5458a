"""Questions with eight panels to choose from: a track of its own, for small models."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sraven.core.base.arguments import check_choice
from sraven.core.base.estimate import Mean
from sraven.text.choice import CHOICES, LETTERS, SCHEMES, draw_choices, floors
from sraven.text.forms import FORMS
from sraven.text.grading import Grades, check_replies
from sraven.text.lenient import Reading, read_letter
from sraven.text.prompts import ANSWER, fill, panel_pattern, puzzle_pattern
from sraven.text.questions import Indices, Questions
from sraven.text.replies import parse_letter

_HOW = (
    "Exactly one of the panels A to H is right. End your reply with one line like this, X being its letter, "
    f"and nothing behind it:\n{ANSWER} X"
)


@dataclass(frozen=True)
class Choosing(Questions):
    """Questions with eight panels to choose from, of which one fits: the target.

    Scores are no measure of finding rules by themselves: see `floors`.

    Attributes:
        choices: how the seven others are drawn, one of `sraven.text.SCHEMES`.
    """

    choices: str = "centred"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("choices", self.choices, tuple(SCHEMES))
        check_choice("form", self.form, tuple(name for name, form in FORMS.items() if form.is_usual))

    @property
    def name(self) -> str:
        """The name, as that of questions without choices, and the scheme behind."""
        return f"{super().name}_{self.choices}"

    @property
    def chance(self) -> float:
        """What guessing a letter scores."""
        return 1 / CHOICES

    def certainties(self, indices: Indices, threads: int | None = None) -> NDArray[np.float64] | None:
        """Return 1 for each question of the form `told`: only one of the choices fits."""
        return np.ones(len(indices)) if FORMS[self.form].bounded else None

    def floors(self) -> dict[str, Mean]:
        """Return what solvers score that look for no rule: those of `sraven.text.choice.FLOORS`."""
        every = np.arange(self.count)
        return floors(self.take(every).context, *self._drawn(self.split, every))

    def grade(
        self, indices: Indices, replies: Sequence[object], threads: int | None = None, reading: str = "strict"
    ) -> Grades:
        """Grade replies to questions by their indices; `valid` is the same as `target`."""
        check_replies(replies, len(indices))
        panels, right = self._drawn(self.split, np.asarray(indices, np.int64), threads)
        letters = [parse_letter(reply, CHOICES, reading) for reply in replies]
        parsed = np.array([letter is not None for letter in letters], np.bool_)
        chosen = np.array([letter or 0 for letter in letters], np.int64)
        answers = np.where(parsed[:, None], panels[np.arange(len(panels)), chosen], np.uint8(0))
        target = parsed & (chosen == right)
        return Grades(answers, parsed, target, target.copy())

    def read(self, reply: object) -> Reading:
        """Return which choice a reply answers, read leniently."""
        return read_letter(reply, CHOICES)

    def _drawn(
        self, split: str, indices: NDArray[np.int64], threads: int | None = None
    ) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        return draw_choices(self.task, split, indices, self.choices, threads)

    def _how_to_reply(self) -> str:
        return _HOW

    def _pose(self, split: str, indices: Indices) -> tuple[list[str], list[str]]:
        """Return puzzles with their choices below, and the lines with the right letters."""
        places = np.asarray(indices, np.int64)
        panels, right = self._drawn(split, places)
        listed = "\n".join(f"{letter}: {panel_pattern(self.task.M)}" for letter in LETTERS)
        pattern = f"{puzzle_pattern(self.task.M)}\n{listed}"
        shown = np.concatenate([self.task.take(split, places).context, panels], axis=1)
        return fill(pattern, shown), [f"{ANSWER} {LETTERS[choice]}" for choice in right.tolist()]
