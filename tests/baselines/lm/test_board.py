"""The board of language modelling on C4: what it names, and how losses are scored."""

import json
import math
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from baselines.lm.task import C4, MOST
from helpers.checkout import REPOSITORY
from helpers.corpus_submissions import CORPUS_BOARD, SIZE, corpus_board, losses
from helpers.python import python
from helpers.refusals import assert_refused
from sraven import ConfigurationError, load_board
from sraven.board.board import read_board
from sraven.board.freeze import read_definitions
from sraven.core.families import make_board_task, make_task
from sraven.core.spec import canonical_json
from sraven.scoring.scores import Run, score_runs

DEFINED = REPOSITORY / "docs" / "leaderboard" / "boards.yaml"

LN2 = math.log(2)


# What it names


def test_board_is_the_validation_split_in_tokens_of_one_tokenizer():
    board, [definition] = load_board("c4-v1"), read_definitions(DEFINED, ["c4-v1"])
    config = C4().config
    assert board.content["config"] == definition["config"] == config  # nothing is left to defaults
    assert (config["dataset"], config["configuration"], config["pieces"]) == ("allenai/c4", "en", 32_101)
    assert board.splits == {"validation": config["documents"]} == {"validation": 364_608}
    assert (board.content["metric"], board.content["higher_is_better"]) == ("loss", False)
    assert (board.train_budget, board.budget_unit, board.is_corpus) == (130 * 10**9, "tokens", True)
    board.check("validation")
    assert_refused(r"split='train': .*'validation'", board.check, "train")


def test_task_imports_nothing_that_trains_or_reads_text():
    code = """
import sys
from sraven import load_board
assert load_board("c4-v1").task.name == "c4"
print({"jax", "flax", "grain", "sentencepiece", "torch", "tensorflow", "datasets"} & set(sys.modules))
"""
    assert python("-c", code).stdout == "set()\n"


def test_nothing_gives_its_text_and_no_dataset_is_made_of_it():
    board = read_board("c4-v1")
    message = (
        r"^the text of allenai/c4 isn't part of the benchmark: `sraven c4 prepare` .*, `sraven evaluate` "
    )
    for ask in (lambda: board.sample("validation", 0, 5), lambda: board.labels("validation")):
        assert_refused(message, ask)
    assert_refused(r"^task='c4': .*sraven, fuzzylogic", make_task, C4().config)


def test_configuration_round_trips_and_is_frozen():
    task = C4(documents=7)
    assert make_board_task(json.loads(canonical_json(task.config))) == task
    assert (task.name, task.config_name, task.splits) == ("c4", "en-validation", ("validation",))
    with pytest.raises(FrozenInstanceError):
        task.documents = 8


BAD = {
    "documents": [0, 1.0],
    "pieces": [65_537, True],
    "dataset": [""],
    "configuration": [None],
    "split": [3],
    "tokenizer_sha256": ["15d8", "G" * 64, "0" * 64 + "\n"],
}


@pytest.mark.parametrize("name", BAD)
def test_bad_configurations_are_refused_by_name(name):
    for value in BAD[name]:
        assert_refused(rf"^{name}=.*\Z", replace, C4(), **{name: value})


# How losses are scored


def score(*runs):
    """Return the scores of runs, each a list of (loss, targets, bytes)."""
    scoring = C4().scoring
    arrays = [np.array(run, np.float64) for run in runs]
    made = [Run(seed, array, np.ones(len(array), bool)) for seed, array in enumerate(arrays)]
    return score_runs(scoring, scoring.labels(arrays[0], None), made)


def test_two_documents_by_hand():
    """Two bits for each of three tokens, and six bits for one: 12 bits, four tokens, 24 bytes.

    The mean over tokens is three bits. That of the two documents' own means would be four, and that of
    their perplexities 34.
    """
    scores = score([(6 * LN2, 3, 14), (6 * LN2, 1, 10)])
    wanted = {"loss": 2.079441542, "perplexity": 8, "bits_per_byte": 0.5}
    assert {name: scores.metrics[name].mean for name in wanted} == wanted
    assert (scores.instances, scores.missing, dict(scores.by_combination)) == (2, (0,), {})


