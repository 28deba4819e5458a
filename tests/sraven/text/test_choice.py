"""Multiple choice: one panel fits, the others come from where they should, and what that gives away."""

import json
import re
from base64 import b64decode
from dataclasses import replace
from itertools import chain, zip_longest

import numpy as np
import pytest

from helpers import oracle
from helpers.page import Page
from helpers.refusals import assert_refused
from helpers.uniformity import assert_uniform
from sraven import SRAVEN, CapacityError
from sraven.ambiguity import list_answers
from sraven.text import FLOORS, SCHEMES, Questions, ask, find_question, render_answer
from sraven.text.choice import draw_choices, floors
from sraven.text.play import MOST_PUZZLES, make_play

K = 8


@pytest.fixture(scope="module")
def task():
    return SRAVEN(M=4, K=K, answers="unique")


@pytest.fixture(scope="module", params=SCHEMES)
def drawn(request, task):
    """The scheme, 3,000 instances, their choices, and which are right."""
    indices = np.arange(3000)
    return request.param, task.take("ood", indices), *draw_choices(task, "ood", indices, request.param)


def test_eight_panels_differ_and_one_fits(drawn):
    _, batch, panels, right = drawn
    assert (panels[np.arange(len(batch)), right] == batch.target).all()
    same = (panels[:, :, None] == panels[:, None]).all(axis=3)
    assert (same == np.eye(8, dtype=bool)).all()
    for number in range(40):
        fitting = oracle.answers(batch.context[number].tolist(), K, permute=True)
        assert [tuple(panel) in fitting for panel in panels[number].tolist()].index(True) == right[number]
        assert sum(tuple(panel) in fitting for panel in panels[number].tolist()) == 1


def test_wrong_panels_fit_no_ambiguous_instance_either():
    task = SRAVEN(M=2, K=5)
    indices = np.arange(60)
    batch, (panels, right) = task.take("ood", indices), draw_choices(task, "ood", indices, "uniform")
    for number in range(len(batch)):
        fitting = oracle.answers(batch.context[number].tolist(), 5, permute=True)
        fits = [tuple(panel) in fitting for panel in panels[number].tolist()]
        assert np.flatnonzero(fits).tolist() == [right[number]]


def test_right_ones_lie_anywhere(drawn):
    _, _, _, right = drawn
    assert_uniform(np.bincount(right, minlength=8))


def own_contexts(batch, number):
    """Return the numbers that the feature at each position takes, in plain Python."""
    orders = batch.permutations[number].tolist()
    return [
        {batch.context[number, panel, orders[panel % 3].index(feature)] for panel in range(8)}
        for feature in orders[2]
    ]


STEPS = {"near": {1, 2, 6, 7}, "centred": {0, 1, 2, 6, 7}}


def test_each_scheme_draws_from_where_it_says(drawn):
    scheme, batch, panels, right = drawn
    if scheme in STEPS:
        steps = (panels.astype(int) - batch.target[:, None]) % K
        wrong = np.arange(8) != right[:, None]
        assert set(np.unique(steps[wrong])) == STEPS[scheme]
    if scheme == "centred":
        spans = [np.sort((panels.astype(int) - base) % K, axis=1)[:, -1] <= 2 for base in range(K)]
        assert np.any(spans, axis=0).all()  # at each position, some base lies 0 to 2 below all eight
    if scheme == "context":
        for number in range(200):
            own = own_contexts(batch, number)
            for choice in set(range(8)) - {int(right[number])}:
                assert all(symbol in seen for symbol, seen in zip(panels[number, choice], own, strict=True))
    if scheme == "uniform":
        wrong = panels[np.arange(8) != right[:, None]]
        assert np.abs(np.bincount(wrong.ravel()) / wrong.size - 1 / K).max() < 0.01


def test_floors_are_those_of_a_literal_count(drawn):
    _, batch, panels, right = drawn
    few = slice(0, 50)
    found = floors(batch.context[few], panels[few], right[few])
    assert set(found) == set(FLOORS)
    in_matrix, among = [], []
    for context, choices in zip(batch.context[few].tolist(), panels[few].tolist(), strict=True):
        shown = [symbol for panel in context for symbol in panel]
        in_matrix.append([sum(shown.count(symbol) for symbol in choice) for choice in choices])
        among.append(
            [sum(other[p] == choice[p] for other in choices for p in range(4)) for choice in choices]
        )
    for name, sums, best in [
        ("least frequent in the matrix", in_matrix, min),
        ("most frequent in the matrix", in_matrix, max),
        ("least frequent among the choices", among, min),
        ("most frequent among the choices", among, max),
    ]:
        scores = [
            (row[at] == best(row)) / row.count(best(row)) for row, at in zip(sums, right[few], strict=True)
        ]
        assert found[name].value == pytest.approx(sum(scores) / 50)


