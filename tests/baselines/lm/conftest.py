"""Small corpora, what is prepared from them, and models that are trained on it."""

import pytest

from baselines.lm.corpus import Corpus
from baselines.lm.prepare import prepare
from baselines.lm.tokenizer import train_tokenizer
from baselines.train.directory import CONFIG
from helpers import tiny_runs
from helpers.records import preparation_of, write_jsonl
from helpers.tiny_language import TRAINING, TWICE, VALIDATION, all_quickly, make_language
from helpers.tiny_runs import shared_directory
from sraven.core.spec import values_of
from sraven.files.files import write_json

SENTENCE = "the model reads a corpus of short texts and learns what comes next"

WORDS = SENTENCE.split()


def make_text(number):
    """A document of its own for each number, of 3 to 13 words."""
    return " ".join(WORDS[(number * 7 + k * (1 + number % 5)) % len(WORDS)] for k in range(3 + number % 11))


@pytest.fixture(scope="session")
def tokenizer():
    """285 pieces, learnt from the corpus."""
    return train_tokenizer([make_text(number) for number in range(60)], 285)


@pytest.fixture(scope="session")
def source_files(tmp_path_factory):
    """Three files of 23, 5 and 1 documents."""
    folder = tmp_path_factory.mktemp("sources")
    first = 0
    for name, count in zip("abc", (23, 5, 1), strict=True):
        write_jsonl(folder / f"{name}.jsonl", [make_text(number) for number in range(first, first + count)])
        first += count
    return folder


@pytest.fixture(scope="session")
def preparation(source_files, tokenizer):
    """The three files."""
    return preparation_of(tokenizer, source_files / "*.jsonl")


@pytest.fixture(scope="session")
def directory(preparation, tmp_path_factory):
    """All of it prepared; tests only read it."""
    out = tmp_path_factory.mktemp("tokens") / "corpus"
    prepare(preparation, out, processes=1)
    return out


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """As beside, and what continues texts is compiled so as well."""
    cache = shared_directory(tmp_path_factory, "compiled")
    with all_quickly(cache):
        yield cache


@pytest.fixture(scope="module")
def language(tmp_path_factory, compiled):
    """The tokens and runs of `make_language`; tests only read them."""
    return make_language(tmp_path_factory)


@pytest.fixture(scope="module")
def folder(language):
    """A finished run; tests only read it."""
    return language / TWICE[0]


@pytest.fixture(scope="module")
def corpus(language):
    """Documents of the language to train on."""
    return Corpus(language / TRAINING)


@pytest.fixture(scope="module")
def unseen(language):
    """Other documents of the language."""
    return Corpus(language / VALIDATION)


@pytest.fixture(scope="module")
def data(language):
    """The option that names the documents to evaluate on."""
    return f"--data={language / VALIDATION}"


@pytest.fixture
def other_board(tmp_path):
    """The directory of a run on a board that makes its own instances, as far as a configuration goes."""
    folder = tmp_path / "other"
    folder.mkdir()
    write_json(folder / CONFIG, values_of(tiny_runs.tiny()))
    return folder
