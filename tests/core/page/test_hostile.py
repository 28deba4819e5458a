"""Untrusted input stays text on the page, and every character of it is visible."""

import re
from dataclasses import replace

import pytest

from helpers.leaderboard_example import EVIL_ADDRESSES, EVIL_DESCRIPTION, EVIL_NAME, make_entry, make_hostile
from helpers.page import Page, page_of
from sraven.core.base.escape import is_seen
from sraven.core.boards.board import read_board
from sraven.core.leaderboard.filed import Fault
from sraven.core.leaderboard.standing import Standing
from sraven.core.page.legible import clean
from sraven.core.page.page import make_page, write_page


def test_hostile_texts_stay_text():
    page = page_of(make_hostile())
    tags = {tag for tag, _ in page.elements}
    assert not tags & {"img", "iframe", "object", "embed", "base", "form", "b"}
    assert len(page.find("script")) == len(page.find("style")) == 1
    for _, attributes in page.elements:
        assert not [name for name in attributes if name.startswith("on") or name == "style"]
    names = [text for _, text in page.find("bdi", class_="name")]
    count = len(EVIL_ADDRESSES)
    assert names[:count] == [f"{EVIL_NAME} {number}" for number in range(count)]
    assert page.text.count(EVIL_DESCRIPTION) == 2 * count + 2


def test_only_web_addresses_become_links():
    page = page_of(make_hostile())
    addresses = {link["href"] for link, _ in page.find("a")}
    [long] = [address for address in addresses if len(address) > 300]
    ours = {address for address in addresses - {long} if address.startswith(("#", "leaderboard."))}
    # Of the reported row, and of those with strange names.
    assert addresses - {long} - ours == {"https://example.org/paper", "http://example.org/code"}


@pytest.mark.parametrize("address", ["https://example.org/a?b=c#d", "http://example.org"])
def test_web_addresses_are_links_that_pass_nothing_on(address):
    page = page_of(Standing(read_board("sraven-v1"), (make_entry("a", 0.5, paper=address, code=None),)))
    [(link, text)] = [found for found in page.find("a") if found[0]["href"].startswith("http")]
    assert (link["href"], link["rel"], text) == (address, "noopener noreferrer nofollow external", "paper")
    assert link["referrerpolicy"] == "no-referrer"
    assert link["aria-label"] == "paper of a, at example.org"
    assert page.find("span", class_="host") == [({"class": "host"}, "example.org")]


def test_link_shows_the_end_of_a_long_host():
    address = "https://github.com.login.a-very-long-name.evil.example/github.com"
    page = page_of(Standing(read_board("sraven-v1"), (make_entry("a", 0.5, paper=None, code=address),)))
    [(_, shown)] = page.find("span", class_="host")
    assert shown == "…very-long-name.evil.example" and len(shown) == 28


def test_every_character_of_a_hostile_page_is_seen(tmp_path):
    path = write_page(tmp_path, [make_hostile()])
    page = Page(path.read_text(encoding="utf-8"))
    script, style = page.find("script")[0][1], page.find("style")[0][1]
    written = [text for text in page.texts if text not in (script, style)]
    written += [value for _, attributes in page.elements for value in attributes.values() if value]
    # The no-break space is ours: it keeps a number and its unit together.
    assert not {ascii(c) for text in written for c in text if not is_seen(c) and c not in "\n\u00a0"}
    marks = re.findall(r"[\u0300-\u036f\u0489]{4,}", "".join(written))
    assert marks == []
    names = [text for _, text in page.find("bdi", class_="name")]
    assert r"turned \u202eecivda\u202c" in names and r"\u3164\u2800" in names and r"half \ud800" in names


def test_names_that_look_like_others_are_told():
    page = page_of(make_hostile())
    remarks = [text for _, text in page.find("p", class_="remark") if text.startswith("Its name")]
    assert remarks.count("Its name looks like that of another entry.") == 3
    mixed = "Its name mixes Cyrillic and Latin letters in a word."
    assert remarks.count(mixed) == 1 and len(remarks) == 4


def test_numbers_of_any_size_take_few_letters():
    page = page_of(make_hostile())
    values = {text.partition("\u00a0")[0].split()[0] for _, text in page.find("span", class_="value")}
    assert {"1e+300", "−1e+300", "1.0"} <= values  # the last is × 10⁻³⁰⁰
    assert max(len(text) for tag in ("td", "text", "tspan") for _, text in page.find(tag)) < 60
    assert not [text for text in page.texts if re.search(r"\d{40}", text)]


def test_what_is_not_seen_or_cannot_be_encoded_is_escaped():
    assert clean("注意 − φ\tnaïve\n\u00a0\u202e") == "注意 − φ\tnaïve\n\u00a0\\u202e"
    assert [clean(text) for text in ("plain", "\x7f", "\ud800")] == ["plain", r"\x7f", r"\ud800"]


HOSTILE = (
    "<script>alert('x')</script></svg></style>\" onload='y' <!-- ]]> {{ 7919 * 7919 }} {% raw %} \u202e\ud800"
)
SEEN = HOSTILE.replace("\u202e", r"\u202e").replace("\ud800", r"\ud800")
FIELDS = ("id", "method", "family", "description", "remark", "paper", "code", "fingerprint", "date")


def shape(page):
    return [(tag, *attributes) for tag, attributes in page.elements]


@pytest.mark.parametrize("badge", ["scored", "reported"])
@pytest.mark.parametrize("field", FIELDS)
def test_a_hostile_text_in_each_field_is_text(field, badge):
    """The elements are those that a harmless text has, and the names of their attributes too."""
    entry = make_entry("a", 0.5, badge=badge, rank=1)
    board = read_board("sraven-v1")
    html = make_page([Standing(board, (replace(entry, **{field: HOSTILE}),))])
    page = Page(html)
    assert shape(page) == shape(page_of(Standing(board, (replace(entry, **{field: "x" * 100}),))))
    assert "<script>alert" not in html and "\u202e" not in html and html.encode()
    assert str(7919 * 7919) not in html
    values = [value for _, attributes in page.elements for value in attributes.values() if value]
    found = [text for text in (*page.texts, *values) if SEEN in text or SEEN.lower() in text]
    # An address like this is no link, and a paper's row has no fingerprint.
    assert not found if field in ("paper", "code") or (field, badge) == ("fingerprint", "reported") else found


def test_a_hostile_text_of_a_board_is_text():
    board = replace(read_board("sraven-v1"), title=HOSTILE)
    page = page_of(Standing(board, (make_entry("a", 0.5),), note=HOSTILE))
    assert len(page.find("script")) == 1
    assert [text for _, text in page.find("h2") if "alert" in text] == [SEEN]
    assert [text for _, text in page.find("p", class_="nobody") if "alert" in text] == [f"{SEEN}."]


def test_a_hostile_text_of_what_is_left_out_is_text():
    page = Page(make_page([], [Fault(HOSTILE, HOSTILE)]))
    assert [text for _, text in page.find("code", dir="auto")] == [f"{SEEN}:"]
    assert [text for _, text in page.find("bdi")] == [SEEN]
    assert len(page.find("script")) == 1
