"""Text from a language model: likely continuations of a prompt, and completions of many prompts.

The prompt is computed at once, which fills the caches of all blocks. Then a scan adds one piece at a time: it
computes the last piece against the caches, draws the next one, and hands both on.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from baselines.config import LanguageConfig
from baselines.lm.experiment import check_recipe, language_model, language_program
from baselines.lm.shards import TOKENIZER
from baselines.lm.tokenizer import Tokenizer, read_tokenizer
from baselines.load import restore_params
from baselines.model.transformer import Transformer
from baselines.runs.directory import read_run
from sraven.core.arguments import check_integer
from sraven.core.errors import ConfigurationError, OutputError
from sraven.core.escape import escape

Array = jax.Array

COLDEST = 1e-20
"""Temperature below which logits would be infinite when they are divided by it."""


def load_language_run(folder: Path, *, step: int | None = None) -> tuple[LanguageConfig, Any]:
    """Return the configuration and the parameters of a run of the language model.

    Args:
        folder: the run's directory.
        step: of a checkpoint that there is, -1 for the newest; None for the last of a finished run.

    Raises:
        ConfigurationError: if it is a run on another board.
        OutputError: if there is none, it isn't finished and no step is given, or it has no such
            checkpoint.
    """
    config = read_run(folder)
    if not isinstance(config, LanguageConfig):
        raise ConfigurationError(f"{folder} is a run on {config.board}, not one of the language model")
    check_recipe(config)
    return config, restore_params(folder, language_program, config, step)


def tokenizer_of(folder: Path) -> Tokenizer:
    """Return the tokenizer of a run.

    Raises:
        OutputError: if its file is missing.
    """
    if not (folder / TOKENIZER).is_file():
        raise OutputError(f"{folder} has no {TOKENIZER}; `sraven train` writes it again")
    return read_tokenizer(folder / TOKENIZER)


def draw_pieces(logits_BN: Array, key: Array, temperature: float, top: int) -> Array:
    """Return a piece for each row, int32 ``[B]``.

    Args:
        logits_BN: of the next piece.
        key: a JAX random key.
        temperature: what logits are divided by; 0, or less than `COLDEST`, takes the likeliest piece.
        top: how many of the likeliest pieces are drawn from; 0 for all.
    """
    if temperature < COLDEST:
        return logits_BN.argmax(axis=-1).astype(jnp.int32)
    if top:
        least_B1 = jax.lax.top_k(logits_BN, top)[0][:, -1:]
        logits_BN = jnp.where(logits_BN >= least_B1, logits_BN, -jnp.inf)
    return jax.random.categorical(key, logits_BN / temperature, axis=-1).astype(jnp.int32)


@partial(jax.jit, static_argnames=("model", "count", "temperature", "top"))
def continue_batch(
    model: Transformer,
    params: Any,
    prompt_BT: Array,
    key: Array,
    *,
    count: int,
    temperature: float = 0.0,
    top: int = 0,
) -> Array:
    """Return the pieces that follow prompts of one length, int32 ``[B, count]``."""
    logits_B1N, memory = model.apply({"params": params}, prompt_BT, num_outputs=1, mutable=["cache"])
    first_B = draw_pieces(logits_B1N[:, 0], jax.random.fold_in(key, 0), temperature, top)

    def go_on(carry: tuple[Any, Array], step: Array) -> tuple[tuple[Any, Array], Array]:
        memory, piece_B = carry
        logits_B1N, memory = model.apply({"params": params, **memory}, piece_B[:, None], mutable=["cache"])
        following_B = draw_pieces(logits_B1N[:, 0], jax.random.fold_in(key, step), temperature, top)
        return (memory, following_B), following_B

    _, rest_SB = jax.lax.scan(go_on, (memory, first_B), jnp.arange(1, count))
    return jnp.concatenate([first_B[:, None], rest_SB.T], axis=1)


def continue_tokens(
    config: LanguageConfig,
    params: Any,
    prompt: NDArray[np.integer[Any]],
    count: int,
    *,
    samples: int = 1,
    temperature: float = 1.0,
    top: int = 0,
    seed: int = 0,
) -> NDArray[np.int32]:
    """Return pieces that follow a prompt, int32 ``[samples, count]``.

    Softmax attention and HYLA keep keys and values of what went before; linear attention keeps a state
    of fixed size.

    Args:
        config: of the run.
        params: its parameters.
        prompt: pieces, one at least.
        count: how many to add; with the prompt, no more than the model's sequences have.
        samples: how many continuations.
        temperature: what logits are divided by; 0 takes the likeliest piece.
        top: how many of the likeliest pieces are drawn from; 0 for all.
        seed: draws the pieces.

    Raises:
        ConfigurationError: for a number out of range.
    """
    room = config.length - len(prompt)
    if not len(prompt) or room < 1:
        raise ConfigurationError(
            f"the prompt has {len(prompt):,} tokens; expected 1 to {config.length - 1:,}, as the model was "
            f"trained on {config.length:,}"
        )
    check_integer("tokens", count, 1, room, f"what the model's {config.length:,} leave beside the prompt")
    check_integer("samples", samples, 1, 1 << 16)
    check_integer("top", top, 0, config.vocabulary)
    check_integer("seed", seed, 0, (1 << 32) - 1)
    if not 0 <= temperature < float("inf"):
        raise ConfigurationError(f"temperature={temperature!r}: expected a number, 0 or more")
    prompt_BT = jnp.tile(jnp.asarray(prompt, jnp.int32), (samples, 1))
    pieces = continue_batch(
        language_model(config),
        params,
        prompt_BT,
        jax.random.key(seed),
        count=count,
        temperature=float(temperature),
        top=top,
    )
    return np.asarray(pieces)


USUAL_COUNT = 64
"""Tokens that a text is continued by, unless another number is given."""


def sample_text(folder: Path, prompt: str, count: int | None = None, **options: Any) -> list[str]:
    """Return texts that a run lets follow a prompt, without it; each ends where its document does.

    Args:
        folder: of the run.
        prompt: how the document begins; may be empty.
        count: tokens to add at most; None for `USUAL_COUNT`, or what the model's sequences have room for.
        options: as of `continue_tokens`.

    Raises:
        ConfigurationError: for a number out of range, or a run on another board.
        OutputError: if there is no such run, or it isn't finished.
    """
    config, params = load_language_run(folder)
    tokenizer = tokenizer_of(folder)
    tokens = tokenizer.encode([prompt.encode(errors="replace")])[0][:-1]  # the document goes on: no EOS
    count = min(USUAL_COUNT, max(1, config.length - len(tokens))) if count is None else count
    pieces = continue_tokens(config, params, tokens, count, **options)
    texts = [text_after(tokenizer, tokens, row) for row in pieces]
    # The tokenizer drops spaces at the end of a prompt, and the next word begins with one.
    return [text.removeprefix(" ") if prompt[-1:].isspace() else text for text in texts]


def text_after(tokenizer: Tokenizer, prompt: NDArray[np.uint16], pieces: NDArray[np.int32]) -> str:
    """Return the text of pieces ``[count]`` that follow a prompt, up to the document's end."""
    ends = np.flatnonzero(pieces == tokenizer.special["eos"])
    kept = pieces[: ends[0]] if len(ends) else pieces
    # A first piece loses its leading space, so what follows is cut from the whole.
    return tokenizer.decode(np.concatenate([prompt, kept]))[len(tokenizer.decode(prompt)) :]


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
