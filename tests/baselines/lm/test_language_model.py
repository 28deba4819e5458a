"""The language model: what it learns and logs, its batches, its size and operations, what it refuses."""

import math
from functools import partial

import jax
import numpy as np
import pytest

from baselines.lm.corpus import Corpus
from baselines.lm.evaluate import document_losses, mean_losses, unigram_entropy
from baselines.lm.experiment import Compute, language_experiment, language_program
from baselines.lm.recipes import make_language_config
from baselines.lm.session import load_language_run
from baselines.train.flops import flops_per_token
from baselines.train.sharding import make_mesh
from baselines.train.train import train, train_runs
from helpers.tiny_language import SOFTMAX, TWICE, tiny, write_corpus
from helpers.tiny_runs import lines_of
from sraven import ConfigurationError, OutputError

pytestmark = pytest.mark.usefixtures("compiled")


@pytest.mark.parametrize(("name", "attention"), [(TWICE[0], "hyla"), (SOFTMAX, "softmax")])
def test_a_run_learns_more_than_frequencies_and_logs_what_it_should(
    language, corpus, unseen, name, attention
):
    found = mean_losses(document_losses(*load_language_run(language / name), unseen))
    assert found["loss"] < 0.6 * unigram_entropy(unseen)
    lines = lines_of(language / name)
    assert [line["step"] for line in lines] == [20, 40, 60]
    program = language_program(tiny(corpus, attention))
    flops = flops_per_token(tiny(corpus, attention), program.num_parameters)
    for line in lines:
        assert line["perplexity"] == pytest.approx(math.exp(line["loss"]))
        bytes_a_token = corpus.text_bytes / corpus.tokens
        assert line["bits_per_byte"] == pytest.approx(line["loss"] / math.log(2) / bytes_a_token)
        assert line["flops_per_second"] == pytest.approx(line["tokens_per_second"] * flops, rel=1e-3)
        assert 0 <= line["accuracy"] <= 1
    assert lines[-1]["loss"] < lines[0]["loss"]
    assert lines[-1]["accuracy"] > lines[0]["accuracy"]


def test_seeds_see_the_same_batches(corpus):
    make = [
        language_experiment(tiny(corpus, seed=seed), make_mesh(), corpus=corpus).make_chunk for seed in (0, 1)
    ]
    first, second = (each(0, 3)["tokens"] for each in make)
    assert first.shape == (3, 8, 17)
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(make[0](2, 1)["tokens"], first[2:])


def test_bfloat16_is_close_and_keeps_its_parameters_in_float32(folder, corpus, tmp_path):
    """After the first twenty steps."""
    make_experiment = partial(language_experiment, corpus=corpus)
    config = tiny(corpus, dtype="bfloat16")
    [half] = train_runs([config], [tmp_path], make_experiment=make_experiment, stop=lambda: True)
    kinds = {leaf.dtype.name for leaf in jax.tree.leaves((half.state.params, half.state.opt_state))}
    assert kinds == {"float32", "int32"}
    loss = lines_of(folder)[0]["loss"]
    assert loss != half.report["loss"] == pytest.approx(loss, rel=0.01)


def test_paper_has_35_million_parameters(corpus):
    """Every term worked out by hand from the shape: 6 layers of attention, MLP and LayerNorms; the table."""
    config = make_language_config(corpus, "hyla", vocabulary=32_000)
    E, F, L = 512, 2048, 6
    blocks = L * (3 * (E * E + E) + E * E + E + E * F + F + F * E + E + 4 * E)
    tied = language_program(config).num_parameters
    assert tied == blocks + 2 * E + 32_000 * E == 35_299_328
    assert round((tied + 32_000 * E) / 1e6, 1) == 51.7  # with a second table for the output
    assert config.dtype == "bfloat16"
    assert (config.batch_size, config.length) == (256, 512)
    assert config.steps == 130_000_000_000 // (256 * 512) == 991_821


@pytest.mark.parametrize(
    ("attention", "multiplied"),
    [
        ("softmax", 2 * 2 * 8.5),
        ("hyla", 2 * 3 * 8.5),
        ("hyla_deep", (2 * 3 + 2 * 4) * 8.5),
        ("linear", (2 + 2) * 4),
    ],
)
def test_flops_of_a_token_by_hand(corpus, attention, multiplied):
    """Six a parameter, and three times a width of 12 times what it meets: (16 + 1) / 2 pairs, or a state."""
    assert flops_per_token(tiny(corpus, attention), 1000) == 6 * 1000 + 3 * 12 * multiplied


def test_what_can_not_be_trained_on_is_refused_before_anything_is_written(corpus, unseen, tmp_path):
    """Other tokens, batches that parts don't divide, files that are cut or missing."""

    def refused(named, error, message, **options):
        make_experiment = partial(language_experiment, **{"corpus": named, **options})
        with pytest.raises(error, match=message):
            train(tiny(named), tmp_path / "run", make_experiment=make_experiment)
        assert not (tmp_path / "run").exists()

    refused(corpus, ConfigurationError, "trained on other tokens", corpus=unseen)
    message = "batch_size=8 in 3 parts: expected a multiple of 3"
    refused(corpus, ConfigurationError, message, compute=Compute(num_microbatches=3))
    tokens = write_corpus(tmp_path, count=5)
    path, damaged = tokens / "shards" / "00000.documents.npy", Corpus(tokens)
    path.write_bytes(path.read_bytes()[:-1])
    for found in ("has 351 bytes", "is missing"):
        message = rf"documents\.npy {found}; the manifest says 352"
        refused(damaged, OutputError, message)
        path.unlink(missing_ok=True)
