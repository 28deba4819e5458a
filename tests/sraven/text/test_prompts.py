"""Prompts: their words, their puzzles, their examples."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sraven import RULES, SRAVEN, ConfigurationError, text
from sraven.rules import Rule
from sraven.task import Batch

TOLD = """\
A matrix has three rows of three panels, and its last panel [?] is missing. A panel is a list of 2 features, \
each an integer from 0 to 10. All arithmetic is modulo 11.

Each feature follows one rule from panel to panel of a row, the same in all three rows; features may share a \
rule. The rules, for any x and y:
- constant: x, x, x
- progression +1: x, x+1, x+2
- progression +2: x, x+2, x+4
- progression -1: x, x-1, x-2
- progression -2: x, x-2, x-4
- addition: x, y, x+y
- subtraction: x, y, x-y
- distribute three: three distinct symbols, in an order of its own in each row; the same three symbols \
in all rows

Each column shows the features in an order of its own, which is the same in its three panels. So a feature \
may stand at other positions in other columns.
All multisets of rules are equally probable, and all else is drawn uniformly.

End your reply with one line like this, each d an integer, and nothing behind it:
Answer: [d d]

[0 1] [1 1] [2 1]
[10 0] [0 0] [1 0]
[3 7] [4 7] [?]"""

UNTOLD = """\
Which panel completes the matrix, in place of [?]?

End your reply with one line like this, each d an integer, and nothing behind it:
Answer: [d d]
A solved example comes first.

[0 1] [1 1] [2 1]
[10 0] [0 0] [1 0]
[3 7] [4 7] [?]
Answer: [5 7]

[0 1] [1 1] [2 1]
[10 0] [0 0] [1 0]
[3 7] [4 7] [?]"""


TOLD_2 = """\
A matrix has three rows of three panels. Its last panel, [?], is missing. A panel is a list of two features, \
each an integer from 0 to 10. All arithmetic is modulo 11.

Each feature follows one rule. The rule says which numbers the feature has in the three panels of a row, and \
it is the same in all three rows. Several features may follow the same rule. These are the rules, for any \
numbers x and y, which may differ from row to row:
- constant: x, x, x
- progression +1: x, x+1, x+2
- progression +2: x, x+2, x+4
- progression -1: x, x-1, x-2
- progression -2: x, x-2, x-4
- addition: x, y, x+y
- subtraction: x, y, x-y
- distribute three: three different numbers, the same three in every row; their order may differ from \
row to row

The three panels of a column list the features in the same order. Different columns may list them in \
different orders.
Every multiset of rules is equally likely. Everything else is drawn uniformly at random.

Which panel of the matrix belongs in place of [?]?

End your reply with a line of this form, where each d is an integer, and write nothing after it:
Answer: [d d]

[0 1] [1 1] [2 1]
[10 0] [0 0] [1 0]
[3 7] [4 7] [?]"""

UNTOLD_2 = """\
Which panel of the matrix belongs in place of [?]?

End your reply with a line of this form, where each d is an integer, and write nothing after it:
Answer: [d d]
One solved example comes first.

[0 1] [1 1] [2 1]
[10 0] [0 0] [1 0]
[3 7] [4 7] [?]
Answer: [5 7]

[0 1] [1 1] [2 1]
[10 0] [0 0] [1 0]
[3 7] [4 7] [?]"""


def batch_of(contexts, targets):
    none = np.zeros((len(contexts), 0))
    return Batch(np.array(contexts, np.uint8), np.array(targets, np.uint8), none, none, none)


@pytest.fixture(scope="module")
def by_hand():
    """Progression +1 and constant at K=11, in the same order in all columns."""
    context = [[0, 1], [1, 1], [2, 1], [10, 0], [0, 0], [1, 0], [3, 7], [4, 7]]
    return batch_of([context], [[5, 7]])


def test_prompts_are_these_words(by_hand):
    # A change of words is another form: the board's prompts are pinned by digest.
    assert text.render(by_hand, 11) == [TOLD]
    assert text.render(by_hand, 11, "untold", shots=by_hand) == [UNTOLD]
    assert text.render(by_hand, 11, "told2") == [TOLD_2]
    assert text.render(by_hand, 11, "untold2", shots=by_hand) == [UNTOLD_2]


@pytest.mark.parametrize(("shots", "said"), [(4, "Four"), (12, "Twelve"), (13, "13")])
def test_small_numbers_are_words(by_hand, shots, said):
    examples = SRAVEN(M=2, K=11).sample("train", 0, shots)
    [prompt] = text.render(by_hand, 11, "untold2", shots=examples)
    assert f"\n{said} solved examples come first.\n" in prompt


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


def test_no_questions_give_no_prompts():
    task = SRAVEN(M=3, K=7, holdout=0.3)
    assert text.render(task.sample("ood", 0, 0), 7) == []
