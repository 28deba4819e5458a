"""lm-eval, end to end and without a network: scripted models get the scores that they deserve."""

import json

import pytest

from helpers.command import sraven
from helpers.harnesses import needs
from helpers.refusals import assert_refused
from helpers.scripted_models import LITE, SHORT, TWINS
from sraven import SRAVEN
from sraven.board.board import read_board
from sraven.harness.lm_eval import functions
from sraven.harness.questions import VERDICTS, count_sets
from sraven.text.questions import LEVELS

needs("llm", "lm_eval")

COUNT, FEW, NAMES = 40, 12, [f"M{level.M}-K{level.K}" for level in LEVELS]


@pytest.fixture(scope="module")
def reported(run, tmp_path_factory):
    # A model's own seed comes with the metadata, and moves no puzzle.
    metadata = {"M": 1, "answers": "any", "shots": 2, "count": COUNT, "seed": 7}
    folder = tmp_path_factory.mktemp("lm_eval")
    code, out, _ = sraven("text", "tasks")
    assert code == 0
    words = out.rstrip("\n"), "sraven", json.dumps(metadata)
    return json.loads(run(folder, "run_lm_eval.py", *words))


@pytest.fixture(scope="module")
def drawn():
    task = SRAVEN(M=1, holdout=0)
    batch = task.sample("test", start=0, count=COUNT)
    return batch, task.count_answers(batch), task.ideal_observer(batch)[1]


def test_oracle_gives_a_valid_panel_each_time(reported, drawn):
    _, counts, probabilities = drawn
    assert (counts > 1).any()
    found = reported["oracle"]["metrics"]
    assert (found["valid"], found["unparsed"]) == (1, 0)
    assert (counts == 1).mean() <= found["target"] <= 1
    assert found["ceiling"] == pytest.approx(probabilities.mean())


def test_copier_scores_what_copying_is_worth(reported, drawn):
    batch, _, _ = drawn
    copied = (batch.context[:, 7] == batch.target).all(axis=1)
    found = reported["copier"]["metrics"]
    assert 0 < copied.mean() < 1 and found["target"] == copied.mean() == pytest.approx(found["floor"])
    assert found["target_stderr"] == pytest.approx(copied.std(ddof=1) / COUNT**0.5)


def test_babbler_scores_nothing_and_all_is_unparsed(reported):
    found = reported["babbler"]["metrics"]
    assert (found["target"], found["valid"], found["unparsed"]) == (0, 0, 1)
    assert (found["lenient_valid"], found["accuracy"]) == (1, 0)  # told is read strictly


def test_ids_say_what_was_asked_and_examples_come_once(reported):
    """lm-eval's own examples are asked for, and not added to those of the prompts."""
    expected = [f"v1_M1-K8_h0_s0_test-40_told-2_{index}" for index in range(COUNT)]
    assert reported["oracle"]["ids"] == expected


def test_there_is_a_task_for_any_setting_and_for_each_board(reported):
    boards = {"sraven_text_v2", "sraven_text_lite_v2", "sraven_text_twins_v1"}
    assert set(reported["tasks"]) == {"sraven"} | boards


def test_boards_are_asked_in_their_order():
    rows = functions.questions(board=LITE, form="untold")["test"]
    assert rows["id"][:8] == [level.questions("untold2", count=100).id_of(0) for level in LEVELS]
    assert len(rows) == 800 and functions.judge_reply(rows[8], [f"{rows[8]['answer']}."])["accuracy"] == 1
    copied = [rung["floors"]["copy-last-panel"] for rung in read_board(LITE).rungs]
    assert rows["floor"] == pytest.approx(copied * 100)
    fresh = functions.questions(puzzle_seed=3, board=LITE)["test"]
    assert fresh["id"][0] == rows["id"][0].replace("untold2", "told2").replace("_s0_", "_s3_")
    assert_refused("leave M out", functions.questions, M=3, board=LITE)


def test_a_board_has_a_row_for_each_level(reported):
    found = reported[LITE]
    assert {found[f"{name},none"] for name in (*NAMES, "accuracy")} == {1}
    assert found["lenient_unparsed,none"] == 0


def test_twins_are_reported_by_whole_sets(reported):
    assert {reported[TWINS][f"{name},none"] for name in ("pass_all", "pass_mean", "pass_any")} == {1}


def test_sets_count_as_worked_by_hand():
    """A set of which one of two is solved, one of which both are, and one that isn't whole."""
    solved = [("a", 2, 1.0), ("b", 2, 1.0), ("a", 2, 0.0), ("b", 2, 1.0), ("c", 2, 1.0)]
    assert count_sets(solved) == {"count": 2, "pass_any": 1.0, "pass_mean": 0.75, "pass_all": 0.5}
    assert count_sets([]) == {"count": 0, "pass_any": 0, "pass_mean": 0, "pass_all": 0}


# inspect-ai


needs("llm", "inspect_ai")


@pytest.fixture(scope="module")
def by_inspect(run, tmp_path_factory):
    folder = tmp_path_factory.mktemp("inspect")
    arguments = json.dumps({"M": 1, "count": FEW})
    return json.loads(run(folder, "run_inspect.py", arguments, folder / "logs"))


@pytest.fixture(scope="module")
def batch():
    return SRAVEN(M=1, holdout=0, answers="unique").sample("test", start=0, count=FEW)


def test_oracle_scores_one_by_inspect(by_inspect):
    found = {name: metrics["mean"] for name, metrics in by_inspect["oracle"]["scores"].items()}
    assert found == {name: "unparsed" not in name for name in VERDICTS}
    assert by_inspect["oracle"]["metadata"]["ceiling"] == 1


def test_standard_errors_are_over_instances_and_not_over_epochs(by_inspect, batch):
    assert by_inspect["copier"]["samples"] == 2 * FEW
    copied = (batch.context[:, 7] == batch.target).all(axis=1)
    expected = copied.std(ddof=1) / FEW**0.5
    assert expected > 0
    assert by_inspect["copier"]["scores"]["target"]["stderr"] == pytest.approx(expected)


def test_logs_can_be_scored_again_by_their_ids(by_inspect, batch):
    assert by_inspect["again"]["scores"] == by_inspect["oracle"]["scores"]
    assert by_inspect["oracle"]["answers"] == {
        f"v1_M1-K8-unique_h0_s0_test-{FEW}_told-0_{index}": f"Answer: [{target}]"
        for index, [target] in enumerate(batch.target.tolist())
    }


def test_a_board_is_reported_level_by_level_by_inspect(by_inspect):
    found, asked = by_inspect[LITE], [level.questions("told2", count=SHORT) for level in LEVELS]
    expected = dict.fromkeys([*NAMES, "total"], 1)
    assert found["scores"]["accuracy"] == expected | {f"{name} ±": 0 for name in expected}
    assert found["scores"]["unparsed"] == {"mean": 0, "stderr": 0}
    assert found["metadata"]["chance"] == pytest.approx(read_board(LITE).chance)
    assert set(found["answers"]) == {each.id_of(index) for each in asked for index in range(SHORT)}


def test_twins_are_reported_by_whole_sets_by_inspect(by_inspect):
    scores = by_inspect[TWINS]["scores"]["accuracy"]
    found = {name: value for name, value in scores.items() if "pass" in name or name == "count"}
    assert found == {"count": 4, "pass_any": 1, "pass_mean": 1, "pass_all": 1}
