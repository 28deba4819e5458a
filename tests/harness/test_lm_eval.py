"""lm-eval, end to end and without a network: scripted models get the scores that they deserve."""

import pytest

from helpers.command import sraven
from helpers.harnesses import needs, run_program
from sraven import SRAVEN
from sraven.text import LADDER

needs("llm", "lm_eval")

COUNT = 40


@pytest.fixture(scope="module")
def reported(tmp_path_factory):
    # A model's own seed comes with the metadata, and moves no puzzle.
    metadata = {"M": 1, "answers": "any", "shots": 2, "count": COUNT, "seed": 7}
    folder = tmp_path_factory.mktemp("lm_eval")
    code, out, _ = sraven("text", "tasks")
    assert code == 0
    return run_program("run_lm_eval.py", folder, out.rstrip("\n"), "sraven_m4", metadata)


@pytest.fixture(scope="module")
def drawn():
    task = SRAVEN(M=1, holdout=0)
    batch = task.sample("test", start=0, count=COUNT)
    return batch, task.count_answers(batch), task.ideal_observer(batch)[1]


def shares(reported):
    return {name: reported["metrics"][name] for name in ("target", "valid", "unparsed")}


def test_oracle_gives_a_valid_panel_each_time(reported, drawn):
    _, counts, probabilities = drawn
    assert (counts > 1).any()
    found = shares(reported["oracle"])
    assert (found["valid"], found["unparsed"]) == (1, 0)
    assert (counts == 1).mean() <= found["target"] <= 1
    assert reported["oracle"]["metrics"]["ceiling"] == pytest.approx(probabilities.mean())


def test_copier_scores_what_copying_is_worth(reported, drawn):
    batch, _, _ = drawn
    copied = (batch.context[:, 7] == batch.target).all(axis=1)
    assert 0 < copied.mean() < 1
    assert shares(reported["copier"])["target"] == copied.mean()
    expected = copied.std(ddof=1) / COUNT**0.5
    assert reported["copier"]["metrics"]["target_stderr"] == pytest.approx(expected)


def test_babbler_scores_nothing_and_all_is_unparsed(reported):
    assert shares(reported["babbler"]) == {"target": 0, "valid": 0, "unparsed": 1}


def test_ids_say_what_was_asked_and_examples_come_once(reported):
    """lm-eval's own examples are asked for, and not added to those of the prompts."""
    assert reported["oracle"]["ids"] == [f"v1_M1-K8_h0_s0_test-40_told-2_{i}" for i in range(COUNT)]


def test_there_is_a_task_for_each_rung_and_a_group_of_all(reported):
    rungs = [f"sraven_m{rung.M}" + f"_k{rung.K}" * (rung.K != 8) for rung in LADDER]
    assert set(reported["tasks"]) == {"sraven", *rungs}
