"""A tiny transformer that learns puzzles as text: the whole way, by the project's own commands.

    python tests/speed/text.py work --levels 1 2 --attention softmax --steps 12000

makes a corpus of rendered puzzles with their answers from `train` of each level of version 2, and a tokenizer
whose pieces are numbers, brackets and the words that are always the same; prepares, trains, completes the
prompts of the boards and scores them. What is in the folder already isn't made again, so a run that broke
off goes on.
"""

import argparse
import io
import json
import subprocess
import sys
from pathlib import Path
from string import ascii_letters, punctuation

import sentencepiece

from sraven.files.files import write_bytes
from sraven.text.prompts import ANSWER, BETWEEN
from sraven.text.questions import LEVELS

FORM = "untold2"
BOARDS = "sraven-text-lite-v2", "sraven-text-v2"
SPECIAL = {"pad_id": 0, "eos_id": 1, "bos_id": 2, "unk_id": 3}
SPACE = "\u2581"
"""How SentencePiece writes a space."""


def sraven(*arguments):
    """Run a command of the project."""
    print("sraven", *arguments, flush=True)
    subprocess.run([sys.executable, "-m", "sraven", *map(str, arguments)], check=True)


def options_of(rung, count, split):
    """Return the options of `sraven text generate` for a level."""
    task = rung.task
    options = ["--M", task.M, "--K", task.K, "--holdout", task.holdout, "--seed", task.seed]
    return [*options, "--answers", task.answers, "--split", split, "-n", count, "--form", FORM]


def pieces_of(rungs, heads):
    """Yield the pieces that texts are cut into, but for what is rare: heads, numbers, brackets."""
    yield from (SPACE + head.replace(" ", SPACE) for head in heads)
    largest = max(rung.K for rung in rungs)
    yield from (space + str(number) for number in range(largest) for space in ("", SPACE))
    yield from (f"{SPACE}[", f"]{SPACE}[", "]", "?]", f"{SPACE}{ANSWER}{SPACE}[")


def make_tokenizer(rungs, texts):
    """Return a SentencePiece model: the pieces above, and single characters for whatever else there is."""
    # White space is folded as in documents; a head ends where the puzzle begins.
    heads = sorted({" ".join(text.split(BETWEEN + "[")[0].split()) for text in texts})
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([ascii_letters, punctuation]),
        model_writer=model,
        model_type="char",
        vocab_size=4 + 256 + len(ascii_letters + punctuation) + 200,
        hard_vocab_limit=False,
        byte_fallback=True,
        num_threads=1,
        minloglevel=2,
        user_defined_symbols=list(dict.fromkeys(pieces_of(rungs, heads))),
        **SPECIAL,
    )
    return model.getvalue()


def first_text(file):
    """Return the text of the first line of a corpus."""
    with file.open() as lines:
        return str(json.loads(next(lines))["text"])


def prepare(work, rungs, documents):
    """Write the corpus, so many documents of each rung, and its tokens."""
    files = [work / f"train-M{rung.M}-K{rung.K}.jsonl" for rung in rungs]
    for rung, file in zip(rungs, files, strict=True):
        if not file.exists():
            sraven("text", "generate", *options_of(rung, documents, "train"), "--solved", "--out", file)
    if not (tokenizer := work / "puzzles.model").exists():
        write_bytes(tokenizer, make_tokenizer(rungs, map(first_text, files)))
    sources = [part for file in files for part in ("--source", file)]
    sraven("c4", "prepare", *sources, "--tokenizer", tokenizer, "--out", work / "tokens")


def level_of(question):
    """Return the level that an id is of."""
    return question.split("_")[1].removesuffix("-unique")


def main():
    """Go the whole way."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("work", type=Path, help="folder of all that is made")
    parser.add_argument("--levels", type=int, nargs="+", default=[1, 2], help="their numbers, from 1")
    parser.add_argument("--documents", type=int, default=200_000, help="puzzles of each level to train on")
    given, training = parser.parse_known_args()  # whatever else is given goes to `sraven train`
    work, rungs = given.work, [LEVELS[number - 1] for number in given.levels]
    work.mkdir(parents=True, exist_ok=True)
    prepare(work, rungs, given.documents)
    sraven("train", "c4-v1", "--size", "tiny", "--data", work / "tokens", "--out", work / "run", *training)
    for board in BOARDS:
        prompts, completions = work / f"prompts-{board}.jsonl", work / f"{board}.jsonl"
        sraven("text", "generate", "--board", board, "--form", "untold", "--out", prompts)
        # Prompts of other levels are longer than what it reads, and stay unanswered.
        known = {f"M{rung.M}-K{rung.K}" for rung in rungs}
        lines = prompts.read_text().splitlines(keepends=True)
        prompts.write_text("".join(line for line in lines if level_of(json.loads(line)["id"]) in known))
        sraven("c4", "complete", work / "run", prompts, "--tokens", 16, "--out", completions)
        sraven("text", "score", completions)


if __name__ == "__main__":
    main()
