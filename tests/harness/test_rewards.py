"""Rewards as TRL asks for them, the data they are for, and what reasoning-gym may take."""

import sys
from runpy import run_path
from types import SimpleNamespace

import numpy as np
import pytest

from helpers.checkout import REPOSITORY
from helpers.refusals import assert_refused
from sraven import SRAVEN, list_answers
from sraven.harness.questions import judge, make_questions, pose
from sraven.harness.rewards import Curriculum, make_dataset, reward
from sraven.text import render_answer


@pytest.fixture(scope="module")
def dataset():
    return make_dataset(M=2, answers="any", count=60)


def test_each_valid_panel_is_rewarded_and_nothing_else(dataset):
    batch = SRAVEN(M=2).sample("train", start=0, count=60)
    counts = SRAVEN(M=2).count_answers(batch)
    several = int(np.flatnonzero(counts > 1)[0])
    answers = [render_answer(panel) for panel in list_answers(batch.context[several], 8)]
    assert len(answers) == counts[several]
    wrong = {f"Answer: [{a} {b}]" for a in range(8) for b in range(8)} - set(answers)
    replies = [*answers, *sorted(wrong)]
    ids = [dataset[several]["id"]] * len(replies)
    assert reward(replies, id=ids) == [1.0] * len(answers) + [0.0] * len(wrong)


def test_rewards_are_strict_unless_they_are_asked_to_be_lenient(dataset):
    columns = dataset[:2]
    replies = [f"{answer}." for answer in columns["answer"]]
    assert reward(replies, **columns) == [0.0, 0.0]
    assert reward(replies, **columns, reading="lenient") == [1.0, 1.0]
    assert_refused("'strict', 'lenient'", reward, replies, **columns, reading="kind")


def test_rewards_of_texts_and_of_chats_are_the_same(dataset):
    columns = dataset[:]
    replies = [[{"role": "assistant", "content": text}] for text in columns["answer"]]
    chats = [[{"role": "user", "content": "?"}, *reply] for reply in replies]
    for said in (columns["answer"], replies, chats):
        assert reward(said, **columns) == [1.0] * 60


@pytest.mark.parametrize(
    "nothing", ["", [], [{"role": "assistant"}], [{"role": "assistant", "content": None}]]
)
def test_a_completion_that_says_nothing_gets_nothing(dataset, nothing):
    assert reward([nothing], id=[dataset[0]["id"]]) == [0.0]


def test_replies_to_several_sets_are_judged_together():
    sets = [make_questions(M=1, count=3), make_questions(M=3, K=7, form="untold", shots=1, count=2)]
    asked = [question for questions in sets for question in pose(questions)]
    order = [3, 0, 4, 1, 2]
    replies = [asked[i].answer if i != 4 else f"{asked[i].answer}." for i in order]
    found = judge([asked[i].id for i in order], replies)
    assert found["target"].tolist() == [True, True, False, True, True]
    assert found["unparsed"].tolist() == [False, False, True, False, False]
    assert found["lenient_valid"].all() and not found["lenient_unparsed"].any()
    assert [question.ceiling for question in asked] == [1, 1, 1, None, None]


def test_one_id_is_that_of_all_completions_and_other_numbers_are_refused(dataset):
    """TRL repeats the id for each completion of a prompt; verifiers hands in one completion of one."""
    row = dataset[0]
    parts = [{"role": "assistant", "content": [{"type": "text", "text": row["answer"]}]}]
    replies = [row["answer"], "hm", parts]
    assert reward(replies, id=row["id"]) == reward(replies, id=[row["id"]]) == [1.0, 0.0, 1.0]
    assert reward(replies, id=[row["id"]] * 3) == [1.0, 0.0, 1.0]
    assert_refused("2 ids for 3 completions", reward, replies, id=[row["id"]] * 2)


def test_a_curriculum_follows_the_accuracy_that_is_measured():
    curriculum = Curriculum(*({"M": M, "count": 4} for M in (1, 2, 3)), up=0.75, down=0.25, window=4)

    def reply(questions, right):
        said = [row["answer"] if index < right else "hm" for index, row in enumerate(questions)]
        assert curriculum.reward(said, **questions[:]) == [1.0] * right + [0.0] * (4 - right)
        return curriculum.level

    first = curriculum.make_dataset()
    assert reply(first, 2) == 0
    assert reply(first, 1) == 0  # nothing is easier
    assert reply(first, 3) == 1
    assert reply(first, 4) == 1  # replies to the level before aren't counted
    second = curriculum.make_dataset()
    assert second.column_names == first.column_names and second[0]["id"].startswith("v1_M2-")
    assert curriculum.reward([second[0]["answer"]] * 3, id=second[0]["id"]) == [1.0] * 3
    assert curriculum.level == 1  # three of four that are looked at
    assert curriculum.reward([second[0]["answer"]], id=[second[0]["id"]]) == [1.0]
    assert curriculum.level == 2
    third = curriculum.make_dataset()
    assert reply(third, 4) == 2  # nothing is harder
    assert reply(third, 1) == 1  # the oldest of the last four are forgotten
    assert reply(curriculum.make_dataset(), 0) == 0


@pytest.mark.parametrize("options", [{"window": 0}, {"up": 0.5, "down": 0.5}])
def test_a_curriculum_needs_levels_and_a_window(options):
    assert_refused("down below up", Curriculum, {"M": 1}, **options)
    assert_refused("0 levels", Curriculum)


@pytest.fixture
def handed_over(monkeypatch):
    """The file for reasoning-gym, with stand-ins for what it takes of that library."""
    registered = {}

    class Stub:
        def __init__(self, *arguments, config=None, seed=None, size=500, **options):
            self.config, self.seed, self.size = config, seed, size

        def _define_attributes(self, *attributes):
            pass

    coaching = ("BaseCurriculum", "RangeAttributeDefinition", "ScalarAttributeDefinition")

    def register(name, *kinds):
        registered[name] = kinds

    content = {
        "reasoning_gym": {},
        "reasoning_gym.coaching": dict.fromkeys(coaching, Stub),
        "reasoning_gym.factory": {"ProceduralDataset": Stub, "register_dataset": register},
    }
    for name, values in content.items():
        monkeypatch.setitem(sys.modules, name, SimpleNamespace(**values))
    found = run_path(str(REPOSITORY / "docs" / "recipes" / "reasoning_gym_sraven.py"))
    assert registered["sraven"][0] is found["SravenDataset"]
    return found


def test_what_is_handed_over_to_reasoning_gym_agrees_with_the_certificates(handed_over):
    dataset = handed_over["SravenDataset"](handed_over["SravenConfig"](max_features=3, seed=5, size=15))
    for index in range(15):
        item = dataset[index]
        context = np.array(item["metadata"]["context"], np.uint8)
        [answer] = list_answers(context, 8).tolist()
        assert item["answer"] == str(answer).replace(",", "")
        assert dataset.score_answer(item["answer"], item) == 1
    rng = handed_over["Random"](1)
    for _ in range(60):  # ambiguous ones among them
        context, *_ = handed_over["draw"](rng, 2, 5)
        found = {tuple(each) for each in list_answers(np.array(context, np.uint8), 5).tolist()}
        assert handed_over["answers"](context, 5) == found
