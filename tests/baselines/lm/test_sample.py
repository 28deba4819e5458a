"""Text from a language model: what it draws, where that ends, and what it refuses."""

import shutil
from dataclasses import replace
from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from baselines.lm.experiment import Compute, language_model
from baselines.lm.sample import continue_tokens, draw_pieces, load_language_run, sample_text
from baselines.lm.tokenizer import read_tokenizer
from baselines.runs.directory import CHECKPOINTS
from helpers.tiny_language import FOLLOWING, TINY
from sraven import ConfigurationError, OutputError

pytestmark = pytest.mark.usefixtures("compiled")

LENGTH = TINY["length"]

START = "the old"

ROOM = LENGTH - 3
"""Beside the start of a document and two words."""


@pytest.fixture(scope="module")
def trained(folder):
    """Its configuration and parameters."""
    return load_language_run(folder)


@pytest.fixture(scope="module")
def tokenizer(folder):
    return read_tokenizer(folder / "tokenizer.model")


@pytest.fixture(scope="module")
def prompt(tokenizer):
    tokens = tokenizer.encode([START.encode()])[0][:-1]
    assert len(tokens) == LENGTH - ROOM
    return tokens


# Without a cache


def greedy(config, params, prompt):
    """The likeliest piece after all before it, and so on to the last: no cache, no tiles.

    The sequence is filled up with zeros, which a causal model doesn't see.
    """
    model = language_model(config, Compute(tile=0))
    logits_of = jax.jit(lambda params, tokens: model.apply({"params": params}, tokens))
    tokens = np.zeros((1, config.length), np.int32)
    tokens[0, : len(prompt)] = prompt
    for place in range(len(prompt), config.length):
        tokens[0, place] = np.asarray(logits_of(params, tokens))[0, place - 1].argmax()
    return tokens[0, len(prompt) :]


@pytest.mark.parametrize("attention", ["softmax", "linear", "hyla"])
def test_coldest_text_is_what_the_parallel_form_finds_likeliest(trained, prompt, attention):
    """Of a model whose parameters were drawn at random: a trained one says less."""
    config, numbers = replace(trained[0], attention=attention), np.random.default_rng(0)

    def drawn_like(leaf):  # where the leaf is: the program is that of trained parameters
        return jax.device_put(0.5 * numbers.normal(size=leaf.shape).astype(np.float32), leaf.sharding)

    params = jax.tree.map(drawn_like, trained[1])
    pieces = continue_tokens(config, params, prompt, ROOM, samples=2, temperature=0)
    assert (pieces.shape, pieces.dtype) == ((2, ROOM), np.int32)
    wanted = greedy(config, params, prompt)
    np.testing.assert_array_equal(pieces, [wanted, wanted])
    assert len(set(wanted.tolist())) >= 3


# Drawing

SHARES = np.array([3 / 16, 1 / 16, 1 / 2, 1 / 4], np.float32)


def frequencies(logits, temperature, top):
    """How often each piece comes, over 1,000 rows of each of 10 keys."""
    rows = jnp.tile(jnp.asarray(logits), (1000, 1))
    pieces = np.stack([draw_pieces(rows, jax.random.key(number), temperature, top) for number in range(10)])
    assert (pieces.shape, pieces.dtype) == ((10, 1000), np.int32)
    return np.bincount(pieces.reshape(-1), minlength=len(logits)) / pieces.size


@pytest.mark.parametrize(
    ("temperature", "top", "expected"),
    [
        (1.0, 0, SHARES),
        (1.0, 3, [3 / 15, 0, 8 / 15, 4 / 15]),
        (1.0, 2, [0, 0, 2 / 3, 1 / 3]),
        (0.5, 0, [9 / 90, 1 / 90, 64 / 90, 16 / 90]),
        (0.5, 2, [0, 0, 4 / 5, 1 / 5]),
        (1.0, 1, [0, 0, 1, 0]),
        (0.0, 0, [0, 0, 1, 0]),
        (1e-20, 0, [0, 0, 1, 0]),
    ],
)
def test_pieces_come_as_often_as_worked_out_by_hand(temperature, top, expected):
    """Within four standard errors of 10,000 draws; what never comes doesn't come once."""
    expected = np.array(expected, np.float64)
    error = np.abs(frequencies(np.log(SHARES), temperature, top) - expected)
    assert (error <= 4 * np.sqrt(expected * (1 - expected) / 10_000)).all()


