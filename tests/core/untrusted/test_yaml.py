"""Untrusted YAML: read as JSON would be, or refused in one line."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fuzz.text_targets import DESCRIPTION
from helpers.untrusted import refusal
from sraven import SubmissionError
from sraven.core.untrusted.read import parse_yaml
from sraven.core.untrusted.schemas import find_problem


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: 1\nb: [x, 'y', \"z\"]\nc: {d: null}\n", {"a": 1, "b": ["x", "y", "z"], "c": {"d": None}}),
        ("- true\n- false\n- ~\n-\n- -3\n- 0.5\n", [True, False, None, None, -3, 0.5]),
        ("a: 2026-11-21\nb: 2026-11-21T10:00:00Z\n", {"a": "2026-11-21", "b": "2026-11-21T10:00:00Z"}),
        ("'<<': x\n", {"<<": "x"}),
        ("a: |\n  two\n  lines\n", {"a": "two\nlines\n"}),
        ("a: é ∞ 中 😀\n", {"a": "é ∞ 中 😀"}),
        ("---\na: 1\n...\n", {"a": 1}),
        ("a: 900719925474099300\n", {"a": 900_719_925_474_099_300}),
        ("a: 9223372036854775807\n", {"a": 2**63 - 1}),
        ("", None),
    ],
)
def test_plain_yaml_is_read(text, value):
    assert parse_yaml(text.encode(), "x.yaml") == value


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"a: !!python/object/apply:os.system ['true']", "line 1: has the tag 'tag:yaml.org,2002:python/obj"),
        (b"a: 1\nb: !!python/name:os.system x", "line 2: has the tag"),
        (b"!!str x", "line 1: has the tag 'tag:yaml.org,2002:str'; tags aren't allowed"),
        (b"! x", "has the tag '!'"),
        (b"%TAG ! tag:x,2000:\n---\n!a b", "has the tag 'tag:x,2000:a'"),
        (b"a: &a [1]\nb: *a\n", "line 1: has an anchor or alias; write the value out"),
        (b"a: *b\n", "has an anchor or alias"),
        (b"a: &a\nb: [*a, *a]\n", "has an anchor or alias"),
        (b"a: 1\nb: 2\na: 3\n", "line 3: has 'a' twice"),
        (b"x: {a: 1, 'a': 2}\n", "line 1: has 'a' twice"),
        (b"a: 1\n---\nb: 2\n", "line 2: begins a second document; expected one"),
        (b"[" * 21 + b"]" * 21, "line 1: is nested deeper than 20"),
        (b"- " * 100_000, "is nested deeper than 20"),
        (b"{a: " * 50_000, "is nested deeper than 20"),
        (b"- a\n" * 30_000, "has more than 20,000 names and values"),
        (b"[" + b"1," * 30_000 + b"]", "has more than 20,000 names and values"),
        (b"1: x\n", "line 1: has a name that is no text; put it in quotes"),
        (b"? [a]\n: x\n", "has a name that is no text"),
        (b"null: x\n", "has a name that is no text"),
        (b"a: [1\n", "isn't YAML in UTF-8"),
        (b"a: b: c\n", "line 1: isn't YAML in UTF-8 (mapping values are not allowed here)"),
        (b"\ta: 1\n", "isn't YAML in UTF-8"),
        (b"a: \xff\n", "isn't YAML in UTF-8"),
        ("a: 1\n".encode("utf-16"), "isn't YAML in UTF-8"),
        (b"a: \x00\n", "isn't YAML in UTF-8"),
        (b"a: \x1b[31m\n", "isn't YAML in UTF-8"),
        (b'a: "\\UFFFFFFFF"\n', "isn't YAML in UTF-8"),
        (b'a: "\\U00110000"\n', "isn't YAML in UTF-8"),
    ],
)
def test_yaml_beyond_json_is_refused(data, message):
    found = refusal(parse_yaml, data, "x.yaml")
    assert found.startswith("x.yaml: ") and message in found


PLACES = ("schema: 1", "parameters: 1000", "seconds: 1.5", "seed: 0", "accuracy: 0.5")


STRANGE = [
    *("1" + ":00" * 200 + ".5", "1" + ":59" * 2_000, "9" * 6_000, "0x" + "F" * 6_000, "0" + "7" * 6_000),
    *("0b" + "1" * 20_000, "1" * 6_000 + ".5", "1e999", "-1e999", ".inf", "-.inf", ".nan", "0b_", "="),
]


@pytest.mark.parametrize("number", STRANGE)
@pytest.mark.parametrize("place", PLACES)
def test_strange_numbers_are_refused_in_one_line(number, place):
    text = DESCRIPTION.decode().replace(place, f"{place.split()[0]} {number}")
    try:
        problem = find_problem(parse_yaml(text.encode(), "x.yaml"), "submission")
    except SubmissionError as error:
        problem = str(error)
    if problem is None:  # an infinite claim is a number, and differs from what is scored
        assert (place, number.strip("-")) == ("accuracy: 0.5", "1e999")
    else:
        assert problem.isprintable() and len(problem) < 300
        assert "lacks" not in problem


MARKS = ["- ", "\n", "  ", "? ", *"[]{}'\"#\t\ufeff", ", ", "|\n", "---\n", "...\n"]
PIECES = ["a", "b: ", "&a ", "*a", "!!int ", "! ", "%YAML 1.1\n", "<<: ", "=", "é", "~", "\\U0011FFFF"]
NUMBERS = ["0x1F", "1:20:30.5", "1e5", ".nan", "0" * 30]
LINES = ["schema: 1\n", "board: x\n", "runs: [{seed: 0.0}]\n", "claimed: {a: {b: 1}}\n"]
TOKENS = st.sampled_from([*MARKS, *PIECES, *NUMBERS, *LINES])


@given(st.one_of(st.lists(TOKENS, max_size=40).map("".join).map(str.encode), st.binary(max_size=60)))
@example(b"\xef\xbb\xbf")
@example(b"%YAML 3.0\n--- x")
@example(b"'\n---\n'")
def test_only_refusals_leave_the_reader_of_descriptions(data):
    try:
        problem = find_problem(parse_yaml(data, "x.yaml"), "submission")
    except SubmissionError as error:
        problem = str(error)
    assert problem is not None and problem.isprintable() and len(problem) < 500


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**17), 10**17)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S", "Zs"]), max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text("abc-.:#", max_size=5), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(JSON)
def test_json_means_the_same_as_yaml(value):
    assert parse_yaml(json.dumps(value, ensure_ascii=False).encode(), "x.yaml") == value
