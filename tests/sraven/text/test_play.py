"""The page on which a person answers: what is in it, and what isn't."""

import json
import re
from base64 import b64decode
from dataclasses import replace
from itertools import chain, zip_longest

import numpy as np
import pytest

from helpers.page import Page
from sraven import SRAVEN, ConfigurationError
from sraven.ambiguity import list_answers
from sraven.text import Questions, ask, render_answer
from sraven.text.play import MOST_PUZZLES, make_play

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
    with pytest.raises(ConfigurationError, match=message):
        make_play(sets, "sets", practice)


def test_page_is_the_same_each_time():
    assert make_play(SETS, "sets") == make_play(SETS, "sets", in_order=chain.from_iterable)
