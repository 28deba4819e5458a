"""Certificates: memory, threads, and what may be asked."""

import numpy as np
import pytest

from sraven import (
    SRAVEN,
    CapacityError,
    ConfigurationError,
    count_answers,
    differs_everywhere,
    explanations,
    is_answer,
    is_unique,
    list_answers,
)

# Memory and threads -------------------------------------------------------------------------------


@pytest.mark.parametrize(("M", "K"), [(8, 4), (6, 3), (8, 8)])
def test_lattices_that_outgrow_their_memory_give_the_same(monkeypatch, M, K):
    batch = SRAVEN(M=M, K=K, holdout=0).sample("train", 0, 211)
    wrong = (batch.target + 1) % K

    def certificates():
        return [
            count_answers(batch.context, K),
            is_unique(batch.context, K),
            is_answer(batch.context, wrong, K),
            differs_everywhere(batch.context, batch.target, K),
            *(list_answers(context, K) for context in batch.context[:3]),
        ]

    grown = certificates()
    for capacity in (1, 4, 1 << 14):
        monkeypatch.setattr(explanations, "FIRST_CAPACITY", capacity)
        assert all(np.array_equal(a, b) for a, b in zip(grown, certificates(), strict=True))


def test_some_lattices_do_outgrow_the_first_memory(monkeypatch):
    monkeypatch.setattr(explanations, "CAPACITY_LIMIT", explanations.FIRST_CAPACITY)
    batch = SRAVEN(M=8, K=4, holdout=0).sample("train", 0, 211)
    with pytest.raises(CapacityError, match="use a larger K or a smaller M"):
        count_answers(batch.context, 4)


@pytest.mark.parametrize("M", [6, 8, 12])
def test_large_instances_count_what_they_list(M):
    batch = SRAVEN(M=M, K=11, holdout=0, seed=3).sample("train", 0, 31)
    listed = [list_answers(context, 11) for context in batch.context]
    assert count_answers(batch.context, 11).tolist() == [len(answers) for answers in listed]
    for context, target, answers in zip(batch.context, batch.target, listed, strict=True):
        assert is_answer(np.repeat(context[None], len(answers), 0), answers, 11).all()
        assert target.tolist() in answers.tolist()


@pytest.mark.parametrize("threads", [1, 2, 3, None])
def test_any_number_of_threads_certifies_the_same(threads):
    batch = SRAVEN(M=3, K=5).sample("train", 0, 20_011)
    panels = batch.target[::-1].copy()
    expected = count_answers(batch.context, 5, threads=1)
    assert np.array_equal(count_answers(batch.context, 5, threads=threads), expected)
    assert np.array_equal(is_unique(batch.context, 5, threads=threads), expected == 1)
    for certify in (is_answer, differs_everywhere):
        found = certify(batch.context, panels, 5, threads=threads)
        assert np.array_equal(found, certify(batch.context, panels, 5, threads=1))


# Arguments ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int64, np.uint64])
def test_any_integers_in_any_layout_will_do(dtype):
    batch = SRAVEN(M=3, K=5).sample("train", 0, 101)
    expected = count_answers(batch.context, 5)
    strided = np.asfortranarray(batch.context.astype(dtype))
    assert np.array_equal(count_answers(strided, 5), expected)
    assert np.array_equal(count_answers(batch.context.tolist(), 5), expected)
    assert np.array_equal(count_answers(batch.context[::-1], 5), expected[::-1])


def test_no_contexts_have_no_certificates():
    empty = np.empty((0, 8, 4), np.uint8)
    assert count_answers(empty, 8).shape == is_unique(empty, 8).shape == (0,)
    assert is_answer(empty, np.empty((0, 4), np.uint8), 8).shape == (0,)


BAD_CONTEXTS = [
    (np.zeros((5, 9, 3), int), 7, ("context has shape [5, 9, 3]", "[n, 8, M]")),
    (np.zeros((8, 3), int), 7, ("context has shape [8, 3]", "[n, 8, M]")),
    (np.zeros((5, 8, 3)), 7, ("context has dtype float64", "integers")),
    (np.zeros((5, 8, 3), bool), 7, ("context has dtype bool", "integers")),
    (np.full((5, 8, 3), 7), 7, ("context contains 7", "expected values from 0 to 6")),
    (np.full((5, 8, 3), -1), 7, ("context contains -1", "expected values from 0 to 6")),
    (np.full((5, 8, 3), 256), 256, ("context contains 256", "from 0 to 255")),
    (np.zeros((5, 8, 13), int), 7, ("M=13", "from 1 to 12")),
    (np.zeros((5, 8, 0), int), 7, ("M=0", "from 1 to 12")),
    (np.zeros((5, 8, 3), int), 2, ("K=2", "from 3 to 256")),
    (np.zeros((5, 8, 3), int), 7.0, ("K=7.0", "an integer")),
]


@pytest.mark.parametrize(("context", "K", "parts"), BAD_CONTEXTS)
@pytest.mark.parametrize("function", [count_answers, is_unique, is_answer, differs_everywhere])
def test_bad_contexts_are_refused(function, context, K, parts):
    panels = [np.zeros((5, 3), int)] if function in (is_answer, differs_everywhere) else []
    with pytest.raises(ConfigurationError) as raised:
        function(context, *panels, K)
    for part in parts:
        assert part in str(raised.value)


@pytest.mark.parametrize(
    ("context", "K", "part"),
    [
        (np.zeros((1, 8, 3), int), 7, "shape"),
        (np.zeros((8, 3)), 7, "dtype float64"),
        (np.full((8, 3), 7), 7, "contains 7"),
    ],
)
def test_bad_contexts_are_not_listed(context, K, part):
    with pytest.raises(ConfigurationError, match=part):
        list_answers(context, K)


@pytest.mark.parametrize("function", [is_answer, differs_everywhere])
@pytest.mark.parametrize(
    ("panel", "part"),
    [
        (np.zeros((5, 2), int), "expected [5, 3]"),
        (np.zeros((4, 3), int), "expected [5, 3]"),
        (np.zeros((5, 3)), "dtype float64"),
        (np.full((5, 3), 7), "contains 7"),
    ],
)
def test_bad_panels_are_refused(function, panel, part):
    with pytest.raises(ConfigurationError) as raised:
        function(np.zeros((5, 8, 3), int), panel, 7)
    assert part in str(raised.value)
