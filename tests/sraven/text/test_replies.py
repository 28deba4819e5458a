"""Strict reading of replies, against an oracle in plain Python that reads the last line another way."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sraven.text import parse
from sraven.text.replies import answer_pattern, parse_letter

PANEL = (3, 6, 2, 0)


def read_plainly(reply, M, K):
    """Read the last line without a pattern: cut it up and look at each word."""
    while reply and reply[-1] in " \t\r\n":
        reply = reply[:-1]
    line = reply.split("\n")[-1]
    while line and line[0] in " \t":
        line = line[1:]
    for before, middle, after in (("**Answer:", "", "**"), ("**Answer:", "**", ""), ("Answer:", "", "")):
        if line.startswith(before + middle) and line.endswith(after):
            inside = line[len(before + middle) : len(line) - len(after)].strip(" ")
            words = inside[1:-1].split(" ")
            numbers = [word for word in words if word]
            known = {str(symbol): symbol for symbol in range(K)}
            if inside[:1] == "[" and inside[-1:] == "]" and len(inside) > 2 and set(numbers) <= set(known):
                return tuple(known[word] for word in numbers) if len(numbers) == M else None
    return None


@pytest.mark.parametrize(
    "reply",
    [
        *("Answer: [3 6 2 0]", "Answer: [3 6 2 0]\n", "Answer:[ 3  6 2 0 ] \t\r\n\n"),
        *("  \tAnswer: [3 6 2 0]", "**Answer: [3 6 2 0]**", "**Answer:** [3 6 2 0]"),
        *("Row 3 adds.\r\nAnswer: [3 6 2 0]\r\n", "Answer: [0 0 0 0]\nNo, wait.\nAnswer: [3 6 2 0]"),
    ],
)
def test_these_answer(reply):
    assert parse(reply, 4, 8) == PANEL == read_plainly(reply, 4, 8)


@pytest.mark.parametrize(
    "reply",
    [
        *("", "Answer:", "Answer: 3 6 2 0", "Answer: [3, 6, 2, 0]", "Answer: [3 6 2 -0]"),
        *("Answer: [3 6 2 00]", "answer: [3 6 2 0]", "Answer: [3 6 2 0]\nI hope that this helps."),
        *("Answer: [٣ ٦ ٢ ٠]", "Answer: [3 6 2 0]\u00a0", "\u202eAnswer: [3 6 2 0]"),
        *("x\u2028Answer: [3 6 2 0]", "Answer: [" + "9" * 10_000 + " 6 2 0]", None, b"Answer: [3 6 2 0]"),
    ],
)
def test_these_do_not(reply):
    assert parse(reply, 4, 8) is None


def test_symbols_of_several_digits():
    assert parse("Answer: [10 15 0 255]", 4, 256) == (10, 15, 0, 255)
    assert parse("Answer: [1 0 15 0]", 3, 256) is None
    assert parse("Answer: [256]", 1, 256) is None


pieces = st.sampled_from(
    [
        *"0123456789[]* \t\r\n",
        *("Answer:", "Answer: [", "**", "\n", "**Answer:", "] ", "٣", "\u2028", "10", "07"),
    ]
)
replies = st.lists(pieces, max_size=24).map("".join) | st.text(st.characters(codec=None), max_size=60)


@given(replies, st.integers(1, 4), st.integers(3, 12))
@example("Answer: [1 2]", 2, 3)
def test_any_text_is_read_as_the_oracle_reads_it(reply, M, K):
    assert parse(reply, M, K) == read_plainly(reply, M, K)


def search(reply, letters=False):
    """Return what a program finds by the pattern alone, as inspect-ai's scorer does; None for nothing."""
    found = re.search(answer_pattern(letters), reply)
    return next((group for group in found.groups() if group is not None), None) if found else None


@given(replies, st.integers(1, 4), st.integers(3, 12))
@example("Answer: [1 2]", 2, 3)
@example("Answer: [1  2]", 2, 3)
@example("Answer: B", 2, 3)
def test_the_pattern_finds_what_is_parsed(reply, M, K):
    panel, content = parse(reply, M, K), search(reply)
    numbers = tuple(map(int, (content or "").split()))
    assert panel == (numbers if len(numbers) == M and max(numbers) < K else None)
    if panel is not None:  # the one thing that a comparison with the target says otherwise
        assert (content == " ".join(map(str, panel))) == ("  " not in content)
    letter = parse_letter(reply, 26)
    assert search(reply, letters=True) == (None if letter is None else chr(ord("A") + letter))


@given(st.lists(st.integers(0, 7), min_size=4, max_size=4), st.data())
def test_an_answer_that_is_changed_is_never_the_same_but_for_blanks_and_stars(panel, data):
    reply = f"Answer: {str(panel).replace(',', '')}"
    at = data.draw(st.integers(0, len(reply)))
    put = data.draw(st.characters(codec=None))
    changed = reply[:at] + put + reply[at + data.draw(st.booleans()) :]
    found = parse(changed, 4, 8)
    assert found == read_plainly(changed, 4, 8)
    if found == tuple(panel) and changed != reply:
        assert put in " \t\r\n" or changed == reply


@pytest.mark.parametrize(
    "piece", [" ", "Answer: [", "Answer:\n", "0 ", "*", "\n", "**Answer:**", "Answer: [0 "]
)
def test_long_replies_take_no_longer_than_they_are(piece):
    # What took the square of their length would take hours.
    reply = piece * 100_000
    for whole in (reply, f"Answer: [{reply}", f"Answer: [0{reply}]", f"{reply}x"):
        assert parse(whole, 4, 8) is None
        assert len((search(whole) or "").split()) != 4 and search(whole, letters=True) is None


def test_letters():
    assert parse_letter("Answer: A", 8) == 0
    assert parse_letter("So it is C.\n**Answer: H**\n", 8) == 7
    assert parse_letter("**Answer:** B", 8) == 1
    for reply in ("Answer: I", "Answer: a", "Answer: [A]", "Answer: AB", "A", "Answer: \uff21", None):
        assert parse_letter(reply, 8) is None


@given(replies)
def test_no_text_is_both_a_panel_and_a_letter(reply):
    assert parse_letter(reply, 8) is None or parse(reply, 1, 256) is None
