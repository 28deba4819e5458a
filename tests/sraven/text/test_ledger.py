"""The file of outcomes: what it keeps, what it costs, and that nobody else writes to it."""

import json

import pytest

from sraven.core.errors import OutputError
from sraven.text.apis import Asking, Outcome, Reply
from sraven.text.completions import LONGEST_LINE, read_completions
from sraven.text.ledger import mend, open_ledger

ASKING = Asking("m")
IDS = [f"v1_M2-K7-unique_h25_s0_ood-10_told-0_{index}" for index in range(10)]


def reply(text="Answer: [1 2]", finish="stop", **usage):
    return Reply(text, finish, {"prompt_tokens": 100, "completion_tokens": 10, **usage}, "m-1", {})


def write(file, *outcomes, prices=None, budget=None, under_way=1):
    """Write replies to the questions in turn, None for one that fails; return the ledger, and why it ends."""
    with open_ledger(file, ASKING, prices) as (ledger, out):
        for question, each in zip(IDS, outcomes, strict=False):
            ledger.add(out, Outcome(question, each) if each else Outcome(question, None, "503"))
    return ledger, ledger.why_to_stop(budget, under_way)


@pytest.mark.parametrize(
    ("stated", "prices", "cost"),
    [
        ({}, None, None),
        ({"cost": 0.5}, None, 0.5),
        ({"cost": 0}, (1e4, 1e5), 2),  # what is stated doesn't overrule the prices
        ({"cost": 0.5}, (1e4, 1e5), 2),
        ({"cost": 5}, (1e4, 1e5), 5),
        *(({"cost": each}, None, None) for each in (0, -3, True, "1", None, 1e300, [1])),
        *(({"cost": each}, (1e4, 1e5), 2) for each in (-3, True, "1", 1e300)),
        ({"prompt_tokens": 0, "completion_tokens": 0}, (1e4, 1e5), None),
        ({"prompt_tokens": -100}, (1e4, 1e5), None),
        ({"prompt_tokens": True}, (1e4, 1e5), None),
    ],
)
def test_costs_are_the_greater_of_two_and_never_nothing(file, stated, prices, cost):
    ledger, why = write(file, reply(**stated), prices=prices, budget=100)
    assert json.loads(file.read_text()).get("cost") == cost
    assert ledger.spent == (cost or 0) and why.startswith("--budget needs costs") == (cost is None)


def test_what_says_no_cost_counts_as_the_others_and_failures_that_were_paid_for_count(file):
    _, why = write(file, reply(cost=1), reply(), reply(), budget=4, under_way=2)
    assert "budget of 4.00 US dollars is nearly spent" in why
    with open_ledger(file, ASKING) as (ledger, out):
        assert ledger.spent == 3 and not ledger.why_to_stop(4, 1)
        usage = {"usage": {"prompt_tokens": 1, "completion_tokens": 1, "cost": 1}}
        ledger.add(out, Outcome(IDS[5], None, "it has no text", False, {"raw": "{}", **usage}))
        assert ledger.spent == 4 and ledger.why_to_stop(4, 1) and not ledger.replies[IDS[5]]
    with open_ledger(file, ASKING) as (ledger, _):
        assert ledger.spent == 4 and sum(map(len, ledger.replies.values())) == 3
    assert json.loads(file.read_text().splitlines()[-1])["raw"] == "{}"


def test_a_file_is_one_process_at_a_time(file, tmp_path):
    with open_ledger(file, ASKING) as (ledger, out):
        other = tmp_path / "link.jsonl"
        other.symlink_to(file)
        for path in (file, other):
            with pytest.raises(OutputError, match="is being written by process"), open_ledger(path, ASKING):
                pass
        ledger.add(out, Outcome(IDS[0], reply()))
    assert [each.name for each in tmp_path.iterdir() if each.name.endswith("lock")] == []
    assert write(file)[0].replies[IDS[0]] == {0}


@pytest.mark.parametrize(
    ("end", "left"),
    [
        ('{"id": "3", "completion": ""}', '{"id": "3", "completion": ""}\n'),  # though it has no end
        ('{"id": "3", "compl', ""),
        ('{"i', ""),
        ("\0\0\0", ""),
        ('{"id": "3"\0\0', ""),
        ("my diary", "my diary"),
        ("7", "7"),
        ("{}\n", "{}\n"),
        ("", ""),
    ],
)
def test_only_what_can_not_be_read_is_cut_off(file, end, left):
    first = '{"id": "1", "completion": "x"}\n'
    file.write_text(first + end)
    mend(file)
    assert file.read_text() == first + left


def test_a_line_that_would_spoil_the_file_becomes_a_failure(file):
    ledger, _ = write(file, reply("\0" * (LONGEST_LINE // 6)), reply())
    assert ledger.failed == 1 and [each.text is None for each in read_completions(file)] == [True, False]


def test_causes_leave_out_what_differs_and_a_packed_file_is_not_added_to(file):
    with open_ledger(file, ASKING) as (ledger, out):
        for n in range(3):
            why = f"402 no credit, request req_0a1b2c3d4e5f{n}0 ({n + 2} tries)"
            ledger.add(out, Outcome(IDS[n], None, why))
    assert ledger.causes == {"402 no credit, request": 3}
    with pytest.raises(ValueError, match=r"leave \.gz out"), open_ledger(file.with_suffix(".gz"), ASKING):
        pass
