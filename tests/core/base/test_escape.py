"""Nothing that is shown moves a cursor, turns a line, hides or goes on for ever."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sraven.core.base.escape import MOST, MOST_MARKS, escape, figure, is_mark, is_seen, one_line, quoted

NESTED = []
for _ in range(5_000):
    NESTED = [NESTED]


class Unnamed:
    """An object that fails when it is asked for its name."""

    def __repr__(self):
        raise RuntimeError("no name")


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
        ("select\ufe0f\U000e0100", r"select\ufe0f\U000e0100"),
        ("e" + "\u0301" * (MOST_MARKS + 1), "e" + "\u0301" * MOST_MARKS + r"\u0301"),
        (["a\n"], r"['a\n']"),
        ({"a": [1, None, True, 0.5], "b": ()}, "{'a': [1, None, True, 0.5], 'b': ()}"),
        ((1,), "(1,)"),
        (b"\x1b\xff", r"b'\x1b\xff'"),
        (None, "None"),
        (1e300, "1e+300"),
        ("a" * (MOST + 1_000), "a" * MOST + "… (1,000 more characters)"),
        ([0] * 10**6, "[" + "0, " * 33 + "…"),
        (["a" * 10**6], "['" + "a" * (MOST - 2) + "…"),
        (NESTED, "[" * 11 + "…" + "]" * 11),
        (Unnamed(), "<Unnamed>"),
        (10**400, "a number of 1,329 bits"),
        ([-(10**5_000)], "[a number of 16,610 bits]"),
    ],
)
def test_what_is_shown(value, line):
    assert escape(value) == line


def test_text_in_quotes_and_on_one_line():
    assert (quoted("a\x1b"), quoted(""), quoted(3)) == (r"'a\x1b'", "''", "3")
    assert one_line(" two\n lines\u2028and\tmore\u200b ") == r"two lines and more\u200b"


def test_nothing_of_a_giant_value_is_copied():
    class Long(list):
        """A list that tells how far it was read."""

        read = 0

        def __iter__(self):
            for value in range(10**12):
                self.read = value
                yield value

    long = Long([0, 1])
    assert len(escape(long)) == MOST + 1 and long.read <= MOST


TEXT = st.text(st.characters(codec=None))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner),
)


@given(TEXT | JSON, st.integers(1, 200))
def test_any_value_is_one_seen_line_of_bounded_length(value, most):
    line = escape(value, most)
    assert all(map(is_seen, line)) and len(line) <= most + 40


def test_whatever_unicode_calls_ignorable_is_unseen():
    ignorable = [0xAD, 0x34F, 0x61C, *range(0x115F, 0x1161), 0x17B4, 0x17B5, *range(0x180B, 0x1810)]
    ignorable += [*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070), 0x3164]
    ignorable += [*range(0xFE00, 0xFE10), 0xFEFF, 0xFFA0, *range(0xFFF0, 0xFFF9), *range(0x1BCA0, 0x1BCA4)]
    ignorable += [*range(0x1D173, 0x1D17B), *range(0xE0000, 0xE1000)]
    assert not [f"U+{point:04X}" for point in ignorable if is_seen(chr(point))]
    assert is_mark("\u0301") and not is_mark("e") and unicodedata.category("\u3164") == "Lo"


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.5, "0.5000"), (-12.34567, "-12.3457"), (1e300, "1e+300"), (-1e6, "-1e+06"), (1e-300, "0.0000")],
)
def test_figures_are_short(value, text):
    assert figure(value) == text
