"""Sets of twins in words: what is asked, how replies in other notations are read, and scores by sets."""

import re
from functools import cache

import numpy as np
import pytest

from helpers.refusals import assert_refused
from helpers.submissions import use_boards
from helpers.text_board import DEFINITION, write_lines
from sraven import text
from sraven.board.board import Board, read_board
from sraven.board.freeze import make_board
from sraven.text.scores import public_less_fresh, score_completions
from sraven.twins.task import Twins

LEVELS, V, SETS = ("M1-K7", "M3-K7"), 8, 8
COUNT = SETS * V


@cache
def content():
    config = {"task": "sraven-text-twins", "version": "1", "rungs": list(LEVELS), "size": 4, "seed": 5}
    changes = {"config": config | {"holdout": 0.25}, "series": "twins", "metric": "pass_all"}
    return make_board({**DEFINITION, "id": "small-twins-v1", **changes, "sizes": {"ladder": COUNT}})


@cache
def board():
    return Board.from_content(content())


@cache
def asked():
    """Return the questions in their order: id, prompt, kind and answer as numbers."""
    task, batch = board().task, board().sample("ladder", 0, COUNT)
    sets = task.wording.questions("told-0-shot")
    ids = task.in_order([each.id_of(index) for index in range(4)] for each in sets)
    prompts = task.wording.prompts("ladder", COUNT, "told-0-shot")
    targets = [[each for each in row if each != 255] for row in batch.target.tolist()]
    return list(zip(ids, prompts, np.array(task.kinds)[batch.rung].tolist(), targets, strict=True))


def right_replies():
    return [text.render_answer(target) for *_, target in asked()]


# What is asked


def test_the_board_asks_whole_sets_of_all_levels_in_turn():
    frozen = read_board("sraven-text-twins-v1")
    assert frozen.splits == {"ladder": 16_000} and frozen.metric == "pass_all"
    assert frozen.task.rungs_of(np.arange(16_000))[0].tolist() == [*range(32)] * 500
    batch = frozen.sample("ladder", 7_968, 64)
    assert batch.rung.tolist() == [*range(32)] * 2
    assert batch.set.tolist() == np.repeat(range(996, 1004), 8).tolist()
    assert [rung["instances"] for rung in frozen.rungs] == [4000] * 4


