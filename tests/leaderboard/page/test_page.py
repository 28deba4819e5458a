"""What the page says: one sentence on top, a card for each board with entries, what is folded in it."""

import re
from base64 import b64decode

import pytest
from matplotlib.figure import Figure

from helpers.leaderboard_example import make_entry, make_reference, make_reported, make_standing
from helpers.page import example_page, page_of, tables_of
from sraven.board.board import read_board
from sraven.leaderboard.page.page import CONTROL, FLAGSHIP
from sraven.leaderboard.page.picture import NARROW, WIDE, Bar, Panel, draw, draw_panel
from sraven.leaderboard.standing import Combinations, Standing

pytestmark = pytest.mark.usefixtures("undrawn")

BOARD = read_board("sraven-v1")


def test_a_card_has_ranked_rows_then_reported_ones_then_what_is_folded():
    assert tables_of(example_page()) == [
        ("Trained on up to 20,000,000 instances", ["alpha", "beta"]),
        ("Trained on up to 40,000,000 instances", ["omega"]),
        ("Trained on up to 10,000,000 instances", ["delta"]),
        ("Reported in papers", ["", ""]),
        ("Not ranked", ["gamma", "huge", "score"]),
        ("References: predictors for comparison", ["observer", "random"]),
    ]
    folded = [text for _, text in example_page().find("summary")]
    assert "Not ranked (3)" in folded and "References: predictors for comparison (2)" in folded
    assert "Not ranked: used extra data" in re.sub(r"\s+", " ", example_page().text)


def test_where_nothing_else_is_shown_unranked_entries_are_not_folded():
    page = page_of(Standing(BOARD, (make_entry("one seed", 0.5, remark="fewer than 3 seeds"),)))
    assert tables_of(page) == [("Not ranked", ["seed"])]
    assert "Not ranked (1)" not in [text for _, text in page.find("summary")]
    page = page_of(Standing(read_board(CONTROL), (make_entry("a", 0.5),)))
    assert tables_of(page) == [("Entries", ["a"])] and page.find("h2", id="diagnostic")


def test_only_the_flagship_is_open_and_folded_boards_say_who_leads():
    first = make_entry("hyla, rate 0.003, 5,000,000 instances", 0.75, rank=1, description="a " * 80)
    standings = [Standing(read_board(name), (first,)) for name in (FLAGSHIP, "sraven-v1")]
    page = page_of(*standings, date="2026-01-02", links={"Documentation": "../index.html"})
    cards = [card for card, _ in page.find("details", class_="card")]
    assert ["open" in card for card in cards] == [True, False]
    assert len(page.find("span", class_="best")) == 2
    text = " ".join(page.text.split())
    assert text.count("HYLA 0.750") == 2
    assert "HYLA rate 0.003" in text and text.count(first.description.strip()) == 2  # once a row
    assert "as of 2026-01-02" in text and ({"href": "../index.html"}, "Documentation") in page.find("a")


def test_points_of_a_grid_are_folded_under_the_chosen_one():
    chosen = make_entry("chosen", 0.6, rank=1)
    point = make_entry("point", 0.7, point_of=chosen.id)
    stray = make_entry("stray", 0.4, remark=f"test chooses another point of its grid, {chosen.id}")
    page = page_of(Standing(BOARD, (point, chosen, stray)))
    assert tables_of(page) == [
        ("Trained on up to 20,000,000 instances", ["chosen"]),
        ("Not ranked", ["stray"]),
    ]
    [(_, text)] = page.find("li", id=point.id)
    assert page.text.count("Other points of its grid") == 1 and text == ""


def test_an_entry_is_ahead_only_where_the_paired_comparison_says_so():
    apart = {"combinations": Combinations((100,) * 50, (0.5,) * 50), "standard_error": 0.001}
    best = make_entry(
        "best", 0.9, rank=1, **{**apart, "combinations": Combinations((100,) * 50, (0.9,) * 50)}
    )
    near = make_entry("near", 0.5, rank=2, **apart)
    other = make_entry("other", 0.499, rank=3, **{**apart, "standard_error": 0.05})
    text = page_of(Standing(BOARD, (best, near, other))).text
    assert text.count("Ahead of") == 1 and "Ahead of near; other" in text


def test_rows_have_ranges_and_details_and_ones_own_stands_out():
    tried = {"code_commit": "b9" * 20, "grid_range": (0.4, 0.5), "tuning_trials": 7}
    near = make_entry("near", 0.5, rank=1, rank_range=(1, 2), **tried)
    mine = make_entry("mine", 0.3, id="my-folder", remark="fewer than 3 seeds on ood", own=True)
    page = page_of(Standing(BOARD, (near, mine)))
    assert [text for _, text in page.find("td", class_="rank")] == ["1 (1–2)"]
    assert tables_of(page)[1] == ("Yours, not ranked", [""])
    assert page.text.count("yours") == 1 and "Filed as my-folder" not in page.text
    assert all(text in page.text for text in ("b9" * 20, "0.4000 to 0.5000", "Settings tried: 7"))


