"""The first screen: families by mark, the best of them on one scale, ceiling and chance."""

from dataclasses import replace
from xml.etree.ElementTree import Element

import pytest

from helpers.leaderboard_example import (
    make_entry,
    make_error_standing,
    make_errors,
    make_reference,
    make_reported,
    make_standing,
)
from helpers.page import example_page, page_of, rows_of
from sraven.board.board import read_board
from sraven.leaderboard.page.attention import family_of
from sraven.leaderboard.page.mistakes import legend, make_mistakes
from sraven.leaderboard.page.page import leaders, make_page, make_summary
from sraven.leaderboard.page.strip import Scale, draw_strip, find_bounds, find_scale
from sraven.leaderboard.page.words import score
from sraven.leaderboard.standing import Standing

BOARD = read_board("sraven-v1")


FAMILY_OF = {
    ("transformer", "hyla, 384,000 instances"): "hyla",
    (None, "HYLA + softmax"): "hyla",
    (None, "linear attention + RMSHead + nonlinear value"): "linear",
    (None, "Softmax, tiny"): "softmax",
    (None, "a nonlinear method"): "other",
    ("hypernetwork", "alpha"): "hyla",
    ("Linear attention", "softmax-free"): "linear",
    ("state space", "as good as softmax"): "other",
    ("reference", "hyla"): "reference",
    ("", ""): "other",
}


def test_family_is_what_the_submitter_says_then_what_the_name_says():
    found = {(said, name): family_of(make_entry(name, 0.5, family=said)).key for said, name in FAMILY_OF}
    assert found == FAMILY_OF


def test_every_reported_row_of_every_board_has_a_family_of_attention():
    for board in (BOARD, read_board("fuzzylogic-v1")):
        families = [family_of(make_reported(row.method, row.value)).key for row in board.reported]
        assert families and set(families) <= {"hyla", "softmax", "linear"}


def test_best_of_each_family_lie_on_one_scale_with_what_they_are_read_against():
    entries = (
        make_entry("hyla", 0.7, rank=1),
        make_reported("HYLA", 0.69),
        make_entry("another hyla", 0.6, rank=2),
        make_entry("softmax", 0.5, rank=3),
        make_entry("linear", 0.9, remark="used extra data"),
        make_reported("linear attention", 0.4),
    )
    standing = Standing(BOARD, entries)
    assert [entry.method for entry in leaders(standing)] == ["hyla", "softmax"]
    summary = make_summary(standing)
    assert [(key, entry.method) for _, key, entry in summary.bests] == [
        ("verified", "hyla"),
        ("reported", "HYLA"),
    ]
    assert [(bound.key, score(bound.value)) for bound in summary.bounds] == [
        ("ceiling", "0.9461"),
        ("lower", "0.0512"),
        ("chance", "0.0002"),
    ]
    assert isinstance(summary.strip, Element)
    places = [mark.get("x") for mark in summary.strip.iter("svg") if mark.get("class") == "at"]
    assert places == ["50.00%", "70.00%", "40.00%", "69.00%"]
    label = summary.strip.get("aria-label")
    assert "hyla 0.7000\u00a0±\u00a00.0100" in label
    assert "composition-blind 0.0512 (passed)" in page_of(standing).text
    for value, words in ((0.04, "not passed"), (0.05, "not distinguished")):  # 0.004 to either side
        standing = Standing(BOARD, (make_entry("worse", value, rank=1),))
        assert f"composition-blind 0.0512 ({words})" in page_of(standing).text


def test_leader_is_of_the_boards_own_budget_if_any_is():
    small = make_entry("small", 0.8, rank=1, budget=10_000_000)
    own = make_entry("own", 0.7, rank=1)
    assert leaders(Standing(BOARD, (small, own)))[0].method == "own"
    assert leaders(Standing(BOARD, (small,)))[0].method == "small"
    nobody = make_summary(Standing(BOARD, (make_reference("r", 0.1),)))
    assert nobody.bests == (("scored", "verified", None),) and nobody.entries == 0
    unranked = make_entry("one seed", 0.6, remark="fewer than 3 seeds")
    shown = make_summary(Standing(BOARD, (unranked, make_reference("r", 0.1))))
    assert shown.bests == (("not ranked", "unranked", unranked),)
    text = page_of(Standing(BOARD, (make_reference("r", 0.1),))).text
    assert "none ranked yet" in text and "no entries yet" in text


