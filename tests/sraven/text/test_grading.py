"""Verdicts: the target, another valid answer, a wrong one, none at all."""

import numpy as np
import pytest

from helpers import oracle
from sraven import SRAVEN, ConfigurationError, text
from sraven.text.prompts import render_answers


@pytest.fixture(scope="module")
def task():
    return SRAVEN(M=3, K=7, holdout=0.3, seed=5)


@pytest.mark.parametrize("permute", [True, False])
def test_verdicts_of_all_answers_and_of_others(permute):
    batch = SRAVEN(M=3, K=7, holdout=0.3, seed=5, permute=permute).sample("ood", 0, 60)
    several = 0
    for number in range(len(batch)):
        one = batch[number : number + 1]
        answers = oracle.answers(one.context[0].tolist(), 7, permute)
        target = tuple(one.target[0].tolist())
        tried = sorted(answers | {(0, 0, 0), (6, 1, 3), tuple(one.context[0, 7].tolist())})
        instances = one[np.zeros(len(tried), int)]
        grades = text.grade([text.render_answer(panel) for panel in tried], instances, 7, permute=permute)
        assert grades.parsed.all()
        assert grades.target.tolist() == [panel == target for panel in tried]
        assert grades.valid.tolist() == [panel in answers for panel in tried]
        several += len(answers) > 1
    assert several > 5


def test_unparsed_replies_are_wrong_and_counted_apart(task):
    batch = task.sample("ood", 0, 4)
    right = render_answers(batch.target)
    grades = text.grade([right[0], "I don't know.", None, f"{right[3]}?"], batch, 7)
    assert grades.parsed.tolist() == [True, False, False, False] == grades.target.tolist()
    assert grades.valid.tolist() == [True, False, False, False]
    assert (grades.panels[1:] == 0).all() and len(grades) == 4
    summary = text.summarise(grades, task.ideal_observer(batch)[1])
    assert summary.n == 4 and summary.unparsed.value == 0.75 and summary.target.value == 0.25
    assert summary.target.standard_error == pytest.approx(0.25)  # sqrt(1/4 * 3/4 / 3)
    assert summary.ceiling.value == pytest.approx(task.ideal_observer(batch)[1].mean())


def test_a_panel_of_zeros_is_no_gift_to_those_who_say_nothing():
    task = SRAVEN(M=1, K=3, holdout=0)
    batch = task.sample("test", 0, 200)
    zeros = (batch.target == 0).all(axis=1)
    assert zeros.any() and not text.grade([""] * 200, batch, 3).target.any()
    assert (text.grade(["Answer: [0]"] * 200, batch, 3).target == zeros).all()


def test_parts_join(task):
    batch = task.sample("ood", 0, 6)
    replies = [*render_answers(batch.target[:3]), "", "", ""]
    whole = text.grade(replies, batch, 7)
    parts = [text.grade(replies[:2], batch[:2], 7), text.grade(replies[2:], batch[2:], 7)]
    joined = text.Grades.join(parts)
    assert all((getattr(joined, name) == getattr(whole, name)).all() for name in vars(whole))


def test_nothing_and_one_are_summarised_without_a_warning(task):
    assert text.summarise(text.grade([], task.sample("ood", 0, 0), 7)).n == 0
    one = text.summarise(text.grade([""], task.sample("ood", 0, 1), 7))
    assert one.unparsed.value == 1 and one.unparsed.standard_error == 0 and one.ceiling is None


def test_other_numbers_of_replies_are_refused(task):
    with pytest.raises(ConfigurationError, match="3 replies for 2 instances; expected one for each"):
        text.grade(["a", "b", "c"], task.sample("ood", 0, 2), 7)
