"""Training batches: windows of T + 1 tokens in shuffled order, a pure function of the step.

Windows are cut from the tokens of all shards end to end, across documents and shards, as NanoDO packs them.
Two in a row share one token, so that each token but the first is a target once an epoch. Fewer than T
tokens at the end are no window.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import grain
import numpy as np
from numpy.typing import NDArray

from baselines.lm.corpus import Corpus
from baselines.lm.share import BatchShare
from sraven.core.arguments import check_integer
from sraven.core.errors import ConfigurationError

MOST_WINDOWS = 1 << 32
"""Grain shuffles indices of 32 bits."""


@dataclass(frozen=True)
class Windows:
    """Batches of windows. Every window comes once an epoch, in an order of its own each epoch.

    Attributes:
        corpus: the tokens.
        length: T, targets of a window.
        share: rows of a batch, and which of them this process takes.
        seed: draws the order.
    """

    corpus: Corpus
    length: int
    share: BatchShare
    seed: int = 0

    def __post_init__(self) -> None:
        check_integer("length", self.length, 1, 1 << 30)
        check_integer("seed", self.seed, 0, (1 << 32) - 1)
        if not 1 <= self.count < MOST_WINDOWS:
            raise ConfigurationError(
                f"length={self.length:,}: {self.corpus.tokens:,} tokens make {self.count:,} windows; "
                f"expected 1 to {MOST_WINDOWS - 1:,}, so prepare more documents or use another length"
            )

    @property
    def count(self) -> int:
        """Windows of an epoch."""
        return max(0, self.corpus.tokens - 1) // self.length

    @cached_property
    def _order(self) -> Any:
        # Not shuffle(seed): Grain adds the epoch to that, and two seeds would share all epochs but one.
        return grain.MapDataset.range(self.count).seed(self.seed).shuffle().repeat()

    def batch(self, step: int) -> NDArray[np.int32]:
        """Return this process's rows of a step's batch, int32 [B / processes, T + 1].

        Inputs are ``[:, :-1]`` and targets ``[:, 1:]``. It costs the same at any step.
        """
        starts = [self._order[row] * self.length for row in self.share.rows(step)]
        return np.stack([self.corpus.read(start, self.length + 1) for start in starts]).astype(np.int32)