def test_a_set_is_a_set_of_twins_and_its_first_puzzle_in_three_notations():
    task = board().task
    assert task.kinds[:V] == ("first", "rows", "values", "values", "negated", *["notation"] * 3)
    assert task.kinds[V:] == ("first", "columns", "rows", "values", "negated", *["notation"] * 3)
    batch = board().sample("ladder", 0, COUNT)
    first = Twins(1, 7, 0, 5, by_columns=0, by_rows=1, by_values=2)
    second = Twins(3, 7, 0.25, 5, by_columns=1, by_rows=1, by_values=1)
    for level, (twins, split) in enumerate([(first, "test"), (second, "ood")]):
        own = batch[np.flatnonzero(batch.rung // V == level)]
        drawn = twins.sample(split, 0, 4 * twins.size)
        context = own.context[..., : twins.M].reshape(4, V, 8, twins.M)
        assert np.array_equal(context[:, :5], drawn.context.reshape(4, 5, 8, twins.M))
        assert (context[:, 5:] == context[:, :1]).all()
        targets = own.target[:, : twins.M].reshape(4, V, twins.M)
        assert np.array_equal(targets[:, :5], drawn.target.reshape(4, 5, twins.M))
        assert (targets[:, 5:] == targets[:, :1]).all()


def test_notations_by_hand():
    context = np.array([[[0, 4], [2, 6], [12, 2], [2, 4], [3, 4], [0, 13], [3, 1], [2, 0]]], np.uint8)
    batch = Twins(2, 16, by_values=1).empty_batch(1)._replace(context=context)
    ends = {
        "told2words": "[zero four] [two six] [twelve two]\n[two four] [three four] [zero 13]\n"
        "[three one] [two zero] [?]",
        "told2json": '[[[0, 4], [2, 6], [12, 2]],\n [[2, 4], [3, 4], [0, 13]],\n [[3, 1], [2, 0], "?"]]',
        "told2last": "write nothing after it:\nAnswer: [d d]",
    }
    for form, end in ends.items():
        [prompt] = text.render(batch, 16, form)
        assert prompt.endswith(end)
    assert prompt.startswith("[0 4] [2 6] [12 2]\n[2 4] [3 4] [0 13]\n[3 1] [2 0] [?]\n\nA matrix has")


@pytest.mark.parametrize("form", ["told2words", "told2json", "told2last"])
def test_examples_are_written_alike(form):
    task = Twins(2, 7, by_values=1)
    batch, shots = task.sample("test", 0, 1), task.sample("train", 0, 2)
    [prompt] = text.render(batch, 7, form, shots=shots)
    written = [text.render(each, 7, form)[0].split("\n\n") for each in (shots[:1], shots[1:], batch)]
    puzzles = [blocks[0 if form == "told2last" else -1] for blocks in written]
    answers = [text.render_answer(panel) for panel in shots.target]
    shown = [f"{puzzle}\n{answer}" for puzzle, answer in zip(puzzles, answers, strict=False)]
    assert "\n\n".join([*shown, puzzles[2]]) in prompt and "Two solved examples come first." in prompt


def test_every_id_says_its_question():
    frozen = (read_board("sraven-text-twins-v1").task).wording.questions("told-0-shot")
    assert max(len(each.id_of(499)) for each in frozen) <= 64
    for question, prompt, _, target in asked():
        assert re.fullmatch("[A-Za-z0-9_-]+", question)
        questions, index = text.find_question(question)
        assert questions.prompts([index]) == [prompt] and questions.id_of(index) == question
        assert questions.answers([index]) == [text.render_answer(target)]
    for wrong in (question.replace("1-1-1-1-0", "1-1-1-1-5"), question.replace("1-1-1-1-0", "1-3-1-1-0")):
        assert_refused("is no id", text.find_question, wrong)


# What is read


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("Answer: [three six two zero]", (3, 6, 2, 0)),
        ("**Answer:** [Three, six, two, ZERO].", (3, 6, 2, 0)),
        ("Answer: [3 six 2 0]", (3, 6, 2, 0)),
        ("Answer: [3 6 2 0], the only one", (3, 6, 2, 0)),
        ("Answer: [3 6 2 0] or [three six two one]", None),
        ("Answer: [threesix two zero one]", None),
        ("[three six two zero]", None),
        ("Answer: [three six two]", None),
        ("Answer: [three six two nine]", None),
    ],
)
def test_words_are_read_leniently(reply, answer):
    task = Twins(4, 8, by_columns=0, by_rows=0, by_values=0, by_negation=0)
    asked = text.Questions(task, "ood", 1, "told2words")
    strict, lenient = asked.grade_both([0], [reply])
    assert asked.read(reply).answer == answer and lenient.parsed[0] == (answer is not None)
    assert not strict.parsed[0]


def test_the_board_reads_words_in_their_notation_alone():
    names = ["zero", "one", "two", "three", "four", "five", "six"]
    replies = [f"Answer: [{' '.join(names[each] for each in target)}]" for *_, target in asked()]
    read = board().read("ladder", replies)
    words = np.array([prompt.startswith("In the matrix") for _, prompt, _, _ in asked()])
    assert ((read[:, 0] != 255) == words).all() and not (read[:, -1] == 1).any()
    usual = board().task.wording.questions("told-0-shot")[0]
    assert not usual.grade_both([0], replies[:1])[1].parsed[0] and usual.read(replies[0]).answer is None
    scores = board().score("ladder", replies).metrics
    assert scores["pass_mean"].mean == 1 / 8 and scores["unparsed"].mean == 7 / 8
    assert scores["unparsed_strict"].mean == 1 and scores["pass_mean_strict"].mean == 0


# Scores


def means(replies):
    return {name: score.mean for name, score in board().score("ladder", replies).metrics.items()}


def test_who_knows_all_scores_one():
    scores = means(right_replies())
    shares = {name: mean for name, mean in scores.items() if not name.startswith("unparsed")}
    assert set(shares.values()) == {1.0} and scores["unparsed"] == scores["unparsed_strict"] == 0
    observer = board().task.references.predictors["ideal-observer"].predict("ladder", COUNT, 0)
    assert means(observer) == scores


WRONG = [2, *range(32, 40), 8 + 16, *range(56 + 1, 64)]
"""Set 0 lacks a twin by values, set 3 its first puzzle, set 4 all and set 7 all but its first puzzle."""


def partly_right_replies():
    return ["Answer: [7]" if row in WRONG else reply for row, reply in enumerate(right_replies())]


