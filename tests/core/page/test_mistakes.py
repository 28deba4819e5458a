"""Sorted errors on the page: bars that add up, the figures behind them, a legend."""

from dataclasses import replace
from xml.etree.ElementTree import Element

import pytest

from helpers.leaderboard_example import make_entry, make_errors, make_reported, make_standing
from helpers.page import example_page, page_of
from sraven.core.boards.board import read_board
from sraven.core.leaderboard.standing import Standing
from sraven.core.page.mistakes import legend, make_mistakes

BOARD = read_board("sraven-v1")


def percent(text):
    return float(text.removesuffix("%"))


def mistakes(*shares, **more):
    return make_mistakes(BOARD, make_entry("a", 0.5, errors=make_errors(*shares, **more)))


@pytest.mark.parametrize("shares", [(0.25, 0.1, 0.15, 0.4, 0.1), (1.0, 0, 0, 0, 0), (0, 0.003, 0, 0.997, 0)])
def test_parts_of_a_bar_follow_each_other_and_are_as_wide_as_their_shares(shares):
    *of_kinds, missing = shares
    (_, empty), (split, bar) = mistakes(*of_kinds, missing=missing).bars
    assert empty is None and split == "ood" and isinstance(bar, Element)
    parts = bar.findall("rect")
    keys = ["kind-1", "kind-2", "kind-3", "kind-4", "kind-missing"]
    assert [part.get("class") for part in parts] == [k for k, s in zip(keys, shares, strict=True) if s]
    begin = 0.0
    for part, share in zip(parts, filter(None, shares), strict=True):
        assert percent(part.get("x")) == pytest.approx(begin, abs=0.01)
        assert (
            0 < percent(part.get("width")) <= 100 * share and 100 * share - percent(part.get("width")) <= 0.51
        )
        begin += 100 * share
    assert begin == pytest.approx(100)


def test_bar_is_told_in_words():
    bar = mistakes(0.52, 0.003, 0.12, 0.357).bars[1][1]
    assert bar.find("title").text.replace("\u00a0", " ") == (
        "of what is wrong on ood: valid alternative 52 %, correspondence 0.3 %, another rule 12 %, "
        "none of these 35.7 %"
    )


def test_figures_have_their_errors_and_missing_shows_only_where_there_is_some():
    rows = mistakes(0.25, 0.1, 0.15, 0.4, missing=0.1).rows
    assert [name for name, _, _ in rows] == [
        *("wrong, of all", "valid alternative", "correspondence", "another rule", "none of these", "missing")
    ]
    assert [text.replace("\u00a0", " ") for text in rows[1][2]] == ["–", "0.2500 ± 0.0020"]
    assert rows[0][2][0] == "0"
    assert [name for name, _, _ in mistakes(0.5, 0, 0, 0.5).rows][-1] == "none of these"


def test_page_shows_them_for_entries_that_have_some_and_the_legend_once():
    page = example_page()
    assert page.text.count("Where it errs") == 2 == len(page.find("svg", class_="bar"))
    assert page.text.count("nothing to sort") == 2
    assert page.text.count("each of the first kind that fits") == 1
    for kind in legend(make_standing()):
        assert f"{kind.name}: {kind.meaning}" in page.text
        assert page.find("span", class_=f"swatch {kind.key}")


def test_nothing_is_shown_without_sorted_errors():
    plain = Standing(BOARD, (make_entry("a", 0.5), make_reported("b", 0.4)))
    assert legend(plain) == () and make_mistakes(BOARD, plain.entries[0]) is None
    assert "Where it errs" not in page_of(plain).text and "first kind that fits" not in page_of(plain).text
    fuzzy = replace(plain, board=read_board("fuzzylogic-v1"))
    assert legend(fuzzy) == ()
