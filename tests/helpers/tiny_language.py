"""A language of a few words with rules of order, and models small enough to learn it in seconds."""

from contextlib import contextmanager

import numpy as np

from baselines.lm import experiment
from baselines.lm.prepare import prepare
from baselines.lm.recipes import make_language_config
from baselines.lm.tokenizer import train_tokenizer
from helpers.command import sraven
from helpers.records import preparation_of, write_jsonl
from helpers.submissions import snapshot
from helpers.tiny_runs import once, programs_made_once, quickly
from sraven.files.files import write_json

FOLLOWING = {
    "the": ["cat", "dog", "old"],
    "old": ["cat", "dog"],
    "cat": ["sees", "hears"],
    "dog": ["sees", "follows"],
    "sees": ["the"],
    "hears": ["the"],
    "follows": ["the"],
}

TINY = {
    "layers": 1,
    "width": 24,
    "heads": 3,
    "qkv_width": 12,
    "mlp_width": 32,
    "length": 16,
    "batch_size": 8,
    "steps": 60,
    "warmup": 5,
    "learning_rate": 0.02,
}
"""Changes to the size ``tiny``."""


def make_document(number):
    """Words in an allowed order: 4 to 40 of them."""
    rng = np.random.default_rng(number)
    words = ["the"]
    for _ in range(rng.integers(3, 40)):
        words.append(rng.choice(FOLLOWING[words[-1]]))
    return " ".join(words)


def make_tokenizer():
    return train_tokenizer([make_document(number) for number in range(80)], 280)


def write_corpus(folder, first=0, count=80, tokenizer=None):
    """Prepare documents below a folder; return the directory of their tokens."""
    texts = map(make_document, range(first, first + count))
    source = write_jsonl(folder / "documents.jsonl", texts)
    prepare(preparation_of(tokenizer or make_tokenizer(), source), folder / "tokens", processes=1)
    return folder / "tokens"


def tiny(corpus, attention="hyla", **changes):
    """Return the configuration of a tiny run."""
    return make_language_config(corpus, attention, size="tiny", **{**TINY, **changes})


def tiny_options():
    """Return it as options of the command."""
    return ["--size=tiny", *(f"--{name.replace('_', '-')}={value}" for name, value in TINY.items())]


LINE = ["train", "c4-v1", "--attention=hyla", *tiny_options(), "--save-every=20"]
"""The command that trains a tiny run, but for ``--data``, ``--out`` and the seed."""

TRAINING, VALIDATION, TWICE, SOFTMAX = "training", "validation", ("seed-0", "seed-1"), "softmax"
"""What `make_language` makes: tokens of 80 documents, of 13 other ones, and finished runs.

The first of two is that of `LINE`, the second has another seed. The last is of softmax attention, and scored.
"""

FEW = 5
"""Pieces of documents that the last run is scored on, every 40 steps."""


@contextmanager
def all_quickly(cache):
    """Compile in a fraction of the time, as `quickly` does."""
    with quickly(cache), programs_made_once(experiment, "language_program"):
        yield


def assert_command_refused(tmp_path, message, *arguments):
    """Check that a command ends with one line, which has some words, and leaves everything as it was."""
    before = snapshot(tmp_path)
    code, out, err = sraven(*arguments)
    assert (code, out, err.count("\n")) == (2, "", 1) and err.startswith("error: ")
    assert message in err
    assert snapshot(tmp_path) == before


def make_language(tmp_path_factory):
    """Return the directory that holds them, for tests to read, and in ``printed.json`` what was printed."""

    def make(folder):
        tokenizer, printed = make_tokenizer(), {}
        for name, first, count in ((TRAINING, 0, 80), (VALIDATION, 500, 13)):
            (folder / "texts" / name).mkdir(parents=True)
            write_corpus(folder / "texts" / name, first, count, tokenizer).rename(folder / name)
        scored = [f"--validation={folder / VALIDATION}", "--score-every=40", f"--score-instances={FEW}"]
        runs = {TWICE[0]: [], TWICE[1]: ["--seed=1"], SOFTMAX: ["--attention=softmax", "--json", *scored]}
        for name, options in runs.items():
            printed[name] = sraven(*LINE, f"--data={folder / TRAINING}", f"--out={folder / name}", *options)
        write_json(folder / "printed.json", printed)

    return once(tmp_path_factory, "language", make)
