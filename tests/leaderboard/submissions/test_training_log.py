"""Training logs: what is one, and the line in which another file isn't."""

import json

import pytest
from hypothesis import given, strategies as st

from sraven import SubmissionError
from sraven.leaderboard.submissions.training_log import MOST_BYTES, MOST_LINES, check_log

FIRST = b'{"step": 3, "loss": 2.5}\n'

EXPECTED = "; expected a JSON object of finite numbers, with 'step' and 'loss'"


def refusal(data):
    """Return the message with which something is refused; it has to be one short line."""
    with pytest.raises(SubmissionError) as error:
        check_log(data, "x.jsonl")
    message = str(error.value)
    assert message.startswith("x.jsonl: ") and message.isprintable() and len(message) < 250
    return message.removeprefix("x.jsonl: ")


@pytest.mark.parametrize(
    "data",
    [
        b'{"step": 0, "loss": 1}',
        FIRST,
        FIRST + b'{"loss": -2e-3, "step": 4, "seconds": 1.5, "tokens": 130000000000}\n',
        b'{"step": 9223372036854775807, "loss": 1e300}\r\n',
        b'{"step": 1, "loss": 2, "\\u0000": 3}',
    ],
)
def test_logs_are_accepted(data):
    check_log(data, "x.jsonl")


@given(
    st.sets(st.integers(0, 2**53), min_size=1, max_size=20),
    st.dictionaries(st.text(max_size=5), st.floats(-1e300, 1e300)),
    st.booleans(),
)
def test_what_json_writes_is_accepted(steps, values, ends):
    lines = [json.dumps({**values, "step": step, "loss": 1 / (step + 1)}) for step in sorted(steps)]
    check_log("\n".join(lines).encode() + b"\n" * ends, "x.jsonl")


WRONG = (b"", b"null", b"[3, 2.5]", b"{}", b"# a comment", b"\x1b[31mred", "{}".encode("utf-16"), b"\xff{}")
VALUES = ("NaN", "-Infinity", "1e999", "1e301", "null", '"2"', "true", "[]", "[" * 9999, '2, "loss": 2')


@pytest.mark.parametrize("line", [*WRONG, *(f'{{"step": 4, "loss": {each}}}'.encode() for each in VALUES)])
def test_line_that_is_none_is_refused_with_its_number(line):
    found = refusal(FIRST + line + b"\n")
    assert found.startswith("line 2 is ") and found.endswith(EXPECTED)


@pytest.mark.parametrize(
    ("step", "shown"),
    [("3", "3"), ("2", "2"), ("-1", "-1"), ("3.5", "3.5"), ("4.0", "4.0"), ("1e3", "1000.0")],
)
def test_steps_ascend(step, shown):
    assert refusal(FIRST + f'{{"step": {step}, "loss": 2}}'.encode()) == (
        f"line 2 has step {shown}; expected an integer of 4 or more, as steps ascend"
    )


def test_log_has_lines_but_not_too_many():
    assert refusal(b"") == "has 0 lines; expected 1 to 100,000"
    most = b"".join(b'{"step":%d,"loss":1}\n' % step for step in range(MOST_LINES))
    check_log(most, "x.jsonl")
    assert refusal(most + b'{"step":100000,"loss":1}\n') == "has 100,001 lines; expected 1 to 100,000"


def test_log_is_not_too_large():
    pad = b'{"step": 3, "loss": 2.5%s}' % (b" " * (MOST_BYTES - 24))
    assert len(pad) == MOST_BYTES
    check_log(pad, "x.jsonl")
    assert refusal(pad + b"\n") == "has 4,194,305 bytes; expected 4,194,304 or fewer"
