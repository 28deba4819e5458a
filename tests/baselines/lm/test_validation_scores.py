"""The loss on documents while a language model trains: that of evaluation, on the first of them."""

from math import exp

import jax
import numpy as np
import pytest

from baselines.lm.corpus import Corpus
from baselines.lm.documents import Documents
from baselines.lm.evaluate import document_losses, summarise, validation_scores
from baselines.lm.experiment import language_model
from baselines.lm.loss import token_losses
from baselines.lm.sample import load_language_run
from baselines.lm.share import Share
from baselines.runs.log import SCORES
from baselines.runs.result import read_result
from baselines.training.sharding import make_mesh
from helpers.command import sraven
from helpers.tiny_language import LINE, TRAINING, TWICE, VALIDATION
from helpers.tiny_runs import lines_of

FEW = 5

pytestmark = pytest.mark.usefixtures("compiled")


@pytest.fixture(scope="module")
def trained(language, tmp_path_factory):
    """The first of the runs, trained once more with scores every 40 steps."""
    out = tmp_path_factory.mktemp("runs") / "run"
    data = [f"--data={language / TRAINING}", f"--validation={language / VALIDATION}"]
    scoring = ["--score-every=40", f"--score-instances={FEW}"]
    code, _, err = sraven(*LINE, *data, *scoring, f"--out={out}")
    assert (code, err) == (0, "")
    return out


def scores_of(language, config, params, rows):
    evaluate = validation_scores(Corpus(language / VALIDATION), rows)(config, make_mesh())
    return evaluate(params, 0)["validation"]


def test_of_all_documents_it_is_the_loss_of_evaluation(language):
    config, params = load_language_run(language / TWICE[0])
    whole = summarise(document_losses(config, params, Corpus(language / VALIDATION)))
    found = scores_of(language, config, params, 10_000)
    assert found["loss"] == pytest.approx(whole["loss"], rel=1e-6)
    assert found["perplexity"] == pytest.approx(whole["perplexity"], rel=1e-5)


def test_of_the_first_pieces_it_is_their_mean_over_tokens(trained, language):
    config, params = load_language_run(trained)
    batch = Documents(Corpus(language / VALIDATION), config.length, Share(FEW)).batch(0)

    @jax.jit
    def losses_of(tokens):
        hidden = language_model(config).apply({"params": params}, tokens[:, :-1], return_hidden=True)
        return token_losses(hidden, params["embedding"], tokens[:, 1:]).loss

    losses = np.asarray(losses_of(batch.tokens))
    expected = losses[batch.mask].mean(dtype=np.float64)
    lines = lines_of(trained)
    assert [line["step"] for line in lines if SCORES in line] == [40, 60]
    logged = lines[-1][SCORES]["validation"]
    assert logged == {
        "loss": pytest.approx(expected, rel=1e-5),
        "perplexity": pytest.approx(exp(expected), rel=1e-4),
    }


def test_without_a_number_it_is_of_as_many_windows_as_four_batches_have(language):
    config, params = load_language_run(language / TWICE[0])
    assert scores_of(language, config, params, None) == scores_of(language, config, params, 32)


def test_result_of_a_language_model_has_it(trained, language):
    found = read_result(trained)
    assert (found["scores"]["from"], found["scores"]["unranked"]) == ("while training", [])
    assert list(found["scores"]["splits"]["validation"]) == ["loss", "perplexity"]
    assert found["seconds"] > 0 and "--data TOKENS" in found["command"]
    code, _, err = sraven("evaluate", trained, f"--data={language / VALIDATION}")
    assert (code, err) == (0, "")
    corpus, scores = Corpus(language / VALIDATION), read_result(trained)["scores"]
    assert (scores["from"], scores["corpus"]) == ("evaluation", corpus.digest)
    assert scores["instances"] == {"validation": corpus.documents}
    assert set(scores["splits"]["validation"]) == {"loss", "perplexity", "bits_per_byte"}
