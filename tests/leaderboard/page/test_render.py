"""The template: nothing passes it unescaped but our own files and drawings, and no value is forgotten."""

import base64
import hashlib
import re
from dataclasses import replace
from importlib.resources import files

import pytest
from jinja2 import DictLoader, UndefinedError
from markupsafe import Markup

from helpers.leaderboard_example import make_entry, make_hostile, make_standing
from helpers.page import Page, example_page, page_of
from sraven import SRAVEN
from sraven.board.board import read_board
from sraven.core.escape import is_seen
from sraven.leaderboard.folder import Fault
from sraven.leaderboard.page import render as module
from sraven.leaderboard.page.page import make_page
from sraven.leaderboard.page.render import Asset, render
from sraven.leaderboard.standing import Standing
from sraven.palette import follow_scheme, palette
from sraven.text.play import make_play, practise

pytestmark = pytest.mark.usefixtures("undrawn")

FOLDER = files("sraven.leaderboard.page")
TEMPLATES = sorted(path.name for path in (FOLDER / "templates").iterdir())


@pytest.fixture
def template(monkeypatch):
    """Return what renders a text as a template of ours."""

    def render_text(text, **values):
        monkeypatch.setattr(module, "PackageLoader", lambda package: DictLoader({"page": text}))
        return render("page", **values)

    return render_text


def test_markup_is_made_in_one_place():
    made = [
        (path.name, line.strip())
        for path in FOLDER.iterdir()
        if path.name.endswith(".py")
        for line in path.read_text().splitlines()
        if re.search(r"Markup\(|__html__", line)
    ]
    assert [name for name, _ in made] == ["render.py"], made


@pytest.mark.parametrize("name", TEMPLATES)
def test_templates_let_nothing_pass_but_our_own(name):
    text = (FOLDER / "templates" / name).read_text()
    assert not re.search(r"\|\s*(safe|tojson|xmlattr|urlize|striptags)|autoescape|Markup", text)
    passed = re.findall(r"[\w.]+(?= \| as_it_stands)", text)
    assert set(passed) <= {"style", "script"}
    assert not re.search(r"""=\{\{|='[^'"]*\{\{""", text), "an attribute without double quotes"


def test_texts_are_escaped_and_what_cannot_be_seen_is_shown(template):
    rendered = template('<p title="{{ x }}">{{ x }}</p>\n', x="<b>&'\"\u202e\n")
    escaped = r"&lt;b&gt;&amp;&#39;&#34;\u202e" + "\n"
    assert rendered == f'<p title="{escaped}">{escaped}</p>\n'
    assert template("{% macro m(x) %}<i>{{ x }}</i>{% endmacro %}{{ m('<') }}{{ 3 }}") == "<i>&lt;</i>3"
    assert template("{% macro m() %}\u00a0{% endmacro %}{{ m() }}") == "\u00a0"  # not cleaned twice


@pytest.mark.parametrize("value", ["<b>", Markup("<b>"), 3, None])
def test_no_text_stands_as_it_is(template, value):
    with pytest.raises(AssertionError, match="is escaped, or it isn't shown"):
        template("{{ value | as_it_stands }}", value=value)


def test_a_value_that_is_missing_is_an_error(template):
    with pytest.raises(UndefinedError, match="'valeu' is undefined"):
        template("{{ valeu }}", value=1)
    with pytest.raises(AssertionError, match="stands for nothing"):
        template("{{ value }}", value=None)


@pytest.mark.parametrize("text", ["a</style>b", "a<!--b"])
def test_an_asset_that_would_end_its_element_is_refused(monkeypatch, tmp_path, text):
    (tmp_path / "bad.css").write_text(text)
    monkeypatch.setattr(module, "_ASSETS", (tmp_path,))
    with pytest.raises(AssertionError, match="it would end the element"):
        _ = Asset("bad.css").text


# One file, which asks no host for anything


def test_page_asks_no_host_for_anything():
    page = example_page()
    for tag, attributes in page.elements:
        addresses = [attributes[name] for name in ("src", "srcset", "href") if name in attributes]
        assert not {"action", "data", "poster", "background", "ping"} & attributes.keys()
        if tag != "a":
            assert all(address.startswith("data:image/svg+xml") for address in addresses), (tag, addresses)
    links = {link["href"] for link, _ in page.find("a") if not link["href"].startswith("#")}
    assert links == {"https://example.org/paper", "http://example.org/code", "leaderboard.json"}
    [(_, style)] = page.find("style")
    assert not re.search(r"url\(|@import|@font-face", style)


