"""The language model evaluated by document, at its end and, on the first documents, while it trains."""

import math
import shutil
from types import MappingProxyType, SimpleNamespace

import jax
import numpy as np
import pytest

from baselines.lm.corpus import Corpus
from baselines.lm.documents import Documents
from baselines.lm.evaluate import (
    document_losses,
    language_judge,
    mean_losses,
    unigram_entropy,
    validation_scores,
)
from baselines.lm.experiment import Compute, language_model
from baselines.lm.loss import token_losses
from baselines.lm.session import load_language_run
from baselines.lm.share import BatchShare
from baselines.load import load_run
from baselines.train.grid import points_of, read_grid, select
from baselines.train.log import SCORES
from baselines.train.result import read_result
from baselines.train.sharding import make_mesh
from baselines.train.train import Outcome
from helpers.tiny_language import FEW, SOFTMAX, TWICE, tiny
from helpers.tiny_runs import lines_of
from sraven import ConfigurationError

pytestmark = pytest.mark.usefixtures("compiled")


def test_losses_are_those_of_each_piece_alone_and_the_summary_is_over_all_tokens(language, unseen):
    config, params = load_language_run(language / TWICE[0])
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
    summary = mean_losses(found)
    assert summary["tokens"] == unseen.tokens - unseen.documents == found.targets.sum()
    assert summary["documents"] == unseen.documents == 13
    assert summary["loss"] == pytest.approx(found.loss.sum() / found.targets.sum())
    assert summary["perplexity"] == pytest.approx(math.exp(summary["loss"]))
    assert summary["bits_per_byte"] == pytest.approx(found.loss.sum() / math.log(2) / unseen.text_bytes)


def test_documents_of_another_tokenizer_and_runs_on_text_elsewhere_are_refused(language, corpus, directory):
    with pytest.raises(ConfigurationError, match="the documents have 285 pieces and the run 99"):
        document_losses(tiny(corpus, vocabulary=99), None, Corpus(directory))
    with pytest.raises(ConfigurationError):
        load_run(language / TWICE[0])


def test_a_grid_takes_the_point_with_the_least_loss(language, unseen, tmp_path):
    config, params = load_language_run(language / SOFTMAX)
    points = points_of(config, read_grid(["learning_rate=0.01,0.02"]), [0], tmp_path)
    untrained = jax.tree.map(np.zeros_like, params)
    outcomes = [Outcome(SimpleNamespace(params=each), None, None) for each in (untrained, params)]
    summary = select(points, outcomes, tmp_path, language_judge(unseen))
    assert (summary["metric"], summary["split"], summary["selected"]) == ("loss", "validation", 1)
    uniform, learnt = (point["mean"] for point in summary["points"])
    assert uniform == pytest.approx(math.log(280))
    assert learnt == pytest.approx(mean_losses(document_losses(config, params, unseen))["loss"])


def test_entropy_of_frequencies_by_hand(tmp_path):
    """Targets 5 5 5 7 and EOS once for each of the two documents, BOS left out."""

    class Counted:
        tokens, documents = 8, 2
        tokenizer = MappingProxyType({"pieces": 9, "bos": 2})

        def read(self, start, count):
            return np.array([2, 5, 5, 1, 2, 5, 7, 1], np.uint16)[start : start + count]

    shares = [3 / 6, 1 / 6, 2 / 6]
    assert unigram_entropy(Counted()) == pytest.approx(-sum(share * math.log(share) for share in shares))


# While it trains


def test_of_all_documents_it_is_the_loss_of_evaluation(language, unseen):
    """Without a number it is of as many windows as four batches have."""
    config, params = load_language_run(language / TWICE[0])
    whole = mean_losses(document_losses(config, params, unseen))
    found, usual, of_four = (
        validation_scores(config, make_mesh(), corpus=unseen, rows=rows)(params)["validation"]
        for rows in (10_000, None, 32)
    )
    assert found == pytest.approx({name: whole[name] for name in ("loss", "perplexity")}, rel=1e-5)
    assert usual == of_four


def test_of_the_first_pieces_it_is_their_mean_over_tokens(language, unseen):
    config, params = load_language_run(language / SOFTMAX)
    batch = Documents(unseen, config.length, BatchShare(FEW)).batch(0)

    @jax.jit
    def losses_of(tokens):
        hidden = language_model(config).apply({"params": params}, tokens[:, :-1], return_hidden=True)
        return token_losses(hidden, params["embedding"], tokens[:, 1:]).loss

    losses = np.asarray(losses_of(batch.tokens))
    expected = losses[batch.mask].mean(dtype=np.float64)
    lines = lines_of(language / SOFTMAX)
    assert [line["step"] for line in lines if SCORES in line] == [40, 60]
    wanted = {"loss": expected, "perplexity": math.exp(expected)}
    assert lines[-1][SCORES]["validation"] == pytest.approx(wanted, rel=1e-4)


def test_result_of_a_language_model_has_it(language, data, unseen, tmp_path, done):
    run = shutil.copytree(language / SOFTMAX, tmp_path / "run")
    found = read_result(run)
    assert (found["scores"]["from"], found["scores"]["unranked"]) == ("while training", [])
    assert list(found["scores"]["splits"]["validation"]) == ["loss", "perplexity"]
    assert found["seconds"] > 0 and "--data TOKENS" in found["command"]
    done("evaluate", run, data)
    scores = read_result(run)["scores"]
    assert (scores["from"], scores["corpus"]) == ("evaluation", unseen.digest)
    assert scores["instances"] == {"validation": unseen.documents}
    assert set(scores["splits"]["validation"]) == {"loss", "perplexity", "bits_per_byte"}