def test_steps_and_samples_are_drawn_apart(trained, prompt):
    """A model of zeros finds all pieces alike: 78 draws of 280 are 68 pieces, give or take 3."""
    config, params = trained[0], jax.tree.map(jnp.zeros_like, trained[1])
    pieces = continue_tokens(config, params, prompt, ROOM, samples=6, seed=4)
    assert 58 <= len(np.unique(pieces)) <= 78


# Text


@pytest.fixture
def continued(monkeypatch, folder, trained):
    """Return the texts that follow a prompt if the model adds given pieces."""

    def text_with(prompt, rows):
        monkeypatch.setattr("baselines.lm.sample.load_language_run", lambda _: trained)
        monkeypatch.setattr("baselines.lm.sample.continue_tokens", lambda *_, **__: np.array(rows, np.int32))
        return sample_text(folder, prompt, len(rows[0]))

    return text_with


def pieces_of(tokenizer, text):
    """The pieces of a text, without those that stand around a document."""
    return tokenizer.encode([text.encode()])[0][1:-1].tolist()


def test_text_ends_where_the_document_does(continued, tokenizer):
    old, cat, sees = (pieces_of(tokenizer, word) for word in ("old", "cat", "sees"))
    end = [tokenizer.special["eos"]]
    rows = [old + cat + end + sees, end + old + cat + sees, old + cat + sees + end]
    rows += [old + end * (len(rows[0]) - len(old))]
    assert continued("the", rows) == [" old cat", "", " old cat sees", " old"]


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        ("the", " old cat"),
        ("", "old cat"),
        *((unseen, " old cat") for unseen in ("é", "the 😀", "語", "x\ny")),
        ("x\udcff", " old cat"),  # as the command line passes on bytes that it can't decode
        *((spaced, "old cat") for spaced in ("the ", "the\n", "the  ")),
    ],
)
def test_one_space_is_between_a_prompt_and_its_text(continued, tokenizer, prompt, text):
    assert continued(prompt, [pieces_of(tokenizer, "old cat")]) == [text]


def test_text_of_a_run_is_that_of_its_pieces_which_the_seed_decides(folder, trained, prompt, tokenizer):
    first, drawn = (continue_tokens(*trained, prompt, ROOM, samples=6, seed=seed) for seed in (0, 1))
    assert (first != drawn).any()
    for text, row in zip(sample_text(folder, START, ROOM, samples=6, seed=1), drawn, strict=True):
        end = row.tolist().index(1) if 1 in row else ROOM
        assert text == (" " + tokenizer.decode(row[:end]) if end else "")


def test_run_continues_text_in_its_language_and_may_begin_with_nothing(folder):
    text, same = sample_text(folder, START, ROOM, samples=2, temperature=0)
    assert text == same
    first, *rest = text.split(" ")
    assert first == "" and rest[0] in ("cat", "dog")
    assert all(word in FOLLOWING[before] for before, word in pairwise(["old", *rest]))
    assert sample_text(folder, "", LENGTH - 1, temperature=0)[0].startswith("the ")


# Refusals


@pytest.mark.parametrize("tokens", [0, LENGTH, LENGTH + 9])
def test_prompt_that_leaves_no_room_is_refused(trained, tokens):
    with pytest.raises(ConfigurationError, match=f"the prompt has {tokens} tokens; expected 1 to 15"):
        continue_tokens(*trained, np.full(tokens, 5), 1)
    with pytest.raises(ConfigurationError, match=r"^tokens=2: .* 1 to 1;"):  # as many are no fault
        continue_tokens(*trained, np.full(LENGTH - 1, 5), 2)


def test_runs_that_can_not_be_are_refused(folder, other_board, tmp_path):
    begun = shutil.copytree(folder, tmp_path / "begun")
    shutil.rmtree(begun / CHECKPOINTS / "60")
    untokenized = shutil.copytree(folder, tmp_path / "untokenized")
    (untokenized / "tokenizer.model").unlink()
    for run, kind, message in (
        (tmp_path / "run", OutputError, "holds no run"),
        (other_board, ConfigurationError, "is a run on fuzzylogic-v1, not one of the language model"),
        (begun, OutputError, "has 40 of 60 steps"),
        (untokenized, OutputError, "has no tokenizer.model"),
    ):
        with pytest.raises(kind, match=f"{run} {message}"):
            sample_text(run, "the", 1)
    assert not (tmp_path / "run").exists()
