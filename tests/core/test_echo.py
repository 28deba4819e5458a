"""Nothing that is shown moves a cursor, turns a line, hides or goes on for ever."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sraven.core.echo import MOST, is_seen, shown


@pytest.mark.parametrize(
    ("value", "line"),
    [
        ("HYLA (ours)", "HYLA (ours)"),
        ("Müller, 注意", "Müller, 注意"),
        ("a\nb\x1b[2Jc", r"a\nb\x1b[2Jc"),
        ("user\u202egpj.exe", r"user\u202egpj.exe"),
        ("zero\u200bwidth\u2060", r"zero\u200bwidth\u2060"),
        ("blank\u3164\u2800", r"blank\u3164\u2800"),
        ("no\u00a0break", r"no\xa0break"),
        ("half\ud800", r"half\ud800"),
        ("tag\U000e0041", r"tag\U000e0041"),
        ("e\u0301\u0301\u0301", "e\u0301\u0301" + r"\u0301"),
        (["a\n"], r"['a\n']"),
        (None, "None"),
        (10**400, "a number of 1,329 bits"),
        ("a" * (MOST + 1_000), "a" * MOST + "… (1,000 more characters)"),
    ],
)
def test_what_is_shown(value, line):
    assert shown(value) == line


@given(st.text(st.characters(codec=None)), st.integers(1, 60))
def test_any_text_is_one_seen_line_of_bounded_length(text, most):
    line = shown(text, most)
    assert all(is_seen(character) or character == " " for character in line)
    assert len(line) <= 10 * most + 40
