"""How many tokens a text is: estimated, or counted by a tokenizer."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sraven.core.base.errors import ConfigurationError

_PIECE = re.compile(r"[A-Za-z]+| ?[0-9]+|[^A-Za-z0-9\s]")


def estimate_tokens(text: str) -> int:
    """Return about how many tokens a text is: one for each word, number, mark, and space before a number.

    So do the tokenizers of most models cut prompts of this project: they put a space to a word or mark behind
    it, but to no number, and the end of a line to the mark before it.
    """
    return sum(1 + piece.startswith(" ") for piece in _PIECE.findall(text))


def token_counter(path: Path | None) -> Callable[[str], int]:
    """Return what counts the tokens of a text; for None, what estimates them.

    Args:
        path: ``tokenizer.json`` of the Hugging Face libraries, or a SentencePiece ``.model``.

    Raises:
        ConfigurationError: if it is neither.
        ImportError: if there isn't the library that reads it.
    """
    if path is None:
        return estimate_tokens
    tokenizer: Any
    try:
        if path.suffix == ".json":
            from tokenizers import Tokenizer

            tokenizer = Tokenizer.from_file(str(path))
            return lambda text: len(tokenizer.encode(text).ids)
        from sentencepiece import SentencePieceProcessor

        tokenizer = SentencePieceProcessor(model_file=str(path))
    except ImportError:
        raise
    except Exception as error:  # each library has exceptions of its own
        raise ConfigurationError(f"{path} is no tokenizer.json and no SentencePiece model: {error}") from None
    return lambda text: len(tokenizer.encode(text))
