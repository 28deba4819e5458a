"""The leaderboard's page: what it says, in which order, and that no text of a stranger becomes markup."""

import base64
import hashlib
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from helpers.leaderboard_example import (
    EVIL_ADDRESSES,
    EVIL_DESCRIPTION,
    EVIL_NAME,
    NOTE,
    SOURCE,
    make_corpus_standing,
    make_diagnostic,
    make_entry,
    make_hostile,
    make_reference,
    make_reported,
    make_standing,
)
from sraven.core.boards.board import read_board
from sraven.core.ground.echo import is_seen
from sraven.core.leaderboard.ranking import Standing
from sraven.core.page.groups import groups
from sraven.core.page.html import clean, element, to_html
from sraven.core.page.page import make_page, write_page
from sraven.core.page.scale import Axis, Scale, log_ticks, place_apart, shortened, text_width, ticks
from sraven.core.page.words import compact


class Page(HTMLParser):
    """All elements of a page as (tag, attributes), and the text that each opened."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.elements, self.texts, self.declarations = [], [], []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        assert len(attrs) == len(dict(attrs)), attrs
        self.elements.append((tag, dict(attrs)))
        self.texts.append("")

    def handle_endtag(self, tag):
        if tag in ("script", "style"):  # what follows isn't theirs
            self.elements.append((None, {}))
            self.texts.append("")

    def handle_data(self, data):
        if self.texts:
            self.texts[-1] += data

    def handle_comment(self, data):
        raise AssertionError(data)

    def find(self, tag, **wanted):
        wanted = {name.rstrip("_").replace("_", "-"): value for name, value in wanted.items()}
        return [
            (attributes, text)
            for (name, attributes), text in zip(self.elements, self.texts, strict=True)
            if name == tag and all(attributes.get(key) == value for key, value in wanted.items())
        ]

    @property
    def text(self):
        return " ".join(" ".join(self.texts).split())


def page_of(*standings):
    return Page(make_page(standings))


def rows_of(page):
    return [attributes for attributes, _ in page.find("tr") if "data-entry" in attributes]


# What strangers wrote


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
    assert addresses - {long} == {
        "#sraven-v1",
        "#sraven-v1-note-1",
        "https://example.org/paper",  # of the reported row, and of those with strange names
        "http://example.org/code",
    }


@pytest.mark.parametrize("address", ["https://example.org/a?b=c#d", "http://example.org"])
def test_web_addresses_are_links_that_pass_nothing_on(address):
    page = page_of(Standing(read_board("sraven-v1"), (make_entry("a", 0.5, paper=address, code=None),)))
    [(link, text)] = [found for found in page.find("a") if not found[0]["href"].startswith("#")]
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
    told = [text for _, text in page.find("p", class_="remark") if text.startswith("Its name")]
    assert told.count("Its name looks like that of another entry.") == 3
    mixed = "Its name mixes Cyrillic and Latin letters in a word."
    assert told.count(mixed) == 1 and len(told) == 4


def test_numbers_of_any_size_take_few_letters():
    page = page_of(make_hostile())
    values = {text.partition("\u00a0")[0].split()[0] for _, text in page.find("span", class_="value")}
    assert {"1e+300", "−1e+300", "0.000000000000"} <= values
    assert max(len(text) for tag in ("td", "text", "tspan") for _, text in page.find(tag)) < 60
    assert not [text for text in page.texts if re.search(r"\d{40}", text)]


def test_texts_that_cannot_be_encoded_or_turn_others_round_are_escaped(tmp_path):
    entry = make_entry("a\ud800b\x00c\u202etxt\u2066", 0.5, description="x\udfff", family="\u200fy")
    path = write_page(tmp_path, [Standing(read_board("sraven-v1"), (entry,))])
    text = path.read_text(encoding="utf-8")
    assert r"a\ud800b\x00c\u202etxt\u2066" in text and r"x\udfff" in text and r"\u200fy" in text
    assert not set("\x00\u202e\u2066\u200f") & set(text)
    assert clean("注意 − φ\tnaïve\n\u00a0\u202e") == "注意 − φ\tnaïve\n\u00a0\\u202e"


def test_elements_escape_and_refuse_what_is_not_escaped():
    made = element("p", 'a<b & "c"', element("br"), "</p>", title='"><script>', hidden=True, id=None)
    assert to_html(made).splitlines()[1] == (
        '<p title="&quot;&gt;<script&gt;" hidden="">a&lt;b &amp; "c"<br>&lt;/p&gt;</p>'
    )
    for tag in ("script", "style"):
        with pytest.raises(AssertionError, match="isn't escaped"):
            element(tag, "text")


# One file and no other host


def test_page_asks_no_host_for_anything():
    html = make_page([make_standing()])
    page = Page(html)
    fetching = ("src", "srcset", "action", "data", "poster", "background", "xlink:href", "ping")
    for tag, attributes in page.elements:
        assert not [name for name in attributes if name in fetching], (tag, attributes)
        if "href" in attributes and tag != "a":
            assert (tag, attributes["rel"]) == ("link", "icon")
            assert attributes["href"].startswith("data:image/svg+xml,")
    addresses = set(re.findall(r"https?://[^\s\"'<>]+", html))
    assert addresses == {"https://example.org/paper", "http://example.org/code", "http://www.w3.org/2000/svg"}
    [(_, style)] = page.find("style")
    assert not re.search(r"url\(|@import|@font-face", style)


def test_policy_allows_the_inlined_style_and_script_alone():
    page = page_of(make_standing())
    [(policy, _)] = page.find("meta", http_equiv="Content-Security-Policy")
    rules = dict(rule.split(" ", 1) for rule in policy["content"].split("; "))

    def checksum(tag):
        [(_, text)] = page.find(tag)
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    assert rules == {
        "default-src": "'none'",
        "style-src": checksum("style"),
        "script-src": checksum("script"),
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }


def test_page_is_written_whole_and_is_the_same_each_time(tmp_path):
    path = write_page(tmp_path / "new" / "folder", [make_standing()])
    assert path == tmp_path / "new" / "folder" / "index.html"
    first = path.read_bytes()
    assert write_page(path.parent, [make_standing()]).read_bytes() == first
    assert list(path.parent.iterdir()) == [path]
    assert first.startswith(b'<!doctype html>\n<html lang="en">')


# What it says


def test_page_says_what_a_score_proves_and_what_not():
    text = page_of(make_standing()).text
    for said in (
        "compositional generalisation in context",
        "What a score proves The arithmetic.",
        "What it doesn’t prove Honest modelling.",
        "seeds are public, so anyone could derive the labels",
        "sraven submit DIR",
    ):
        assert said in text
    for badge in ("scored", "self-reported", "reproduced", "reported"):
        assert page_of().find("span", class_=f"badge {badge}")


def test_board_shows_its_digest_and_how_to_see_more():
    board = make_standing().board
    page = page_of(make_standing())
    [(_, text)] = page.find("code", title=board.digest)
    assert text == board.digest[:12]
    assert f"sraven boards {board.id}" in page.text
    assert "0.9461 knowing the split, 0.9292 not knowing it" in page.text


def test_entries_of_each_budget_stand_apart_and_the_best_first():
    found = [(group.title, [e.method for _, e in group.entries]) for group in groups(make_standing())]
    million = "\u00a0M instances"
    assert found == [
        (
            f"Trained on up to 20{million}",
            ["alpha", "Paper best", "Beta", "Paper second", "gamma", "No score"],
        ),
        (f"Trained on up to 10{million}", ["Delta"]),
        (f"Trained on up to 40{million}", ["Omega"]),
        (f"Trained on more than 40{million}", ["Huge"]),
        ("References", ["ideal-observer", "uniform-random"]),
    ]
    rows = rows_of(page_of(make_standing()))
    assert [row["data-entry"] for row in rows] == [
        f"sraven-v1-{n}" for n in (2, 3, 4, 5, 6, 10, 7, 1, 8, 0, 9)
    ]
    assert [row["data-budget"] for row in rows] == ["20000000"] * 6 + ["10000000", "40000000"] + ["none"] * 3


def test_row_says_all_of_an_entry():
    page = page_of(Standing(read_board("sraven-v1"), (make_entry("alpha", 0.74, rank=1, family="a family"),)))
    assert (
        "1 alpha a family This is alpha. All metrics mean over seeds test ood accuracy 0.9100 0.7400 "
        "feature accuracy 0.9500 0.8000 Filed as sraven-v1/20261121-alpha scored 0.7400 ± 0.0100 "
        "3 seeds, 0.7360 to 0.7440 0.9100 0.2061 400,000 20 M 2026-11-21 paper example.org code example.org"
    ) in page.text.replace("\u00a0", " ")
    [row] = rows_of(page)
    assert row["id"] == "sraven-v1/20261121-alpha"
    assert row["class"] == "entry scored"


def test_reported_row_has_no_rank_and_says_that_there_are_no_predictions():
    entries = (
        make_reported("Best", 0.7),
        make_reported("Next", 0.6),
        make_reported("Else", 0.5, remark="Other."),
    )
    page = page_of(Standing(read_board("sraven-v1"), entries))
    assert [row["class"] for row in rows_of(page)] == ["entry reported"] * 3
    assert page.text.count("3 seeds, no predictions") == 3
    assert not [attributes for attributes, _ in page.find("td") if attributes["class"] == "rank"]
    notes = [text for attributes, text in page.find("li") if "note" in attributes.get("id", "")]
    assert notes == [f"{SOURCE}. {NOTE}", f"{SOURCE}. Other."]  # each once
    markers = [link["href"] for link, text in page.find("a") if text in "12"]
    assert markers == ["#sraven-v1-note-1", "#sraven-v1-note-1", "#sraven-v1-note-2"]


def test_unranked_entry_says_why():
    page = page_of(make_standing())
    assert "Not ranked: used extra data" in page.text
    assert "Not ranked: a reference, not a model" not in page.text  # the heading says it for all of them
    assert "References predictors for comparison, not ranked" in page.text


def test_absent_figures_are_dashes():
    entry = make_entry("a", None, gap=None, parameters=None, splits={}, standard_error=None, date=None)
    page = page_of(Standing(read_board("sraven-v1"), (replace(entry, paper=None, code=None),)))
    empty = [attributes["class"] for attributes, _ in page.find("td") if "empty" in attributes["class"]]
    expected = ["rank", "primary", "other", "gap", "parameters", "date", "links"]
    assert empty == [f"{name} empty" for name in expected]
    assert not page.find("figure")  # nothing to draw


def test_long_description_opens_on_demand():
    long = "Many words. " * 100
    page = page_of(Standing(read_board("sraven-v1"), (make_entry("a", 0.5, description=long),)))
    [(_, brief)] = page.find("summary", dir="auto")
    assert brief.endswith(" …")
    assert len(brief) <= 150
    assert page.text.count("Many words.") > 100
    endless = make_entry("a", 0.5, description="x" * 2000)
    assert "x" * 2000 in page_of(Standing(read_board("sraven-v1"), (endless,))).text


def test_diagnostic_boards_come_last_and_have_no_ranks():
    diagnostic = make_diagnostic(make_entry("alpha", 0.5, rank=1))
    page = page_of(diagnostic, make_standing())
    ids = [attributes["id"] for attributes, _ in page.find("section") if "id" in attributes]
    assert ids == ["sraven-v1", "sraven-test-v1"]
    assert "Diagnostic series (not ranked)" in page.text
    alone = page_of(diagnostic)
    assert not [attributes for attributes, _ in alone.find("th") if attributes.get("class") == "rank"]
    assert alone.find("a")[0][0]["href"] == "#diagnostic"
    assert "Diagnostic" not in page_of(make_standing()).text


def test_boards_without_entries_say_so():
    assert "No entries yet." in page_of(Standing(read_board("sraven-v1"), ())).text
    assert "There are no boards with entries yet." in page_of().text


def test_board_where_less_is_better_and_no_ceiling_is_known():
    board = read_board("sraven-v1")
    board = replace(board, higher_is_better=False, ceilings={}, metric="mse")
    entry = make_entry("a", 3.2, gap=None, splits={"ood": {"mse": 3.2}})
    page = page_of(Standing(board, (entry,)))
    [(_, text)] = page.find("th", aria_sort="ascending")
    assert text == "Mean squared error, ood"
    assert "Ceiling not known" in page.text
    assert not page.find("line", class_="ceiling")


# A board of a corpus


def test_board_of_a_corpus_counts_tokens_and_has_no_ceiling():
    page = page_of(make_corpus_standing())
    text = page.text.replace("\u00a0", " ")
    assert (
        "Ranked by loss per token on validation Budget 130 G training tokens Documents 364,608 validation "
        "Setting dataset=allenai/c4, configuration=en, split=validation, documents=364608, "
        "tokenizer_sha256=15d8dfa11996…, pieces=32101 Digest"
    ) in text
    for word in ("Trained on up to 130 G tokens", "Trained on more than 130 G tokens"):
        assert word in text
    headings = [attributes["class"] for attributes, _ in page.find("th", scope="col")]
    assert headings == ["rank", "method", "badge-cell", "primary", "parameters", "instances", "date", "links"]
    [(_, label)] = page.find("th", scope="col", class_="instances")
    [(_, best)] = page.find("th", aria_sort="ascending")
    assert (label, best) == ("Tokens", "Loss per token, validation")
    assert not page.find("line", class_="ceiling")
    assert "Trained on up to 20 M instances" in page_of(make_standing()).text.replace("\u00a0", " ")


def test_self_reported_rows_say_so_and_name_their_documents():
    page = page_of(make_corpus_standing())
    assert [row["data-badge"] for row in rows_of(page)] == [
        "self-reported",
        "reproduced",
        "self-reported",
        "self-reported",
    ]
    badges = [a for a, text in page.find("span", class_="badge self-reported") if text == "self-reported"]
    assert sum("title" in attributes for attributes in badges) == 3
    shown = [text for a, text in page.find("code", title="0123456789abcdef" * 4)]
    assert shown == ["0123456789ab"] * 4
    assert page.text.count("Fingerprint of its documents:") == 4
    assert "Fingerprint of its documents" not in page_of(make_standing()).text


def test_page_says_what_self_reported_means():
    for page in (page_of(make_standing()), page_of(make_corpus_standing()), page_of()):
        assert "the loss of each document is the submitter’s own figure." in page.text
        assert "It doesn’t hold the text, so it can’t recompute them." in page.text
        assert "Added up here from the submitter’s own losses, which can’t be recomputed here." in page.text
    assert "c4-v1 is about language models instead" in page_of(make_corpus_standing(), make_standing()).text
    assert "language models" not in page_of(make_standing()).text


def test_plots_of_a_loss_say_that_lower_is_better():
    page = page_of(make_corpus_standing())
    assert [panel["aria-label"].split(";")[0] for panel in panels_of(page)] == [
        "Loss per token on validation against training tokens (lower is better)",
        "Loss per token on validation against parameters (lower is better)",
    ]
    kinds = [attributes["class"] for attributes, _ in page.find("g") if "data-entry" in attributes]
    assert kinds.count("point self-reported") == 2 * 3 and kinds.count("point reproduced") == 2
    told = [text for _, text in page.find("title")]
    assert "short: 3.6000\u00a0±\u00a00.0100 (self-reported); training tokens: 20,000,000,000" in told


# The plots


def panels_of(page):
    return [attributes for attributes, _ in page.find("svg", class_="plot")]


def test_plots_show_every_score_with_its_error_and_the_ceiling():
    page = page_of(make_standing())
    assert [panel["aria-label"].split(";")[0] for panel in panels_of(page)] == [
        "Accuracy on ood against training instances",
        "Accuracy on ood against parameters",
    ]
    points = [a for a, _ in page.find("g") if a.get("class", "").startswith("point ") and "data-entry" in a]
    assert len(points) == 2 * 10  # all but the one without a score
    assert sorted({point["data-entry"] for point in points}) == sorted(f"sraven-v1-{n}" for n in range(10))
    kinds = {point["class"] for point in points}
    assert kinds == {"point scored", "point reproduced", "point reported", "point reference"}
    assert len(page.find("line", class_="error")) == 2 * 8  # references have one seed
    assert [text for _, text in page.find("text", class_="ceiling-label")] == ["ceiling 0.9461"] * 2
    told = [text for _, text in page.find("title")]
    assert "Beta: 0.6900\u00a0±\u00a00.0100 (scored); parameters: 900,000" in told
    assert "ideal-observer: 0.9278 (reference); training instances: 0" in told
    assert "Paper best: 0.7100\u00a0±\u00a00.0100 (reported); parameters: not stated" in told


def test_entries_without_a_count_stand_left_of_the_axis():
    page = page_of(make_standing())
    words = [text for _, text in page.find("text", class_="tick")]
    assert words.count("none") == 2
    assert words.count("not stated") == 1
    assert {"10\u00a0M", "20\u00a0M", "40\u00a0M"} <= set(words)


def test_score_far_below_nothing_is_an_arrow_at_the_edge():
    standing = Standing(read_board("fuzzylogic-v1"), (make_entry("good", 0.9), make_entry("awful", -40.0)))
    page = page_of(standing)
    ys = [float(a["cy"]) for a, _ in page.find("circle", class_="mark")]
    assert len(ys) == 2 + 1  # one in each panel, one in the legend
    assert len(page.find("path", class_="mark")) == 2
    assert [t for _, t in page.find("text", class_="tick")][:6] == ["0", "0.2", "0.4", "0.6", "0.8", "1"]


def test_points_lie_where_their_numbers_say():
    standing = make_standing()
    entries = [entry for entry in standing.entries if entry.value is not None]
    scale = Scale(standing, entries, Axis("instances", lambda entry: entry.train_instances, (10**7,)))
    assert scale.ticks == [0, 0.2, 0.4, 0.6, 0.8, 1]
    assert scale.y(0) == 264
    assert scale.y(1) == 22
    assert scale.y(0.5) == 143
    assert scale.x(2 * 10**7) - scale.x(10**7) == pytest.approx(scale.x(4 * 10**7) - scale.x(2 * 10**7))
    for point in scale.points([(entry.method, entry) for entry in entries]):
        assert point.y == scale.y(point.entry.value)
        if point.entry.train_instances:
            assert abs(point.x - scale.x(point.entry.train_instances)) <= 15


def test_boxes_move_apart_around_their_place():
    same = [(95.0, 0.0, 105.0, 10.0)] * 5
    assert place_apart(same, 0, 200) == [0, 10, -10, 20, -20]
    assert place_apart([*same[:2], (95.0, 20.0, 105.0, 30.0)], 0, 200) == [0, 10, 0]  # others don't matter
    assert place_apart(same, 95, 105) == [0] * 5  # no room
    assert place_apart(same, 95, 200) == [0, 10, 20, 30, 40]


@pytest.mark.parametrize("low", [0.0, -3.7, 0.123, 5e5])
@pytest.mark.parametrize("span", [0.0, 1e-4, 0.3, 0.9461, 1.0, 7.0, 1e9])
def test_ticks_enclose_the_range_with_few_round_numbers(low, span):
    found = ticks(low, low + span)
    slack = 1e-6 * max(span, 1e-9)
    assert 2 <= len(found) <= 7
    assert found[0] <= low + slack
    assert found[-1] >= low + span - slack
    assert found == sorted(set(found))


def test_ticks_of_a_log_axis_are_few_and_include_the_marks():
    assert log_ticks(1e5, 1e6, ()) == [100_000, 200_000, 500_000, 1_000_000]
    assert log_ticks(6e6, 7e7, (10**7, 2 * 10**7, 4 * 10**7)) == [10**7, 2 * 10**7, 4 * 10**7]
    for high in (1e3, 1e8, 1e15):
        assert 1 <= len(log_ticks(10, high, ())) <= 6
    assert log_ticks(2.1, 2.9, ()) == []


def test_direct_labels_are_few_and_apart():
    entries = tuple(make_entry(f"method {number}", 0.5 + number / 1000) for number in range(60))
    page = page_of(Standing(read_board("sraven-v1"), entries))
    labels = [(a, text) for a, text in page.find("text", class_="label")]
    assert 1 <= len(labels) <= 2 * 5
    assert len(page.find("g", class_="point scored")) == 2 * 60 + 1
    wide = make_entry("注" * 200, 0.5)
    page = page_of(Standing(read_board("sraven-v1"), (wide, make_reference("r", 0.1))))
    assert page.find("text", class_="label")
    assert text_width("注注") == 2 * 15
    assert shortened("abcdef", 4) == "abc…"


def test_counts_in_short():
    assert [compact(n).replace("\u00a0", " ") for n in (0, 65_536, 20_000_000, 6_400_000, 130 * 10**9)] == [
        "0",
        "65,536",
        "20 M",
        "6.4 M",
        "130 G",
    ]
