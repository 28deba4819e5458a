"""Names that can be seen, addresses that lead where they say, values that are safe to show."""

import json
import re
import unicodedata
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, strategies as st

from helpers.refusals import assert_refused
from sraven.core.arguments import check_array, check_choice, check_integer, check_share
from sraven.core.escape import (
    MOST,
    MOST_MARKS,
    escape,
    figure,
    is_mark,
    is_seen,
    one_line,
    quoted,
    with_error,
)
from sraven.core.means import Mean
from sraven.files.jsonable import as_json
from sraven.files.names import host, name_fault, text_fault


@pytest.mark.parametrize(
    "name", ["HYLA (ours)", "Müller", "e\u0301", "注意", "β-VAE", "μP", "ड़ें", "한글", "?", " x ", "✓ 1e-3"]
)
def test_names_of_any_language_are_names(name):
    assert name_fault(name) is None


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("", "is blank"),
        ("  ", "is blank"),
        ("a\nb", "has U+000A, which can't be seen"),
        ("a\x1b[2J", "has U+001B, which can't be seen"),
        ("a\u202eb", "has U+202E (RIGHT-TO-LEFT OVERRIDE), which can't be seen"),
        ("a\u200b", "has U+200B (ZERO WIDTH SPACE), which can't be seen"),
        ("a\u00a0b", "has U+00A0 (NO-BREAK SPACE), which can't be seen"),
        ("\u2800", "has U+2800 (BRAILLE PATTERN BLANK), which can't be seen"),
        ("\u3164", "has U+3164 (HANGUL FILLER), which can't be seen"),
        ("a\ufe0f", "has U+FE0F (VARIATION SELECTOR-16), which can't be seen"),
        ("a\ud800", "has U+D800, which can't be seen"),
        ("\u0301a", "begins with a combining mark, which would sit on what stands before it"),
        ("a" + "\u0301" * 4, "has more than 3 combining marks in a row"),
    ],
)
def test_what_is_no_name(name, fault):
    assert name_fault(name) == fault


def test_text_has_lines_and_a_name_has_one():
    assert text_fault("a\n\tb") is None and text_fault("a\rb") is not None
    assert name_fault("a\tb") == "has U+0009, which can't be seen"


NOWHERE = [
    *("https://github.com@evil.example", "https://github.com:x@evil.example/", "https://github.com:443/"),
    *("https://github.com:@evil.example/", "https://github.com\\@evil.example"),
    *("https://github.com%2f@evil.example", "https://github%2ecom", "https://g\u0456thub.com"),
    *("https://github\u3002com", "https://github.com/\u202e", "https://example.org/a b"),
    *("https://example.org/\n", "https://example.org/'x", "https://example.org.", "https://-a.org"),
    *("https://a..org", "https://" + "a." * 200 + "org", "https://127.0.0.1/", "https://2130706433/"),
    *("https://0x7f.0x1/", "https://[::1]/", "https://localhost/", "https:///x", "https://", "//example.org"),
    *("HTTPS://example.org", "ftp://example.org", "javascript:https://example.org", "", None),
]


@pytest.mark.parametrize(
    ("address", "leads_to"),
    [
        ("https://example.org", "example.org"),
        ("http://GitHub.com/a/b?c=d#e", "github.com"),
        ("https://medium.com/@someone/x", "medium.com"),
        ("https://xn--e1afmkfd.xn--p1ai/", "xn--e1afmkfd.xn--p1ai"),
        ("https://a.b-c.org/%C3%A9", "a.b-c.org"),
        ("https://evil.example#@github.com", "evil.example"),
        *((address, None) for address in NOWHERE),
    ],
)
def test_address_leads_to_the_host_that_it_shows(address, leads_to):
    assert host(address) == leads_to


# Messages about wrong arguments, in full here; other tests look for values alone


