"""Make a tokenizer of puzzles as text: its pieces are numbers, brackets and the words that never change.

    python tests/speed/text.py puzzles.model 8 train-M2.jsonl train-M3.jsonl

It is given how many symbols there are at most, and what `sraven text generate --solved` wrote, a file for
each level. The page docs/text.md has the commands before it and after it.
"""

import io
import json
import sys
from pathlib import Path
from string import ascii_letters, punctuation

import sentencepiece

from sraven.files.files import write_bytes
from sraven.text.prompts import ANSWER, BETWEEN

SPECIAL = {"pad_id": 0, "eos_id": 1, "bos_id": 2, "unk_id": 3}
SPACE = "\u2581"
"""How SentencePiece writes a space."""


def pieces_of(symbols, heads):
    """Yield the pieces that texts are cut into, but for what is rare: heads, numbers, brackets."""
    yield from (SPACE + head.replace(" ", SPACE) for head in heads)
    yield from (space + str(number) for number in range(symbols) for space in ("", SPACE))
    yield from (f"{SPACE}[", f"]{SPACE}[", "]", "?]", f"{SPACE}{ANSWER}{SPACE}[")


def head_of(path):
    """Return what the first text of a file says before its puzzle, white space folded as in documents."""
    with Path(path).open() as lines:
        text = json.loads(next(lines))["text"]
    return " ".join(text.split(BETWEEN + "[")[0].split())


def main(goal, symbols, *files):
    """Write a SentencePiece model: the pieces above, and single characters for whatever else there is."""
    heads, model = sorted(set(map(head_of, files))), io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([ascii_letters, punctuation]),
        model_writer=model,
        model_type="char",
        vocab_size=4 + 256 + len(ascii_letters + punctuation) + 200,
        hard_vocab_limit=False,
        byte_fallback=True,
        num_threads=1,
        minloglevel=2,
        user_defined_symbols=list(dict.fromkeys(pieces_of(int(symbols), heads))),
        **SPECIAL,
    )
    write_bytes(Path(goal), model.getvalue())


if __name__ == "__main__":
    main(*sys.argv[1:])
