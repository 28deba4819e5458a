"""Scores over several replies, by hand."""

from itertools import combinations

import numpy as np
import pytest

from sraven.text.samples import pass_at, share_right


def test_pass_at_k_is_the_share_of_all_choices_that_have_a_right_one():
    replies = [[1, 0, 0, 1, 0, 0], [0, 0, 0, 0, 0, 0, 1], [1] * 6, [0] * 6, []]
    found = pass_at(np.array(list(map(len, replies))), np.array(list(map(sum, replies))))
    assert list(found) == [1, 2, 4, 6]
    for k, share in found.items():
        chosen = [[any(some) for some in combinations(each, k)] or [False] for each in replies]
        assert share.value == pytest.approx(np.mean([np.mean(each) for each in chosen])) and share.n == 5


def test_one_reply_each_needs_no_pass_at_k():
    assert (
        pass_at(np.array([1, 1, 0]), np.array([1, 0, 0])) == {} == pass_at(np.zeros(2, int), np.zeros(2, int))
    )
    assert pass_at(np.array([1, 8]), np.array([1, 0])) == {}  # the second question alone has more


def test_questions_without_such_replies_are_left_out():
    assert share_right(np.array([2, 0, 1]), np.array([1, 0, 1])).value == 0.75
    assert share_right(np.zeros(3, int), np.zeros(3, int)) is None
