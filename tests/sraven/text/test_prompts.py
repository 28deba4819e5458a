"""Prompts: their puzzles, their examples, and the words that depend on the setting."""

import re

import pytest
from hypothesis import given, strategies as st

from helpers.checkout import REPOSITORY
from helpers.refusals import assert_refused
from sraven import RULES, SRAVEN, ConfigurationError, text
from sraven.rules import Rule
from sraven.text import FORMS, Questions, find_question
from sraven.text.questions import SHOTS_START


def read_puzzle(lines):
    """Read the panels of three lines, in plain Python."""
    return [
        None if panel == "?" else [int(word) for word in panel.split(" ")]
        for line in lines
        for panel in line.removeprefix("[").removesuffix("]").split("] [")
    ]


@pytest.mark.parametrize("form", [name for name, form in text.FORMS.items() if form.is_usual])
@pytest.mark.parametrize(("M", "K", "shots"), [(3, 7, 1), (3, 7, 2), (12, 256, 5)])
def test_puzzles_read_back_as_their_panels_after_examples_of_their_own(form, M, K, shots):
    task = SRAVEN(M, K, holdout=0)
    asked, examples = task.sample("test", 0, 4), task.sample("train", 0, 4 * shots)
    for number, prompt in enumerate(text.render(asked, K, form, shots=examples)):
        *solved, puzzle = prompt.split("\n\n")[-1 - shots :]
        assert read_puzzle(puzzle.split("\n")) == [*asked.context[number].tolist(), None]
        for at, block in enumerate(solved, number * shots):
            *rows, answer = block.split("\n")
            assert read_puzzle(rows) == [*examples.context[at].tolist(), None]
            assert text.parse(answer, M, K) == tuple(examples.target[at].tolist())


def test_the_first_question_of_version_2_is_shown_as_it_is():
    [prompt] = Questions(SRAVEN(M=2, answers="unique"), "ood", 1, "told2").prompts([0])
    assert f"```text\n{prompt}\n```" in (REPOSITORY / "docs" / "text.md").read_text()


def test_the_rules_are_told_as_they_are_defined():
    ninth = Rule("maximum", "x, y, max(x, y)", lambda K: K**6, RULES[0].fits, RULES[0].draw)
    batch = SRAVEN(M=2, K=5).sample("ood", 0, 1)
    [prompt] = text.render(batch, 5, rules=(*RULES, ninth))
    listed = re.findall(r"^- (.*?): (.*?)(?:;.*)?$", prompt, re.MULTILINE)
    assert listed == [(rule.name, rule.row) for rule in (*RULES, ninth)]


def test_unpermuted_features_are_told_so():
    """What is said of a single one is pinned by boards."""
    batch = SRAVEN(M=2, K=5, permute=False).sample("ood", 0, 1)
    for form in ("told", "told2"):
        [prompt] = text.render(batch, 5, form, permute=False)
        assert "in the same order, that of their rules" in prompt and "column" not in prompt


@given(st.lists(st.integers(0, 255), min_size=1, max_size=12))
def test_every_answer_parses_back(panel):
    assert text.parse(text.render_answer(panel), len(panel), 256) == tuple(panel)
    assert text.parse(f"I think,\nso\n{text.render_answer(panel)}\n", len(panel), 256) == tuple(panel)


def test_what_cannot_be_rendered_is_refused(task):
    asked, shots = task.sample("ood", 0, 2), task.sample("train", 0, 3)
    assert_refused("form='spoken': ", text.render, asked, 7, "spoken")
    for some, said in ((asked, "2 questions; expected a multiple"), (asked[:0], "0 questions")):
        assert_refused(f"shots has 3 instances for {said}", text.render, some, 7, shots=shots)


# Sets of questions


ID = "v1_M3-K7-unique_h3_s5_ood-20_told-2_17"


@pytest.fixture(scope="module")
def questions():
    task = SRAVEN(M=3, K=7, holdout=0.3, seed=5, answers="unique")
    return Questions(task, "ood", 20, "told", 2)


def test_an_id_says_all(questions):
    assert questions.id_of(17) == ID
    assert find_question(ID) == (questions, 17)


@given(
    st.tuples(st.integers(1, 4), st.sampled_from([5, 8, 256])),
    st.sampled_from([0, 0.0, 0.05, 0.25, 0.7, 1e-05]),
    st.integers(0, (1 << 63) - 1),
    st.sampled_from(["any", "unique"]),
    st.booleans(),
    st.integers(1, 1 << 24),
    st.sampled_from(sorted(FORMS)),
    st.integers(0, 64),
)
def test_every_name_is_found_again(size, holdout, seed, answers, permute, count, form, shots):
    try:
        task = SRAVEN(*size, holdout, seed, answers, permute)
    except ConfigurationError:  # such as a holdout that no partition of so few combinations can have
        return
    asked = Questions(task, "test", count, form, shots)
    question = asked.id_of(count - 1)
    assert re.fullmatch("[A-Za-z0-9_-]+", question)
    assert find_question(question) == (asked, count - 1)


@pytest.mark.parametrize(
    "wrong",
    [
        *("", 17, "\u0663", ID + "_0", ID + "\n", ID.replace("v1", "v2"), ID.replace("17", "20")),
        *(ID.replace("17", "017"), ID.replace("told", "spoken"), ID.replace("h3", "h30")),
        *(ID.replace("s5", "s" + "9" * 19), ID.replace("-20_", "-99999999_"), ID.replace("-2_", "-65_")),
    ],
)
def test_foreign_ids_are_refused(wrong):
    assert_refused("is no id that", find_question, wrong)


def test_prompts_are_the_same_in_any_company(questions):
    every = questions.prompts(range(20))
    assert questions.prompts([17, 3]) == [every[17], every[3]]
    assert len(set(every)) == 20
    task = questions.task
    examples = task.sample("train", SHOTS_START + 34, 2)
    blocks = every[17].split("\n\n")
    assert [block.split("\n")[-1] for block in blocks[-3:-1]] == [
        f"Answer: [{' '.join(map(str, target))}]" for target in examples.target.tolist()
    ]


@pytest.mark.parametrize(
    ("field", "value"), [("split", "all"), ("count", 0), ("form", "spoken"), ("shots", 65), ("shots", -1)]
)
def test_sets_that_cannot_be_are_refused(questions, field, value):
    assert_refused(str(value), Questions, **{**vars(questions), field: value})