GIVEN_AWAY = {
    # scheme: least frequent in the matrix, the best of all
    "context": (0.39, 0.44),
    "uniform": (0.10, 0.16),
    "near": (0.143, 0.997),
    "centred": (0.11, 0.15),
}


def test_choices_give_away_what_is_documented(drawn):
    scheme, batch, panels, right = drawn
    found = floors(batch.context, panels, right)
    least, best = GIVEN_AWAY[scheme]
    assert found["least frequent in the matrix"].value == pytest.approx(least, abs=0.03)
    assert max(floor.value for floor in found.values()) == pytest.approx(best, abs=0.03)


def test_choices_are_the_same_in_any_company_and_differ_by_scheme(task):
    every, right = draw_choices(task, "ood", np.arange(30), "uniform")
    some, places = draw_choices(task, "ood", np.array([17, 3]), "uniform")
    assert (some == every[[17, 3]]).all() and (places == right[[17, 3]]).all()
    assert (draw_choices(task, "ood", np.arange(30), "context")[1] != right).any()


def test_too_few_wrong_panels_are_refused():
    task = SRAVEN(M=1, K=7, holdout=0, answers="unique")
    with pytest.raises(CapacityError, match="M=1, K=7 leaves too few wrong panels for 8 choices"):
        draw_choices(task, "test", np.arange(2), "uniform")


def test_questions_with_choices_are_asked_and_graded_by_letter(task):
    asked = ask(task, "ood", 12, "untold", shots=1, choices="centred")
    question = asked.id_of(3)
    assert question == "v1_M4-K8-unique_h25_s0_ood-12_untold-1_centred_3"
    assert find_question(question) == (asked, 3)
    panels, right = draw_choices(task, "ood", np.arange(12), "centred")
    blocks = asked.prompts([3])[0].split("\n\n")
    listed = [line for line in blocks[-1].split("\n") if line[1:2] == ":"]
    wanted = [f"{'ABCDEFGH'[at]}: {render_answer(panel)[8:]}" for at, panel in enumerate(panels[3])]
    assert listed == wanted and blocks[-2].split("\n")[-1].startswith("Answer: ")
    answers = asked.answers(range(12))
    assert answers[3] == f"Answer: {'ABCDEFGH'[right[3]]}"
    replies = [*answers[:4], *["Answer: A"] * 4, "Answer: I", None, "Answer: [1 2 3 4]", "A"]
    grades = asked.grade(range(12), replies)
    assert grades.parsed.tolist() == [True] * 8 + [False] * 4
    assert grades.target.tolist() == [True] * 4 + (right[4:8] == 0).tolist() + [False] * 4
    assert (grades.valid == grades.target).all() and (grades.panels[4:8] == panels[4:8, 0]).all()
    assert asked.chance == 1 / 8 and asked.ceiling() is None and set(asked.floors()) == set(FLOORS)


def test_examples_with_choices_show_their_right_letter(task):
    asked = ask(task, "ood", 3, shots=2, choices="uniform")
    right = draw_choices(task, "train", asked.shown([2]), "uniform")[1]
    blocks = asked.prompts([2])[0].split("\n\n")[-3:-1]
    assert [block[-1] for block in blocks] == ["ABCDEFGH"[choice] for choice in right]
    assert asked.ceiling().value == 1


PINNED = {
    "context": "8e799e2a1012b7ac",
    "uniform": "2f49753761ccb323",
    "near": "ca594e12d1ffecdf",
    "centred": "40ceab82af310d33",
}


@pytest.mark.parametrize("scheme", PINNED)
def test_choices_never_change(task, scheme):
    # Scores of older completions would mean something else: another way to draw is another scheme.
    assert ask(task, "ood", 50, choices=scheme).digests()["prompts"][:16] == PINNED[scheme]


# The page on which a person answers


SETS = (
    Questions(SRAVEN(M=1, K=7, holdout=0, answers="unique"), "test", 5),
    Questions(SRAVEN(M=3, K=11, answers="unique"), "ood", 7, "untold"),
)
PRACTICE = Questions(SRAVEN(M=3, K=5), "train", 12)


def facts_of(html):
    [(attributes, _)] = Page(html).find("main")
    return json.loads(attributes["data-play"])