def test_scores_by_hand():
    replies = partly_right_replies()
    kinds = [kind for _, _, kind, _ in asked()]
    assert kinds[2] == "values" and kinds[24] == kinds[56] == "first"
    found = means(replies)
    low, high = 23 / 32, 24 / 32
    assert found["pass_all"] == 4 / 8 and found["pass_any"] == 7 / 8
    assert found["pass_mean"] == pytest.approx((low + high) / 2, abs=1e-9)
    independent = (low**8 + high**8) / 2
    assert found["independent"] == pytest.approx(independent, abs=1e-9)
    expected = (4 / 8 - independent) / ((low + high) / 2 - independent)
    assert found["systematicity"] == pytest.approx(expected, abs=1e-8)
    assert found["pass_all.M1-K7"] == found["pass_all.M3-K7"] == 2 / 4
    assert found["independent.M3-K7"] == pytest.approx(high**8, abs=1e-9)
    # A single feature has no columns: of four sets, one lacks its first puzzle, and one that by columns.
    assert found["pass_all.columns"] == 2 / 4 and found["pass_mean.columns"] == 6 / 8
    assert found["independent.columns"] == (6 / 8) ** 2
    # At M=1 there are two twins by values.
    assert found["pass_mean.values"] == pytest.approx((8 / 12 + 6 / 8) / 2, abs=1e-9)
    assert found["independent.values"] == pytest.approx(((8 / 12) ** 3 + (6 / 8) ** 2) / 2, abs=1e-9)
    assert found["pass_all.notation"] == 5 / 8 and found["pass_any.notation"] == 7 / 8
    assert found["unparsed"] == len(WRONG) / COUNT  # there is no 7


@pytest.fixture
def file(monkeypatch, tmp_path):
    use_boards(monkeypatch, tmp_path / "boards", {"small-twins-v1": content()})
    return tmp_path / "c.jsonl"


def scored(file, replies, *others):
    """Score replies to the questions of the board; beyond these, to ``others``, or to the first once more."""
    ids = [question for question, *_ in asked()]
    pairs = zip([*ids, *(others or ids)], replies, strict=False)
    return score_completions(write_lines(file, [{"id": each, "completion": said} for each, said in pairs]))


NAMES = ("pass_all", "pass_any", "pass_mean", "independent", "systematicity")


def test_completions_get_the_metrics_of_the_board(file):
    [found], expected = scored(file, partly_right_replies()), means(partly_right_replies())
    assert [each.level for each in found.sets] == [*LEVELS, "total"] and len(found.levels) == 2
    for each in found.sets:
        suffix = "" if each.level == "total" else f".{each.level}"
        values = {name: getattr(each, name) for name in NAMES}
        for name, value in values.items():
            assert getattr(value, "value", value) == pytest.approx(expected[name + suffix], abs=1e-8), name
    assert found.of_board == found.sets[-1].pass_all.value == 4 / 8
    assert found.total.accuracy.value == pytest.approx(expected["pass_mean"]) and found.total.n == COUNT


def test_sets_that_are_not_whole_do_not_count(file):
    """Two sets of the first level and one of the second are whole; of the next, a question is missing."""
    [found] = scored(file, right_replies()[: 4 * V - 1])
    assert [each.n for each in found.sets] == [2, 1, 3] and found.total.missing == COUNT - 4 * V + 1
    assert found.sets[-1].pass_all.value == 1 == found.sets[-1].systematicity
    assert found.of_board == 3 / 8
    [nothing] = scored(file, right_replies()[: V - 1])
    assert [(each.n, each.systematicity) for each in nothing.sets] == [(0, None)] * 2


def test_of_several_replies_it_is_the_mean_over_all_ways_to_take_one(file):
    """Of the first set, one variant is right in one of two replies; all else is right."""
    replies = right_replies()
    [found] = scored(file, [*replies, "Answer: [7]", *replies[1:]])
    assert found.sets[0].pass_all.value == pytest.approx((1 / 2 + 3) / 4)
    assert found.sets[0].pass_any.value == 1


def test_fresh_sets_are_compared_by_sets(file):
    fresh, replies = [question.replace("_s5_", "_s6_") for question, *_ in asked()], right_replies()
    [difference] = public_less_fresh(scored(file, [*replies, *["Answer: [7]"] * COUNT], *fresh))
    assert difference.value == 1 and difference.interval == (1, 1)
    assert public_less_fresh(scored(file, [*replies, *[None] * COUNT], *fresh)) == []
