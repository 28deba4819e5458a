"""eval.yaml, read and run by inspect-ai: its scorer says of replies what ours says."""

import pytest

from helpers.harnesses import needs, run_program
from sraven.text import LADDER, Choosing

needs("llm", "inspect_ai")
pytestmark = pytest.mark.long

RIGHT = [
    "Answer: RIGHT",
    "Answer:RIGHT",
    "Each row adds.\n\n  \tAnswer:   RIGHT \t\r\n\n",
    "**Answer: RIGHT**",
    "**Answer:** RIGHT",
    "Answer: [0 0]\nAnswer: H\nAnswer: RIGHT",
]
WRONG = [
    "",
    "RIGHT",
    "answer: RIGHT",
    "Answer: RIGHT.",
    "Answer: RIGHT\n\nIs that so?",
    "The Answer: RIGHT",
    "**Answer: RIGHT",
    "Answer:\nRIGHT",
    "Answer:\u00a0RIGHT",
    "Answer: RIGHT\u2028",
    "Answer: RIGHT RIGHT",
    "Answer: [9 9]",
    "Answer: Z",
]

COUNT = len(RIGHT + WRONG)


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hub-benchmark")
    return run_program("run_hub_benchmark.py", folder, RIGHT + WRONG, RIGHT + WRONG, str(folder / "logs"))


@pytest.mark.parametrize("track", ["panels", "letters"])
def test_the_scorer_of_inspect_says_what_ours_says(found, track):
    expected = [[reply, reply in RIGHT, reply in RIGHT] for reply in RIGHT + WRONG]
    assert found[track]["verdicts"] == expected
    assert found[track]["accuracy"] == len(RIGHT) / len(expected)


def test_all_sets_are_loaded_by_datasets(found):
    rows, sets = found["panels"]["loaded"], (LADDER[0].questions(count=3), LADDER[1].questions(count=COUNT))
    asked = [(questions, index) for questions in sets for index in range(questions.count)]
    assert len(rows) == len(asked)
    for row, (questions, index) in zip(rows, asked, strict=True):
        target = " ".join(map(str, questions.take([index]).target[0]))
        expected = {"id": questions.id_of(index), "split": questions.split, "index": index, "target": target}
        assert row == expected | {"prompt": questions.prompts([index])[0]}
    rows, questions = found["letters"]["loaded"], Choosing(LADDER[1].task, "ood", COUNT)
    assert [f"Answer: {row['target']}" for row in rows] == questions.answers(range(COUNT))
    for row in rows:
        panels = "\n".join(
            f"{letter}: {panel}" for letter, panel in zip("ABCDEFGH", row["choices"], strict=True)
        )
        assert row["prompt"].endswith(f"[?]\n{panels}")
