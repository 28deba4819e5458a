"""A small corpus, and what is prepared from it."""

import json

import pytest

from baselines.lm.prepare import Preparation, prepare
from baselines.lm.sources import find_sources
from baselines.lm.tokenizer import train_tokenizer

WORDS = [
    "the",
    "model",
    "reads",
    "a",
    "corpus",
    "of",
    "short",
    "texts",
    "and",
    "learns",
    "what",
    "comes",
    "next",
]


def make_text(number):
    """A document of its own for each number, of 3 to 13 words."""
    return " ".join(WORDS[(number * 7 + k * (1 + number % 5)) % len(WORDS)] for k in range(3 + number % 11))


@pytest.fixture(scope="session")
def tokenizer():
    """285 pieces, learnt from the corpus."""
    return train_tokenizer([make_text(number) for number in range(60)], 285)


@pytest.fixture(scope="session")
def write_jsonl():
    """Write texts as C4 has them."""

    def write(path, texts):
        path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
        return path

    return write


@pytest.fixture(scope="session")
def source_files(tmp_path_factory, write_jsonl):
    """Three files of 23, 5 and 1 documents."""
    folder = tmp_path_factory.mktemp("sources")
    first = 0
    for name, count in zip("abc", (23, 5, 1), strict=True):
        write_jsonl(folder / f"{name}.jsonl", [make_text(number) for number in range(first, first + count)])
        first += count
    return folder


@pytest.fixture(scope="session")
def preparation(source_files, tokenizer):
    """The three files in shards of 7 documents: 4, 1 and 1 shards."""
    sources = tuple(find_sources([str(source_files / "*.jsonl")]))
    return Preparation(sources, tokenizer, shard_documents=7)


@pytest.fixture(scope="session")
def directory(preparation, tmp_path_factory):
    """All of it prepared; tests only read it."""
    out = tmp_path_factory.mktemp("tokens") / "corpus"
    prepare(preparation, out, processes=1)
    return out


@pytest.fixture
def contents():
    """Return the bytes of all files below a directory, by name."""

    def read(folder):
        return {
            str(path.relative_to(folder)): path.read_bytes()
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        }

    return read
