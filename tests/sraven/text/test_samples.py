"""Scores over several replies, by hand."""

from itertools import combinations

import numpy as np
import pytest

from sraven.text.samples import pass_at, share_right


def test_pass_at_k_by_hand():
    """One of four right: 1 - C(3, 2) / C(4, 2) = 1/2. Three of five: 1 - C(2, 2) / C(5, 2) = 9/10."""
    found = pass_at(np.array([4, 5, 0]), np.array([1, 3, 0]))
    assert {k: each.value for k, each in found.items()} == pytest.approx(
        {1: (1 / 4 + 3 / 5) / 3, 2: (1 / 2 + 9 / 10) / 3, 4: 2 / 3}
    )
    assert {each.n for each in found.values()} == {3}


def test_pass_at_k_is_the_share_of_all_choices_that_have_a_right_one():
    replies = {1: [1, 0, 0, 1, 0, 0], 2: [0, 0, 0, 0, 0, 1], 3: [1] * 6, 4: [0] * 6}
    found = pass_at(np.full(4, 6), np.array([sum(each) for each in replies.values()]))
    assert list(found) == [1, 2, 4, 6]
    for k, share in found.items():
        chosen = [[any(some) for some in combinations(each, k)] for each in replies.values()]
        assert share.value == pytest.approx(np.mean([np.mean(each) for each in chosen]))


def test_one_reply_each_needs_no_pass_at_k():
    assert (
        pass_at(np.array([1, 1, 0]), np.array([1, 0, 0])) == {} == pass_at(np.zeros(2, int), np.zeros(2, int))
    )
    assert pass_at(np.array([1, 8]), np.array([1, 0])) == {}  # the second question alone has more


def test_questions_without_such_replies_are_left_out():
    assert share_right(np.array([2, 0, 1]), np.array([1, 0, 1])).value == 0.75
    assert share_right(np.zeros(3, int), np.zeros(3, int)) is None