def test_boards_without_entries_share_a_line_at_the_end():
    empty = Standing(read_board("sraven-unique-v1"), (make_reference("r", 0.1),))
    text = page_of(make_standing(), empty, Standing(read_board("sraven-pairs-v1"), ())).text
    assert re.search(r"No entries yet: sraven-unique-v1\s*, sraven-pairs-v1", text)
    assert not page_of(empty).find("table", class_="standing")


# On top


def composing(known, held_out, *pairs):
    def estimate(value):
        return {"value": value, "interval": (value - 0.1, value + 0.1)}

    groups = [{"pairs": count, "score": estimate(value)} for count, value in pairs]
    parts = {"known": estimate(known), "held_out": estimate(held_out), "lost": estimate(known - held_out)}
    kept = estimate(held_out / known)
    return parts | {"kept": kept, "by_new_pairs": groups, "parts": parts}


def test_the_flagship_stands_on_top_beside_its_control():
    one = make_entry("hyla, a", 0.3, composing=composing(0.6, 0.3, (2, 0.3)))
    two = make_entry("linear, a", 0.4, composing=composing(0.5, 0.4, (2, 0.4)))
    alone = make_entry("other", 0.1, composing=composing(0.5, 0.1, (2, 0.1)))  # not on the control
    pair = composing(0.6, 0.55)
    old = tuple(make_entry(name, 0.5, composing=pair) for name in ("hyla, a", "hyla, b", "linear, a"))
    told = make_entry("composing", 0.9, family="learnt ceiling", composing=composing(0.95, 0.93))
    flagship = Standing(read_board(FLAGSHIP), (told, two, one, alone, make_reference("r", 0.1)))
    page = page_of(flagship, Standing(read_board(CONTROL), old))
    [(_, sentence)] = page.find("p", class_="finding")
    assert "get 0.10 to 0.30 fewer of the features right" in sentence and "known, 0.05." in sentence
    assert sentence.endswith("reads each feature by itself: 0.02.")
    [(picture, _)] = page.find("img")
    words = "linear attention 0.4000 (known 0.9100), HYLA 0.3000 (known 0.9100), "
    words += "linear attention 0.5000 (known 0.9100), HYLA 0.5000 (known 0.9100)"
    assert picture["alt"].endswith(words)
    assert not page_of(flagship).find("p", class_="finding")


# Pictures

BARS = (
    Bar("one", 0.75, 0.25, (0.125, 0.5)),
    Bar("two", None, 0.26, None),
    Bar("$x$", None, 0.4, (-1e300, 1e300)),
)
PANEL = Panel("some", BARS, {"ceiling": (1.0, "solid"), "chance": (0.0, "dotted")})


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_marks_lie_exactly_at_their_scores_each_in_a_row_of_its_own(width):
    axes = Figure().subplots()
    draw_panel(axes, PANEL, width)
    marks = [tuple(line.get_xydata()[0]) for line in axes.lines if line.get_marker() == "o"]
    assert marks == [(0.75, 0), (0.25, 0), (0.26, 1), (0.4, 2)]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["one", "two", "$x$"]
    levels = [line.get_xdata()[0] for line in axes.lines if line.get_linestyle() in ("-", ":")][:2]
    assert levels == [1.0, 0.0]


def test_pictures_are_the_same_each_time_and_lack_scores_beyond_all_measure():
    """They follow the reader's scheme."""
    drawn, far = draw([PANEL], WIDE, "x"), Bar("far", None, 1e300, None)
    assert draw([PANEL._replace(bars=(*BARS, far))], WIDE, "x") == drawn
    assert "prefers-color-scheme:dark" in drawn and "<text" not in drawn


def test_a_picture_is_in_the_page_for_wide_and_narrow_screens():
    page = page_of(Standing(BOARD, (make_entry("$x$ \\frac", 0.5, rank=1), make_reported("p", 0.4))))
    [(source, _)], [(image, _)] = page.find("source"), page.find("img")
    for address in (source["srcset"], image["src"]):
        kind, _, content = address.partition(",")
        assert kind == "data:image/svg+xml;base64" and b"<svg" in b64decode(content)
    assert image["alt"].endswith("$x$ \\frac 0.5000 (known 0.9100), p (reported) 0.4000")