def test_three_seeds_by_hand():
    """Perplexities of 2, 4 and 8: their mean is 14/3, not that of the mean loss, 4."""
    scores = score(*([(bits * 5 * LN2, 5, 20)] for bits in (1, 2, 3)))
    loss, perplexity = scores.metrics["loss"], scores.metrics["perplexity"]
    assert perplexity.by_seed == (2, 4, 8) and perplexity.mean == 4.666666667
    assert loss.by_seed == (0.693147181, 1.386294361, 2.079441542) and loss.mean == 1.386294361
    assert loss.standard_error == pytest.approx(LN2 / math.sqrt(3), abs=1e-9)
    assert scores.metrics["bits_per_byte"].by_seed == (0.25, 0.5, 0.75)


def plain_scores(documents):
    """Return the metrics in plain Python, which adds up in another order and in bits."""
    losses, targets, sizes = zip(*reversed(documents), strict=True)
    bits = math.fsum(losses) * math.log2(math.e)
    per_token = bits / sum(targets)
    found = {"loss": per_token / math.log2(math.e), "perplexity": 2**per_token}
    return {**found, "bits_per_byte": bits / sum(sizes)}


@given(
    st.lists(
        st.tuples(st.floats(0, 12), st.integers(1, 5_000), st.integers(1, 20_000)), min_size=1, max_size=20
    ),
    st.randoms(use_true_random=False),
)
def test_scores_are_the_oracles_whatever_the_order(drawn, random):
    documents = [(mean * targets, targets, size) for mean, targets, size in drawn]
    scores, wanted = score(documents).metrics, plain_scores(documents)
    for name, value in wanted.items():
        assert scores[name].mean == pytest.approx(value, rel=1e-9, abs=1e-8)
        low, high = scores[name].interval
        assert low <= high
    random.shuffle(documents)
    for name, metric in score(documents).metrics.items():
        assert metric.mean == pytest.approx(scores[name].mean, rel=1e-9, abs=2e-9)


def test_intervals_of_perplexity_follow_those_of_the_loss():
    """One seed: a bootstrap sample's perplexity is the exponential of its loss, whatever the sample."""
    random = np.random.default_rng(0)
    targets = random.integers(1, 500, 400)
    found = score(np.stack([random.uniform(2, 4, 400) * targets, targets, 4 * targets], axis=1))
    low, high = found.metrics["loss"].interval
    assert low < found.metrics["loss"].mean < high
    assert found.metrics["perplexity"].interval == pytest.approx((math.exp(low), math.exp(high)), rel=1e-4)


def test_perplexity_beyond_all_numbers_is_none():
    metric = score([(MOST, 1, 1)]).metrics["perplexity"]
    assert (metric.mean, metric.interval, metric.by_seed) == (None, None, (None,))


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        *(((loss, 5, 20), f"a loss of {loss:g} nats") for loss in (math.nan, math.inf, -0.5, 2e12)),
        *(((1, targets, 20), f"{targets:g} targets") for targets in (0, 2.5, math.nan, math.inf)),
        *(((1, 5, size), f"{size:g} bytes") for size in (-3, 0.5, 2e12)),
    ],
)
def test_row_that_no_document_has_is_a_fault(row, fault):
    row_of, said = C4().scoring.find_fault(np.array([(1, 1, 1), row, (-1, 0, 0)]))
    assert row_of == 1 and said.startswith(f"has {fault}; expected a") and said.endswith(f"to {MOST:,}")
    assert C4().scoring.find_fault(np.array([(0, 1, 1), (MOST, MOST, MOST)])) is None
    whole = losses()
    whole[4] = row
    with pytest.raises(ConfigurationError, match=r"^predictions of validation: row 4 has") as error:
        corpus_board().score("validation", whole)
    assert fault in str(error.value)


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.ones((SIZE, 2)), rf"\[{SIZE}, 2\].*\[{SIZE}, 3\]"),
        (np.ones((SIZE - 1, 3)), rf"\[{SIZE - 1}, 3\]"),
        (np.ones(SIZE), r"\[13\]"),
        (np.ones((SIZE, 3), int), "int64.*floats"),
    ],
)
def test_other_arrays_are_refused(array, message):
    assert corpus_board().id == CORPUS_BOARD
    assert_refused(message, corpus_board().score, "validation", array)


def test_labels_are_read_off_what_is_submitted_and_nothing_is_known_of_what_can_be_reached():
    board, scoring = corpus_board(), C4().scoring
    labels = board.labels("validation", losses())
    for place, name in enumerate(("targets", "bytes"), 1):
        assert labels.summands[name].dtype == np.int64
        np.testing.assert_array_equal(labels.summands[name], losses()[:, place])
    assert scoring.by_combination == ()
    assert {board.ceiling("validation", metric) for metric in scoring.metrics} == {None}
