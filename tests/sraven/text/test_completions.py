"""Files of completions: read a line at a time, in any order; what is wrong with one is said in a line."""

import re

import numpy as np
import pytest

from helpers import oracle
from helpers.refusals import assert_refused
from helpers.text_board import write_lines
from sraven import SRAVEN, ConfigurationError, text
from sraven.text.completions import LONGEST_LINE
from sraven.text.replies import CUT_OFF, NO_MARK, NO_REPLY, REFUSED
from sraven.text.scores import score_completions


def write(path, completions):
    pairs = completions.items() if isinstance(completions, dict) else completions
    return write_lines(path, [{"id": name, "completion": text} for name, text in pairs])


def test_what_is_missing_counts_apart_and_what_is_unparsed_as_wrong(file, right, questions):
    """Of six completions one gives up and one has failed; another is read leniently alone."""
    kept = {name: right[name] for name in list(right)[:6]}
    kept[questions.id_of(1)], kept[questions.id_of(4)] = "I give up.", None
    kept[questions.id_of(5)] += " I think."
    [found] = score_completions(write(file, kept))
    score = found.total
    shares = (score.accuracy, score.lenient.target, score.strict.unparsed, score.lenient.unparsed)
    assert [each.value for each in shares] == pytest.approx([3 / 6, 4 / 6, 3 / 6, 2 / 6])
    assert (score.n, found.replies, found.of_board) == (6, 5, pytest.approx(0.3))
    assert (score.chance, score.ceiling.value, found.name, found.board) == (1 / 49, 1, *[questions.name] * 2)
    assert score.reasons == {NO_MARK: 1, NO_REPLY: 1}
    assert [(reply.id, reply.end) for reply in score.unread] == [(questions.id_of(1), "I give up.")]
    assert (score.missing, score.first_missing) == (4, questions.id_of(6))


LINE = '{"id": "v1_M2-K7-unique_h25_s0_ood-10_told-0_%s", "completion": %s}'
WHOLE = LINE % (3, "null")


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([WHOLE, LINE % (10, "null")], "line 2: 'v1_M2-K7-unique_h25_s0_ood-10_told-0_10' is no id that"),
        ([WHOLE, WHOLE[:-1]], "line 2 is no JSON that can be read"),
        (['{"completion": ""}'], 'line 1: expected an object with "id" and "completion"'),
        ([LINE % (3, "[1, 2]")], "line 1: [1, 2] is no text; a completion may"),
        (['"' + "x" * LONGEST_LINE], "line 1 is longer than 16,777,216 bytes"),
        ([""], "has no completions"),
        ([WHOLE] * 2, "no reply to score. Its questions: 1 no"),
    ],
    ids=range(7),
)
def test_wrong_lines_are_named(file, lines, said):
    file.write_bytes("\n".join(lines).encode("latin-1"))
    with pytest.raises(ConfigurationError, match=re.escape(said)) as error:
        score_completions(file)
    assert len(str(error.value)) < 500 and str(error.value).startswith(str(file))


def test_costly_sets_are_refused_before_they_cost_anything(file):
    write(file, {f"v1_M1-K7_h0_s{seed}_test-600000_told-0_0": "" for seed in range(2)})
    assert_refused("line 2: expected sets of 1,048,576 questions", score_completions, file)


def test_failures_are_replaced_and_several_replies_are_samples(file, right, questions):
    """Question 0 has three replies of which two are right, question 1 two right ones after a failure."""
    ids = list(right)
    lines = [(ids[0], right[ids[0]]), (ids[1], None), (ids[0], "hm"), (ids[1], right[ids[1]]), (ids[2], None)]
    lines += [(ids[0], right[ids[0]]), (ids[1], right[ids[1]])]
    [found] = score_completions(write(file, lines))
    score = found.total
    assert (score.missing, score.reasons) == (7, {NO_MARK: 1, NO_REPLY: 1})
    assert score.accuracy.value == pytest.approx((2 / 3 + 1) / 3)
    assert found.of_board == pytest.approx((2 / 3 + 1) / 10)


def test_cut_off_refused_and_unmarked_are_three_things(file, right, questions):
    said = [
        {"completion": "Row 1 adds", "finish_reason": "length"},
        {"completion": None, "stop_reason": "max_tokens"},
        {"completion": None, "refusal": "I can't help with that."},
        {"completion": "No.", "finish_reason": "content_filter"},
        {"completion": "It is 1 2.", "finish_reason": "stop"},
        {"completion": [{"type": "thinking", "thinking": "Answer: [0 0]"}, {"type": "text", "text": "Hm"}]},
        {"completion": None, "error": "500"},
        {"completion": [{"type": "text", "text": right[questions.id_of(7)]}], "finish_reason": ["odd"]},
    ]
    lines = [{"id": questions.id_of(n), **each} for n, each in enumerate(said)]
    [found] = score_completions(write_lines(file, lines))
    assert found.total.reasons == {CUT_OFF: 2, REFUSED: 2, NO_MARK: 2, NO_REPLY: 1}
    assert found.total.accuracy.value == 1 / 8 and "I can't help with that." in str(found.total.unread)


# Verdicts: the target, another valid answer, a wrong one, none at all


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


def test_a_panel_of_zeros_is_no_gift_to_those_who_say_nothing():
    task = SRAVEN(M=1, K=3, holdout=0)
    batch = task.sample("test", 0, 200)
    zeros = (batch.target == 0).all(axis=1)
    nothing = text.grade(["", None] * 100, batch, 3)
    assert zeros.any() and not (nothing.parsed | nothing.target | nothing.valid).any()
    assert (text.grade(["Answer: [0]"] * 200, batch, 3).target == zeros).all()


def test_other_numbers_of_replies_are_refused(task):
    assert_refused("3 replies for 2 instances", text.grade, ["a", "b", "c"], task.sample("ood", 0, 2), 7)


def test_complete_and_cut_off_replies_have_an_accuracy_each(file, right):
    """Of two complete replies to question 0 one is right; question 1 is cut off, right and wrong."""
    first, second, third = list(right)[:3]
    cut = {"finish_reason": "LENGTH"}
    lines = [
        {"id": first, "completion": right[first]},
        {"id": first, "completion": "Answer: [9 9]"},
        {"id": second, "completion": right[second], **cut},
        {"id": second, "completion": f"<think>\n{right[second]}", **cut},
        {"id": third, "completion": f"<think>\n{right[third]}"},  # nobody says that it was cut off
        {"id": third, "completion": f"<think>Hm.</think>\n{right[third]}", **cut},
    ]
    total = score_completions(write_lines(file, lines))[0].total
    assert (total.of_complete.value, total.of_complete.n) == (0.75, 2)
    assert (total.of_cut.value, total.of_cut.n) == (0.75, 2)
    assert total.accuracy.value == pytest.approx((1 / 2 + 1 / 2 + 1) / 3)
    assert {k: share.value for k, share in total.pass_at.items()} == pytest.approx({1: 2 / 3, 2: 1})
    assert total.reasons[CUT_OFF] == 1