@pytest.mark.parametrize(
    ("check", "arguments", "message"),
    [
        (check_integer, ("M", 0, 1, 1_200), "M=0: expected an integer from 1 to 1,200"),
        (check_integer, ("M", True, 1, 12, "use 1"), "M=True: expected an integer from 1 to 12; use 1"),
        (check_integer, ("M", 4.0, 1, 12), "M=4.0: expected an integer from 1 to 12"),
        (check_share, ("h", 1, "such as 0.25"), "h=1: expected a share from 0 to below 1, such as 0.25"),
        (check_share, ("h", -0.1, "or 0"), "h=-0.1: expected a share from 0 to below 1, or 0"),
        (check_share, ("h", "0.5", "or 0"), "h='0.5': expected a share from 0 to below 1, or 0"),
        (check_choice, ("form", "c", ("a", "b")), "form='c': expected one of 'a', 'b'"),
        (check_choice, ("form", ["a"], ("a", "b")), "form=['a']: expected one of 'a', 'b'"),
        (check_array, ("x", [[1], [2]], ("n", 3), "iu", "integers"), "x has shape [2, 1]; expected [n, 3]"),
        (check_array, ("x", [[1], [2, 3]], ("n",), "iu", "ints"), "x is ragged; expected an array of ints"),
        (check_array, ("x", [0.5], ("n",), "iu", "integers"), "x has dtype float64; expected integers"),
        (check_array, ("x", [1 << 64], (1,), "iu", "y"), "x has numbers beyond 64 bits; expected y that fit"),
    ],
)
def test_bad_argument_is_refused_by_its_value_and_what_is_allowed(check, arguments, message):
    assert_refused(f"^{re.escape(message)}$", check, *arguments)


def test_good_arguments_come_back_as_plain_values():
    number = check_integer("M", np.uint8(4), 1, 12)
    assert (number, type(number)) == (4, int)
    share = check_share("h", np.float32(0.5), "")
    assert (share, type(share)) == (0.5, float) and str(check_share("h", -0.0, "")) == "0.0"
    assert check_choice("form", "a", ("a", "b")) == "a"
    assert check_array("x", [], ("n",), "iu", "integers").shape == (0,)


# Nothing that is shown moves a cursor, turns a line, hides or goes on for ever


NESTED = []
for _ in range(5_000):
    NESTED = [NESTED]


@pytest.mark.parametrize(
    ("value", "line"),
    [
        ("Müller, 注意", "Müller, 注意"),
        ("a\nb\x1b[2Jc", r"a\nb\x1b[2Jc"),
        ("user\u202egpj.exe", r"user\u202egpj.exe"),
        ("blank\u3164\u2800", r"blank\u3164\u2800"),
        ("half\ud800", r"half\ud800"),
        ("select\ufe0f\U000e0100", r"select\ufe0f\U000e0100"),
        ("e" + "\u0301" * (MOST_MARKS + 1), "e" + "\u0301" * MOST_MARKS + r"\u0301"),
        ({"a": [1, None, True, 0.5], "b": ()}, "{'a': [1, None, True, 0.5], 'b': ()}"),
        ((1,), "(1,)"),
        (b"\x1b\xff", r"b'\x1b\xff'"),
        ("a" * (MOST + 1_000), "a" * MOST + "… (1,000 more characters)"),
        ([0] * 10**6, "[" + "0, " * 20 + "…]"),
        (["a" * 10**6], "['" + "a" * (MOST - 2) + "…"),
        (NESTED, "[[[[[…]]]]]"),
        (10**400, "a number of 1,329 bits"),
        ([-(10**5_000)], "[a number of 16,610 bits]"),
    ],
)
def test_what_is_shown(value, line):
    assert escape(value) == line


def test_text_in_quotes_and_on_one_line():
    assert (quoted("a\x1b"), quoted(""), quoted(3)) == (r"'a\x1b'", "''", "3")
    assert one_line(" two\n lines\u2028and\tmore\u200b ") == r"two lines and more\u200b"


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


# Values as JSON


@dataclass(frozen=True)
class Inner:
    value: float


@dataclass(frozen=True)
class Outer:
    parts: tuple[Inner, ...]
    by_name: dict[str, object]


def test_what_json_lacks_becomes_what_it_has():
    value = Outer((Inner(0.5), Inner(float("nan"))), {"a": (1, [float("-inf")]), "b": {"c": Inner(2)}})
    found = as_json(value)
    assert found == {
        "parts": [{"value": 0.5}, {"value": None}],
        "by_name": {"a": [1, [None]], "b": {"c": {"value": 2}}},
    }
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert as_json({"a": np.array([[0.5, np.nan]]), "b": [np.int64(3)]}) == {"a": [[0.5, None]], "b": [3]}


def test_what_json_has_stays():
    values = [None, True, 0, -1.5, "nan", [], {}]
    assert as_json(values) == values


def test_an_error_of_nothing_is_never_claimed():
    assert with_error(0.5, 0.01) == "0.5000 ± 0.0100" == str(Mean(0.5, 0.01, 9))
    assert with_error(0.5, 0.00001234) == "0.50000 ± 0.00001" == str(Mean(0.5, 0.00001234, 9))
    assert with_error(0.5, None) == "0.5000" and with_error(0.5, 0.0) == "0.5000 ± 0.0000"
    assert with_error(2e6, 3.0) == "2e+06 ± 3.0000"