def test_scale_of_a_loss_has_the_lowest_on_the_right():
    scale = find_scale(make_error_standing())
    assert scale.first > 3.6 > 2.61 > scale.last and scale(2.61) > scale(3.06)
    assert find_scale(Standing(BOARD, ())) == Scale(0.0, 1.0)


def test_what_is_beyond_a_scale_stays_at_its_end():
    for value in (1e300, -1e300, -0.2, 0.0, 1e-300):
        standing = Standing(BOARD, (make_entry("a", value, standard_error=abs(value)),))
        drawn = draw_strip(find_scale(standing), find_bounds(BOARD), [standing.entries])
        [mark] = [mark for mark in drawn.iter("svg") if mark.get("class") == "at"]
        assert mark.get("x") in ("0.00%", "100.00%")
        loss = replace(BOARD, higher_is_better=False)
        scale = find_scale(Standing(loss, (make_entry("a", value), make_entry("b", 1.0))))
        assert 0 <= scale(value) <= 1


def test_entry_at_chance_says_so_instead_of_a_rank():
    guess = make_entry("guess", 0.0003, interval=(0.0002, 0.0004), remark="no better than chance")
    page = page_of(Standing(BOARD, (make_entry("good", 0.5, rank=1, rank_range=(1, 1)), guess)))
    ranks = [(a["class"], text) for a, text in page.find("td") if a.get("data-label") == "Rank"]
    assert ("rank unranked", "at chance") in ranks
    assert [row["class"] for row in rows_of(page)] == ["entry scored first", "entry scored"]


def test_disc_is_of_a_first_rank_without_a_range():
    sure, near = (make_entry(name, 0.5, rank=1) for name in ("sure", "near"))
    second = make_entry("second", 0.4, rank=2, rank_range=(2, 2))
    small = {"rank": 1, "rank_range": (1, 1), "budget": 10_000_000}
    for entries, first in (
        ((replace(sure, rank_range=(1, 1)), second), ["sure"]),
        ((replace(near, rank_range=(1, 2)), second), []),
        ((replace(sure, rank_range=(1, 1)),), ["sure"]),
        ((make_entry("alone", 0.5, **small),), []),
        ((make_entry("small", 0.5, **small), replace(second, budget=10_000_000)), ["small"]),
    ):
        page = page_of(Standing(BOARD, entries))
        rows = [a["id"] for a, _ in page.find("tr") if "first" in a.get("class", "").split()]
        assert rows == [f"sraven-v1/20261121-{name}" for name in first]
    assert "1(1–2)" in page_of(Standing(BOARD, (replace(near, rank_range=(1, 2)),))).text.replace(" ", "")


def test_the_readers_own_entry_stands_out():
    mine = make_entry("mine", 0.3, id="my-submission", remark="fewer than 3 seeds on ood", own=True)
    standing = Standing(BOARD, (make_entry("good", 0.5, rank=1), mine))
    html = make_page([standing])
    assert html.count('<span class="badge own">yours</span>') == 1
    assert 'class="entry scored own"' in html and "Filed as <code>my-submission" not in html
    assert [entry.method for _, key, entry in make_summary(standing).bests if key == "own"] == ["mine"]
    assert "yours</span>" not in make_page([make_standing()])


def test_legend_names_the_families_that_are_there_and_how_marks_are_filled():
    assert "HYLA other methods references recomputed here reported in a paper Filter" in example_page().text
    assert not page_of().find("ul", class_="legend")


def test_data_can_be_downloaded():
    links = {link["href"]: link for link, _ in page_of().find("a") if "download" in link}
    assert set(links) == {"leaderboard.json", "leaderboard.csv"}


# Sorted errors


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
    keys = ["kind-1", "kind-2", "kind-3", "kind-other", "kind-missing"]
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
        *(
            "wrong, of all",
            "valid alternative",
            "correspondence",
            "another rule",
            "operand of another feature",
        ),
        *("none of these", "missing"),
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
