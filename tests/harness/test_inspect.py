"""inspect-ai, end to end and without a network: scripted models get the scores that they deserve."""

import json

import pytest

from helpers.harnesses import needs
from sraven import SRAVEN
from sraven.text import LADDER
from sraven.text.ladder import LEVELS

needs("llm", "inspect_ai")

COUNT = 40


@pytest.fixture(scope="module")
def reported(run, tmp_path_factory):
    folder = tmp_path_factory.mktemp("inspect")
    words = json.dumps({"M": 1, "count": COUNT}), json.dumps([rung.questions().id_of(5) for rung in LADDER])
    return json.loads(run(folder, "run_inspect.py", *words, folder / "logs", imports=("inspect_ai",)))


@pytest.fixture(scope="module")
def batch():
    return SRAVEN(M=1, holdout=0, answers="unique").sample("test", start=0, count=COUNT)


def means(scores):
    return {name: metrics["mean"] for name, metrics in scores.items()}


def shares(strict, unparsed, lenient):
    read = {"target": strict, "valid": strict, "unparsed": unparsed}
    return {**read, "lenient_valid": lenient, "lenient_unparsed": 0}


def test_oracle_scores_one(reported):
    assert means(reported["oracle"]["scores"]) == shares(1, 0, 1)
    assert reported["oracle"]["metadata"]["ceiling"] == {"value": 1, "stderr": 0}


def test_copier_scores_what_copying_is_worth(reported, batch):
    copied = (batch.context[:, 7] == batch.target).all(axis=1).mean()
    assert 0 < copied < 1
    assert means(reported["copier"]["scores"]) == shares(copied, 0, copied)
    assert reported["copier"]["metadata"]["floors"]["copying the last panel"]["value"] == copied
    assert reported["copier"]["metadata"]["chance"] == 1 / 8


def test_standard_errors_are_over_instances_and_not_over_epochs(reported, batch):
    assert reported["copier"]["samples"] == 2 * COUNT
    copied = (batch.context[:, 7] == batch.target).all(axis=1)
    expected = copied.std(ddof=1) / COUNT**0.5
    assert reported["copier"]["scores"]["target"]["stderr"] == pytest.approx(expected)


def test_babbler_scores_nothing_but_is_understood(reported):
    assert means(reported["babbler"]["scores"]) == shares(0, 1, 1)
    assert set(reported["babbler"]["answers"].values()) == {None}


def test_logs_can_be_scored_again_by_their_ids(reported, batch):
    assert reported["again"]["scores"] == reported["oracle"]["scores"]
    assert reported["oracle"]["answers"] == {
        f"v1_M1-K8-unique_h0_s0_test-40_told-0_{index}": f"Answer: [{target}]"
        for index, [target] in enumerate(batch.target.tolist())
    }


def test_the_ladder_is_reported_rung_by_rung(reported):
    rungs = {f"M{rung.M}-K{rung.K}" for rung in LADDER}
    found = reported["ladder"]
    expected = {f"sraven/rung_{rung}": 1 for rung in rungs | {"all"}}
    assert found["scores"]["target"] == expected | {f"{name}_stderr": 0 for name in expected}
    assert set(found["metadata"]) == rungs
    assert found["metadata"]["M4-K16"]["chance"] == 16**-4
    assert set(found["answers"]) == {rung.questions().id_of(5) for rung in LADDER}


def test_the_first_questions_of_the_lite_board_are_of_all_levels(reported):
    found = reported["lite"]
    asked = [level.questions("told2", count=100) for level in LEVELS]
    assert set(found["answers"]) == {each.id_of(index) for each in asked for index in (0, 1)}
    assert found["scores"]["lenient_valid"]["sraven/rung_all"] == 1
    assert set(found["metadata"]) == {f"M{level.M}-K{level.K}" for level in LEVELS}


def test_twins_are_reported_by_whole_sets(reported):
    scores = reported["twins"]["scores"]["target"]
    found = {name.removeprefix("sraven/sets_"): value for name, value in scores.items() if "sets_" in name}
    assert found == {"count": 4, "pass_any": 1, "pass_mean": 1, "pass_all": 1}
