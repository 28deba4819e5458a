"""inspect-ai, end to end and without a network: scripted models get the scores that they deserve."""

import pytest

from helpers.harnesses import needs, run_program
from sraven import SRAVEN

needs("llm", "inspect_ai")

COUNT = 40


@pytest.fixture(scope="module")
def reported(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inspect")
    return run_program(
        "run_inspect.py", folder, "sraven/sraven", {"M": 1, "count": COUNT}, str(folder / "logs")
    )


@pytest.fixture(scope="module")
def batch():
    return SRAVEN(M=1, holdout=0, answers="unique").sample("test", start=0, count=COUNT)


def means(scores):
    return {name: metrics["mean"] for name, metrics in scores.items()}


def test_oracle_scores_one(reported):
    assert means(reported["oracle"]["scores"]) == {"target": 1, "valid": 1, "unparsed": 0}
    assert reported["oracle"]["metadata"]["ceiling"] == {"value": 1, "stderr": 0}


def test_copier_scores_what_copying_is_worth(reported, batch):
    copied = (batch.context[:, 7] == batch.target).all(axis=1).mean()
    assert 0 < copied < 1
    assert means(reported["copier"]["scores"]) == {"target": copied, "valid": copied, "unparsed": 0}
    assert reported["copier"]["metadata"]["copying"]["value"] == copied
    assert reported["copier"]["metadata"]["chance"] == 1 / 8


def test_standard_errors_are_over_instances_and_not_over_epochs(reported, batch):
    assert reported["copier"]["samples"] == 2 * COUNT
    copied = (batch.context[:, 7] == batch.target).all(axis=1)
    expected = copied.std(ddof=1) / COUNT**0.5
    assert reported["copier"]["scores"]["target"]["stderr"] == pytest.approx(expected)


def test_babbler_scores_nothing_and_all_is_unparsed(reported):
    assert means(reported["babbler"]["scores"]) == {"target": 0, "valid": 0, "unparsed": 1}
    assert set(reported["babbler"]["answers"].values()) == {None}


def test_logs_can_be_scored_again_by_their_ids(reported, batch):
    assert reported["again"]["scores"] == reported["oracle"]["scores"]
    assert reported["oracle"]["answers"] == {
        f"v1_M1-K8-unique_h0_s0_test-40_told-0_{index}": f"Answer: [{target}]"
        for index, [target] in enumerate(batch.target.tolist())
    }
