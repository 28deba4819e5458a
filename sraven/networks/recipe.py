"""How networks are trained, and how far training has come."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from sraven.core.arguments import check_integer, check_number
from sraven.core.errors import ConfigurationError


class Recipe(NamedTuple):
    """How networks are trained: as the baselines are (Table A3), unless a value is another.

    Attributes:
        learning_rate: of AdamW, its peak.
        batch_size: instances of an update.
        weight_decay: of matrices.
        warmup: updates over which the rate rises; None for the recipe's share of all.
        clip_norm: the largest norm that the gradient of an update keeps; None for any.
    """

    learning_rate: float = 1e-3
    batch_size: int = 128
    weight_decay: float = 0.1
    warmup: int | None = None
    clip_norm: float | None = None

    @property
    def changes(self) -> str:
        """In which values it isn't the baselines', in words; empty if in none."""
        usual = Recipe()._asdict()
        changed = [f"{name} {value}" for name, value in self._asdict().items() if value != usual[name]]
        return f" Not by the recipe: {', '.join(changed)}." if changed else ""


def make_recipe(**changes: Any) -> Recipe:
    """Return the recipe with changes.

    Raises:
        ConfigurationError: for a value out of range, or a name that it hasn't.
    """
    if unknown := [name for name in changes if name not in Recipe._fields]:
        raise ConfigurationError(f"{unknown[0]!r} isn't of the recipe; expected {', '.join(Recipe._fields)}")
    found = Recipe(**changes)
    check_number("learning_rate", found.learning_rate, is_positive=True)
    check_integer("batch_size", found.batch_size, 1, 1 << 20)
    check_number("weight_decay", found.weight_decay)
    if found.warmup is not None:
        check_integer("warmup", found.warmup, 0, 1 << 40)
    if found.clip_norm is not None:
        check_number("clip_norm", found.clip_norm, is_positive=True)
    return found


@dataclass(frozen=True)
class Progress:
    """How far training has come. As a text, it is a line.

    Attributes:
        board: its id.
        seed: that is trained; None where all are trained together.
        step: updates done.
        steps: all of them.
        loss: of training.
        scores: of the first instances of each split, by the board's metric, where they were just measured.
        seconds: since this call began with the seed.
        seconds_left: of the seed, at this speed.
    """

    board: str
    seed: int | None
    step: int
    steps: int
    loss: float
    scores: Mapping[str, float]
    seconds: float
    seconds_left: float

    def __str__(self) -> str:
        parts = [self.board, *(() if self.seed is None else (f"seed {self.seed}",))]
        parts += [f"step {self.step:,} of {self.steps:,}: loss {self.loss:.4f}"]
        parts += [f"{split} {value:.4f}" for split, value in self.scores.items()]
        if self.seconds_left > 0:
            parts += [f"{self.seconds_left / 60:.0f} min left"]
        return ", ".join(parts)