def test_contexts_go_in_and_targets_do_not():
    html = make_play(SETS, "two sets")
    facts = facts_of(html)
    assert set(facts) == {"title", "digest", "practice", "order", "sets"}
    assert list(b64decode(facts["order"])) == [0] * 5 + [1] * 7
    for found, questions in zip(facts["sets"], SETS, strict=True):
        batch = questions.take(range(questions.count))
        assert set(found) == {"name", "M", "K", "explained", "round", "contexts"}
        assert found["name"] == questions.name and found["round"] == (questions.form == "told")
        assert found["explained"] in questions.prompts([0])[0]
        assert b64decode(found["contexts"]) == batch.context.tobytes()
        for panel in batch.target[batch.target.max(axis=1) > 0] if questions.task.M > 1 else ():
            listed = panel.tolist()
            for text in (render_answer(panel), " ".join(map(str, listed)), json.dumps(listed)[1:-1]):
                assert text not in html and text.replace(" ", "") not in html.replace(found["contexts"], "")


def test_all_else_says_nothing_of_the_questions():
    """Whatever the instances are, the rest of the page is the same."""
    rests = []
    for seed in (3, 4):
        questions = replace(SETS[1], task=replace(SETS[1].task, seed=seed))
        html = make_play([questions], "a set")
        facts = facts_of(html)
        for part in (facts["sets"][0]["contexts"], facts["digest"], questions.name):
            assert html.count(part) == 1
            html = html.replace(part, "")
        rests.append(html)
    assert rests[0] == rests[1]


def test_page_asks_no_host_for_anything():
    html = make_play(SETS, "two sets")
    page = Page(html)
    fetching = ("src", "srcset", "action", "data", "poster", "ping", "style")
    for tag, attributes in page.elements:
        assert not [name for name in attributes if name in fetching or name.startswith("on")], attributes
        assert "href" not in attributes or attributes["href"].startswith("data:image/svg+xml,")
        assert tag != "a"
    assert set(re.findall(r"https?://[^\s\"'<>]+", html)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"url\(|@import|@font-face", page.find("style")[0][1])
    [(policy, _)] = page.find("meta", http_equiv="Content-Security-Policy")
    assert policy["content"].startswith("default-src 'none'; ") and "unsafe" not in policy["content"]


def test_questions_stand_in_the_order_that_is_wanted():
    def in_turn(parts):
        return (each for row in zip_longest(*parts) for each in row if each is not None)

    found = facts_of(make_play(SETS, "mixed", in_order=in_turn))
    assert list(b64decode(found["order"])) == [0, 1] * 5 + [1, 1]
    assert found["digest"] != facts_of(make_play(SETS, "in order"))["digest"]
    assert found["sets"] == facts_of(make_play(SETS, "in order"))["sets"]


def test_practice_has_the_answers_and_the_rules_behind_them():
    [found] = facts_of(make_play([PRACTICE], "practice", practice=True))["sets"]
    task, batch = PRACTICE.task, PRACTICE.take(range(PRACTICE.count))
    for row, solution in enumerate(found["solutions"]):
        assert solution["target"] == batch.target[row].tolist()
        assert solution["answers"] == list_answers(batch.context[row], task.K).tolist()
        panels = np.concatenate([batch.context[row], batch.target[row][None]]).reshape(3, 3, task.M)
        for feature, told in enumerate(solution["features"]):
            rule = task.rules[batch.rules[row, feature]]
            assert (told["rule"], told["row"]) == (rule.name, rule.row)
            # Where the page says that the feature stands, there stands what it says of its rows.
            shown = [[panels[at, column, told["places"][column]] for column in range(3)] for at in range(3)]
            assert shown == told["rows"]
            assert rule.fits(*np.array(shown, np.int64).T[:, :, None], task.K).all()
    several = [len(solution["answers"]) for solution in found["solutions"]]
    assert max(several) > 1 == min(several)


@pytest.mark.parametrize(
    ("sets", "practice", "message"),
    [
        (SETS, True, "is of test; practice shows answers, so it takes train alone"),
        ([replace(SETS[0], shots=2)], False, "has choices or solved examples"),
        ([ask(SETS[1].task, "ood", 5, choices="uniform")], False, "has choices or solved examples"),
        ([replace(SETS[1], count=MOST_PUZZLES + 1)], False, "expected 1 to 32,768 for a page"),
        ([], False, "there are 0 questions"),
    ],
)
def test_what_a_page_cannot_ask_is_refused(sets, practice, message):
    assert_refused(message, make_play, sets, "sets", practice)


def test_page_is_the_same_each_time():
    assert make_play(SETS, "sets") == make_play(SETS, "sets", in_order=chain.from_iterable)
