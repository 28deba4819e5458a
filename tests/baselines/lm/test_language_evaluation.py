"""The language model evaluated by document."""

import math
from types import MappingProxyType

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from baselines.lm.corpus import Corpus
from baselines.lm.evaluate import document_losses, language_judge, summarise, unigram_entropy
from baselines.lm.experiment import Compute, language_model
from baselines.lm.recipes import make_language_config
from baselines.lm.sample import load_language_run
from baselines.load import load_run
from baselines.training.grid import points_of, read_grid, select
from baselines.training.step import State
from baselines.training.train import Outcome
from helpers.tiny_language import TINY
from sraven import ConfigurationError
from sraven.core.boards.board import read_board

pytestmark = pytest.mark.usefixtures("compiled")


def test_losses_of_documents_are_those_of_each_piece_alone(runs, unseen):
    config, params = load_language_run(runs / "hyla")
    found = document_losses(config, params, unseen, rows=7)
    model, table = language_model(config, Compute(tile=0)), unseen.read_documents()
    logits_of = jax.jit(lambda tokens: model.apply({"params": params}, tokens))
    for number in (0, 3, 11):
        start, count, size, _ = table[number]
        tokens = unseen.read(int(start), int(count)).astype(np.int32)
        loss = 0.0
        for first in range(0, len(tokens) - 1, config.length):
            piece = tokens[first : first + config.length + 1]
            after = np.zeros(config.length + 1 - len(piece), np.int32)  # the model is causal
            logits = np.asarray(logits_of(np.concatenate([piece[:-1], after])[None])[0], np.float64)
            for row, target in zip(logits, piece[1:], strict=False):
                loss -= row[target] - np.log(np.exp(row).sum())
        assert found.loss[number] == pytest.approx(loss, rel=1e-4)
        assert (found.targets[number], found.text_bytes[number]) == (count - 1, size)


def test_summary_is_over_all_tokens(runs, unseen):
    config, params = load_language_run(runs / "linear")
    found = document_losses(config, params, unseen)
    summary = summarise(found)
    assert summary["tokens"] == unseen.tokens - unseen.documents == found.targets.sum()
    assert summary["documents"] == unseen.documents == 20
    assert summary["loss"] == pytest.approx(found.loss.sum() / found.targets.sum())
    assert summary["perplexity"] == pytest.approx(math.exp(summary["loss"]))
    assert summary["bits_per_byte"] == pytest.approx(found.loss.sum() / math.log(2) / unseen.text_bytes)


def test_documents_of_another_tokenizer_are_refused(runs, corpus, directory):
    config, params = load_language_run(runs / "hyla")
    other = Corpus(directory)
    config = make_language_config(read_board("c4-v1"), corpus, "hyla", size="tiny", **TINY, vocabulary=99)
    with pytest.raises(ConfigurationError, match="the documents have 285 pieces and the run 99"):
        document_losses(config, params, other)


def test_a_grid_takes_the_point_with_the_least_loss(runs, unseen, tmp_path):
    config, params = load_language_run(runs / "softmax")
    points = points_of(config, read_grid(["learning_rate=0.01,0.02"]), [0], tmp_path)
    untrained = jax.tree.map(np.zeros_like, params)
    states = [State(each, None, jnp.int32(60), jnp.uint32(0)) for each in (untrained, params)]
    outcomes = [Outcome(state, None, None) for state in states]
    summary = select(points, outcomes, tmp_path, language_judge(unseen))
    assert (summary["metric"], summary["split"], summary["selected"]) == ("loss", "validation", 1)
    uniform, learnt = (point["mean"] for point in summary["points"])
    assert uniform == pytest.approx(math.log(280))
    assert learnt == pytest.approx(summarise(document_losses(config, params, unseen))["loss"])


def test_entropy_of_frequencies_by_hand(tmp_path):
    """Targets 5 5 5 7 and EOS once for each of the two documents, BOS left out."""

    class Counted:
        tokens, documents = 8, 2
        tokenizer = MappingProxyType({"pieces": 9, "bos": 2})

        def read(self, start, count):
            return np.array([2, 5, 5, 1, 2, 5, 7, 1], np.uint16)[start : start + count]

    shares = [3 / 6, 1 / 6, 2 / 6]
    assert unigram_entropy(Counted()) == pytest.approx(-sum(share * math.log(share) for share in shares))


def test_load_run_is_for_boards_that_make_their_instances(runs):
    with pytest.raises(ConfigurationError):
        load_run(runs / "hyla")
