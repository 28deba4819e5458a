"""The puzzles as a dataset of reasoning-gym; where that library isn't, the class does the same on its own.

>>> from sraven.harness.gym import SravenConfig, SravenDataset
>>> puzzles = SravenDataset(SravenConfig(M=2, size=3))
>>> puzzles.score_answer(puzzles[0]["answer"], entry=puzzles[0])
1.0
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from sraven.harness.questions import make_questions, verdict
from sraven.text.prompts import ANSWER

try:
    from reasoning_gym.dataset import ProceduralDataset
    from reasoning_gym.factory import register_dataset
except ImportError:
    ProceduralDataset, register_dataset = object, None

NAME = "sraven"
"""What reasoning-gym calls it."""


@dataclass
class SravenConfig:
    """Options of `sraven.harness.questions.make_questions`; ``size`` is how many there are."""

    M: int = 4
    K: int = 8
    form: str = "told"
    shots: int = 0
    answers: str = "unique"
    split: str = "train"
    seed: int = 0
    size: int = 500

    def validate(self) -> None:
        """Raise a ConfigurationError (a ValueError) for a value out of range."""
        options = asdict(self)
        make_questions(count=options.pop("size"), **options)


class SravenDataset(ProceduralDataset):
    """Puzzles by number, each with its answer and its id."""

    def __init__(self, config: SravenConfig) -> None:
        options = asdict(config)
        self.config, self.seed, self.size = config, config.seed, config.size
        self._questions = make_questions(count=options.pop("size"), **options)

    def __len__(self) -> int:
        """Return the number of puzzles."""
        return self.size

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Return the puzzles, one after the other."""
        return map(self.__getitem__, range(self.size))

    def __getitem__(self, idx: int) -> dict[str, Any]:
        """Return a puzzle: ``question``, ``answer``, and ``metadata`` with its ``id`` and its place."""
        if not 0 <= idx < self.size:
            raise IndexError(f"puzzle {idx} of {self.size}")
        [question], [answer] = self._questions.prompts_and_answers([idx])
        source = {"source_dataset": NAME, "source_index": idx, "id": self._questions.id_of(idx)}
        return {"question": question, "answer": answer, "metadata": source}

    def score_answer(self, answer: str | None, entry: dict[str, Any]) -> float:
        """Return 1.0 for a valid panel, else 0.0; the panel may come alone, without ``Answer:``."""
        replies = (answer, f"{ANSWER} {answer}")
        return max(verdict(entry["metadata"]["id"], reply)["valid"] for reply in replies)


if register_dataset:
    register_dataset(NAME, SravenDataset, SravenConfig)
