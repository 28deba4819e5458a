"""Completions of many prompts: the likeliest pieces after each, prompts of one length at a time."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from baselines.lm.experiment import language_model
from baselines.lm.sample import continue_batch, load_language_run, text_after, tokenizer_of
from sraven.core.base.arguments import check_integer
from sraven.core.base.errors import ConfigurationError
from sraven.core.base.escape import escape

BATCH = 256
"""Prompts of a batch, unless another number is given."""

Prompt = tuple[str, str]
"""A prompt's id and its text."""

Waiting = list[tuple[str, NDArray[np.uint16]]]
"""Ids of prompts of one length, and their pieces."""


class Completer:
    """A finished run that completes prompts.

    Attributes:
        tokens: pieces to add at most.
        batch: prompts that are completed at once.
    """

    def __init__(self, folder: Path, tokens: int, batch: int = BATCH) -> None:
        """Load a run.

        Raises:
            ConfigurationError: for a number out of range, or a run on another board.
            OutputError: if there is no such run, or it isn't finished.
        """
        self._config, self._params = load_language_run(folder)
        self._tokenizer = tokenizer_of(folder)
        self.tokens = check_integer("tokens", tokens, 1, self._config.length - 1)
        self.batch = check_integer("batch", batch, 1, 1 << 16)

    def complete(self, prompts: Iterable[Prompt]) -> Iterator[Prompt]:
        """Yield the ids of prompts with their completions, up to the document's end, as batches get full.

        A prompt of a certain number of pieces waits for others of the same. The last batches are filled
        up with prompts that were there before, so that programs are compiled for one size.
        """
        waiting: dict[int, Waiting] = defaultdict(list)
        for name, text in prompts:
            pieces = self._encode(name, text)
            some = waiting[len(pieces)]
            some.append((name, pieces))
            if len(some) == self.batch:
                yield from self._complete(waiting.pop(len(pieces)))
        for some in waiting.values():
            yield from self._complete(some)

    def _encode(self, name: str, text: str) -> NDArray[np.uint16]:
        pieces = self._tokenizer.encode([text.encode(errors="replace")])[0][:-1]  # it goes on: no EOS
        room = self._config.length - self.tokens
        if len(pieces) > room:
            raise ConfigurationError(
                f"prompt {escape(name)} has {len(pieces):,} tokens; expected {room:,} at most: "
                f"{self.tokens:,} are to be added, and the model was trained on {self._config.length:,}"
            )
        return pieces

    def _complete(self, some: Waiting) -> Iterator[Prompt]:
        filled = [some[row % len(some)][1] for row in range(self.batch)]
        prompt_BT = jnp.asarray(np.stack(filled), jnp.int32)
        pieces_BS = continue_batch(
            language_model(self._config), self._params, prompt_BT, jax.random.key(0), count=self.tokens
        )
        for (name, prompt), pieces in zip(some, np.asarray(pieces_BS), strict=False):
            yield name, text_after(self._tokenizer, prompt, pieces)
