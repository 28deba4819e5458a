"""Rewards as TRL asks for them, the data they are for, and the dataset of reasoning-gym."""

import importlib
import sys
from abc import ABC, abstractmethod
from types import ModuleType

import numpy as np
import pytest

from helpers.refusals import assert_refused
from sraven import SRAVEN, list_answers
from sraven.harness import gym
from sraven.harness.questions import judge, make_questions, pose
from sraven.harness.rewards import make_dataset, reward
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
    texts = columns["answer"]
    chats = [[{"role": "assistant", "content": text}] for text in texts]
    assert reward(texts, **columns) == reward(chats, **columns) == [1.0] * 60
    said = [[{"role": "user", "content": "?"}, {"role": "assistant", "content": text}] for text in texts]
    assert reward(said, **columns) == [1.0] * 60


@pytest.mark.parametrize(
    "nothing", ["", [], [{"role": "assistant"}], [{"role": "assistant", "content": None}]]
)
def test_a_completion_that_says_nothing_gets_nothing(dataset, nothing):
    assert reward([nothing], id=[dataset[0]["id"]]) == [0.0]


def test_prompts_are_chats_of_one_message_or_texts(dataset):
    [text] = make_dataset(M=2, answers="any", count=1, chat=False)["prompt"]
    assert dataset[0]["prompt"] == [{"role": "user", "content": text}]


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


def test_the_defaults_are_a_rung_of_the_ladder():
    from sraven.text import LADDER

    for rung in LADDER:
        assert make_questions(rung.M, rung.K) == rung.questions()


def test_gym_asks_and_scores_without_reasoning_gym():
    puzzles = gym.SravenDataset(gym.SravenConfig(M=2, size=3))
    entries = list(puzzles)
    assert len(puzzles) == len(entries) == 3 and entries[2] == puzzles[2]
    for entry in entries:
        panel = entry["answer"].removeprefix("Answer: ")
        assert puzzles.score_answer(entry["answer"], entry) == puzzles.score_answer(panel, entry) == 1
        for wrong in (None, "", f"maybe {panel}", f"{panel} {panel}", "Answer: [9 9]"):
            assert puzzles.score_answer(wrong, entry) == 0
    with pytest.raises(IndexError, match="puzzle 3 of 3"):
        puzzles[3]
    assert_refused("form='plain'", gym.SravenConfig(form="plain").validate)


def test_gym_is_one_of_reasoning_gyms_where_that_is(monkeypatch):
    """An abstract class and a registry of classes with their configurations are all that is used of it."""

    class ProceduralDataset(ABC):
        @abstractmethod
        def __getitem__(self, idx): ...

    registered = {}
    names = {
        "reasoning_gym": {},
        "reasoning_gym.dataset": {"ProceduralDataset": ProceduralDataset},
        "reasoning_gym.factory": {
            "register_dataset": lambda name, kind, config: registered.update({name: (kind, config)})
        },
    }
    for name, content in names.items():
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
        vars(sys.modules[name]).update(content)
    with monkeypatch.context() as context:
        context.delitem(sys.modules, "sraven.harness.gym")
        there = importlib.import_module("sraven.harness.gym")
    assert registered == {"sraven": (there.SravenDataset, there.SravenConfig)}
    assert issubclass(there.SravenDataset, ProceduralDataset)
    assert len(there.SravenDataset(config=there.SravenConfig(M=2, size=3))) == 3
