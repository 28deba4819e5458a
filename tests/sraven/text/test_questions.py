"""Sets of questions and the ladder made of them: names, prompts in any company, certificates, ceilings."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sraven import SRAVEN, ConfigurationError
from sraven.text import FORMS, LADDER, Questions, find_question
from sraven.text.questions import SHOTS_START

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
        *("", "17", "v1_M3-K7", 17, None, "\u0663", ID + "_0", ID + "\n", ID.replace("v1", "v2")),
        *(ID.replace(*change) for change in [("17", "20"), ("17", "017"), ("told", "spoken"), ("M3", "M0")]),
        *(
            ID.replace(*change)
            for change in [("h3", "h30"), ("ood", "tst"), ("ood-20", "ood-020"), ("K7", "K")]
        ),
        *(
            ID.replace(*change)
            for change in [("s5", "s" + "9" * 19), ("-20_", "-99999999_"), ("-2_", "-65_")]
        ),
    ],
)
def test_foreign_ids_are_refused(wrong):
    with pytest.raises(ConfigurationError, match="is no id that"):
        find_question(wrong)


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
    with pytest.raises(ConfigurationError, match=str(value)):
        Questions(**{**vars(questions), field: value})


# The ladder


def test_the_ladder_is_this():
    assert [(rung.M, rung.K) for rung in LADDER] == [
        *((M, 8) for M in (1, 2, 3, 4, 6, 8)),
        *((4, 10), (4, 16)),
    ]
    names = [rung.questions().name for rung in LADDER]
    assert names[0] == "v1_M1-K8-unique_h0_s0_test-2000_told-0"
    assert names[3] == "v1_M4-K8-unique_h25_s0_ood-2000_told-0"
    assert all(len(f"{name}_1999") <= 64 for name in names)  # what batches of requests allow


def test_ceilings_are_one_where_rules_are_told():
    for rung in LADDER:
        assert rung.questions(count=200).ceiling().value == pytest.approx(1)
        assert rung.questions("untold").ceiling() is None
