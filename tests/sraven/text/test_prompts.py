"""Prompts: their puzzles, their examples, and the words that depend on the setting."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sraven import RULES, SRAVEN, ConfigurationError, text
from sraven.rules import Rule


def read_puzzle(lines):
    """Read the panels of three lines, in plain Python."""
    return [
        None if panel == "?" else [int(word) for word in panel.split(" ")]
        for line in lines
        for panel in line.removeprefix("[").removesuffix("]").split("] [")
    ]


@pytest.mark.parametrize(("M", "K"), [(1, 8), (3, 7), (4, 16), (12, 256)])
def test_puzzles_read_back_as_their_panels(M, K):
    batch = SRAVEN(M, K, holdout=0).sample("test", 0, 5)
    for prompt, context in zip(text.render(batch, K), batch.context, strict=True):
        panels = read_puzzle(prompt.split("\n\n")[-1].split("\n"))
        assert panels == [*context.tolist(), None]


@pytest.mark.parametrize("form", [name for name, form in text.FORMS.items() if form.is_usual])
@pytest.mark.parametrize("shots", [1, 2, 5])
def test_each_question_has_examples_of_its_own(form, shots):
    task = SRAVEN(M=3, K=7, holdout=0.3, seed=5)
    asked, examples = task.sample("ood", 0, 4), task.sample("train", 0, 4 * shots)
    plain = text.render(asked, 7, form)
    for number, prompt in enumerate(text.render(asked, 7, form, shots=examples)):
        blocks = prompt.split("\n\n")[-1 - shots :]
        assert blocks[-1] == plain[number].split("\n\n")[-1]
        for at, block in enumerate(blocks[:-1]):
            *rows, answer = block.split("\n")
            example = examples[number * shots + at]
            assert read_puzzle(rows) == [*example["context"].tolist(), None]
            assert text.parse(answer, 3, 7) == tuple(example["target"].tolist())


def test_the_rules_are_told_as_they_are_defined():
    ninth = Rule("maximum", "x, y, max(x, y)", lambda K: K**6, RULES[0].fits, RULES[0].draw)
    batch = SRAVEN(M=2, K=5).sample("ood", 0, 1)
    [prompt] = text.render(batch, 5, rules=(*RULES, ninth))
    listed = re.findall(r"^- (.*?): (.*?)(?:;.*)?$", prompt, re.MULTILINE)
    assert listed == [(rule.name, rule.row) for rule in (*RULES, ninth)]


def test_unpermuted_and_single_features_are_told_so():
    batch = SRAVEN(M=2, K=5, permute=False).sample("ood", 0, 1)
    [prompt] = text.render(batch, 5, permute=False)
    assert "in the same order" in prompt and "order of its own, which" not in prompt
    single = SRAVEN(M=1, K=5, holdout=0).sample("test", 0, 1)
    for form, number in (("told", "1"), ("told2", "one")):
        [prompt] = text.render(batch, 5, form, permute=False)
        assert "in the same order, that of their rules" in prompt and "column" not in prompt
        [prompt] = text.render(single, 5, form)
        assert f"a list of {number} feature, an integer from 0 to 4." in prompt and "column" not in prompt


@given(st.lists(st.integers(0, 255), min_size=1, max_size=12))
def test_every_answer_parses_back(panel):
    assert text.parse(text.render_answer(panel), len(panel), 256) == tuple(panel)
    assert text.parse(f"I think,\nso\n{text.render_answer(panel)}\n", len(panel), 256) == tuple(panel)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"form": "spoken"}, "form='spoken': "),
        ({"K": 4}, "context contains"),
        ({"shots": 3}, "shots has 3 instances for 2 questions; expected a multiple"),
        ({"batch": 0, "shots": 2}, "shots has 2 instances for 0 questions"),
    ],
)
def test_what_cannot_be_rendered_is_refused(given, said):
    task = SRAVEN(M=3, K=7, holdout=0.3)
    given = {"K": 7, "form": "told", **given}
    if "shots" in given:
        given["shots"] = task.sample("train", 0, given["shots"])
    with pytest.raises(ConfigurationError, match=re.escape(said)):
        text.render(task.sample("ood", 0, given.pop("batch", 2)), **given)