def test_policy_allows_the_inlined_style_and_script_alone():
    pages = (example_page(), Page(make_play(practise(SRAVEN(M=2, K=5), (2,), 1), practice=True)))
    for page, allowed in zip(pages, (("style",), ("style", "script")), strict=True):
        [(policy, _)] = page.find("meta", http_equiv="Content-Security-Policy")
        rules = dict(rule.split(" ", 1) for rule in policy["content"].split("; "))
        for tag in allowed:
            [(_, text)] = page.find(tag)
            checksum = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
            assert rules.pop(f"{tag}-src") == f"'sha256-{checksum}'"
        none = dict.fromkeys(("default-src", "base-uri", "form-action"), "'none'")
        assert rules == {**none, "img-src": "data:"} and len(page.find("script")) == len(allowed) - 1


def test_page_is_the_same_each_time():
    first = make_page([make_standing()])
    assert make_page([make_standing()]) == first and first.startswith('<!doctype html>\n<html lang="en">')


# The palette


DRAWN = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><text style="font: 1px a; fill: {}"/></svg>'
)


def test_colours_are_those_of_the_style_sheet():
    assert palette()["surface"] == ("#ffffff", "#161b1f")
    assert {"text", "muted", "line", "accent", "caution", "softmax", "linear", "hyla"} <= palette().keys()


def test_a_picture_knows_its_colours_on_a_dark_ground():
    light, dark = palette()["text"]
    svg = follow_scheme(DRAWN.format(light))
    assert f'[style*="fill: {light}"]{{fill:{dark} !important}}' in svg
    assert svg.replace(svg[svg.index("<style>") : svg.index("</style>") + 8], "") == DRAWN.format(light)


# Untrusted input stays text on the page, and every character of it is visible


@pytest.fixture(scope="module")
def hostile():
    """The page of texts each of which is meant to break out of it, as it is written."""
    return Page(make_page([make_hostile()]).encode().decode())


def test_only_web_addresses_become_links(hostile):
    addresses = {link["href"] for link, _ in hostile.find("a")}
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


def test_every_character_of_a_hostile_page_is_seen(hostile):
    style = hostile.find("style")[0][1]
    written = [text for text in hostile.texts if text != style]
    written += [value for _, attributes in hostile.elements for value in attributes.values() if value]
    # The no-break space is ours: it keeps a number and its unit together.
    assert not {ascii(c) for text in written for c in text if not is_seen(c) and c not in "\n\u00a0"}
    marks = re.findall(r"[\u0300-\u036f\u0489]{4,}", "".join(written))
    assert marks == []
    names = [text for _, text in hostile.find("bdi", class_="name")]
    assert r"turned \u202eecivda\u202c" in names and r"\u3164\u2800" in names and r"half \ud800" in names


def test_numbers_of_any_size_take_few_letters(hostile):
    cells = [text for attributes, text in hostile.find("td") if "data-label" in attributes]
    assert "1e+300 ± 1e+300" in cells and max(map(len, cells)) < 60


HOSTILE = (
    "<script>alert('x')</script></svg></style>\" onload='y' <!-- ]]> {{ 7919 * 7919 }} {% raw %} \u202e\ud800"
)
SEEN = HOSTILE.replace("\u202e", r"\u202e").replace("\ud800", r"\ud800")
FIELDS = ("id", "method", "family", "description", "remark", "paper", "code", "code_commit")


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
    # An address like this is no link, and a paper's row has neither a family nor a commit.
    hidden = field in ("paper", "code") or (badge == "reported" and field in ("family", "code_commit"))
    assert not found if hidden else found


def test_a_hostile_text_of_a_board_or_of_what_is_left_out_is_text():
    board = replace(read_board("sraven-v1"), title=HOSTILE)
    page = page_of(Standing(board, (make_entry("a", 0.5),)))
    assert not page.find("script")
    assert [text for _, text in page.find("h2") if "alert" in text] == [SEEN]
    page = Page(make_page([], [Fault(HOSTILE, HOSTILE)]))
    assert [text for _, text in page.find("code", dir="auto")] == [f"{SEEN}:"]
    assert [text for _, text in page.find("bdi")] == [SEEN]
