"""The page's text on the benchmark, its boards and their entries, in order."""

from dataclasses import replace

from helpers.leaderboard_example import (
    NOTE,
    SOURCE,
    make_diagnostic,
    make_entry,
    make_reported,
    make_standing,
)
from helpers.page import error_page, example_page, page_of, panels_of, rows_of
from sraven.board.board import read_board
from sraven.leaderboard.page.groups import groups
from sraven.leaderboard.standing import Standing


def test_page_says_what_a_score_proves_and_how_to_submit():
    page = example_page()
    for name in ("how-to-read", "what-a-score-proves", "how-to-submit"):
        assert page.find("div", id=name) and page.find("a", href=f"#{name}")
    for badge in ("scored", "reproduced", "reported"):
        assert page_of().find("span", class_=f"badge {badge}")


def test_board_shows_its_digest_and_how_to_see_more():
    board = make_standing().board
    page = example_page()
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
    rows = rows_of(example_page())
    assert [row["data-entry"] for row in rows] == [
        f"sraven-v1-{n}" for n in (2, 3, 4, 5, 6, 10, 7, 1, 8, 0, 9)
    ]
    assert [row["data-budget"] for row in rows] == ["20000000"] * 6 + ["10000000", "40000000"] + ["none"] * 3


def test_row_says_all_of_an_entry():
    entry = make_entry("alpha", 0.74, rank=1, rank_range=(1, 1), family="a family")
    page = page_of(Standing(read_board("sraven-v1"), (entry,)))
    assert (
        "1 alpha a family This is alpha. All metrics mean over seeds test ood accuracy 0.9100 0.7400 "
        "feature accuracy 0.9500 0.8000 Filed as sraven-v1/20261121-alpha scored 0.7400 ± 0.0100 "
        "3 seeds, 0.7360 to 0.7440 over instances 0.9100 0.2061 400,000 20 M 2026-11-21 "
        "paper example.org code example.org"
    ) in page.text.replace("\u00a0", " ")
    [row] = rows_of(page)
    assert row["id"] == "sraven-v1/20261121-alpha"
    assert row["class"] == "entry scored first"


def test_row_says_what_its_score_depends_on():
    entry = make_entry("alpha", 0.74, rank=1, rank_range=(1, 3), grid_range=(0.74, 0.91), tuning_trials=1_200)
    entry = replace(entry, combinations_interval=(0.65, 0.81), beside={"ood": {"younger": 0.25}})
    text = page_of(Standing(read_board("sraven-v1"), (entry,))).text.replace("\u00a0", " ")
    assert "1 (1–3) alpha" in text and "Settings tried: 1,200" in text and "younger – 0.2500" in text
    assert "3 seeds, 0.6500 to 0.8100 over combinations its grid’s points 0.7400 to 0.9100" in text


def test_reported_row_has_no_rank_and_says_that_there_are_no_predictions():
    entries = make_reported("A", 0.7), make_reported("B", 0.6), make_reported("C", 0.5, remark="Other.")
    page = page_of(Standing(read_board("sraven-v1"), entries))
    assert [row["class"] for row in rows_of(page)] == ["entry reported"] * 3
    assert page.text.count("3 seeds, no predictions") == 3
    assert not [attributes for attributes, _ in page.find("td") if attributes["class"] == "rank"]
    notes = [text for attributes, text in page.find("li") if "note" in attributes.get("id", "")]
    assert notes == [f"{SOURCE}. {NOTE}", f"{SOURCE}. Other."]  # each once
    markers = [link["href"] for link, text in page.find("a") if text in "12"]
    assert markers == ["#sraven-v1-note-1", "#sraven-v1-note-1", "#sraven-v1-note-2"]


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
    ids = [attributes["data-board"] for attributes, _ in page.find("section")]
    assert ids == ["sraven-v1", "sraven-test-v1"]
    assert "Diagnostic series (not ranked)" in page.text
    alone = page_of(diagnostic)
    assert not [attributes for attributes, _ in alone.find("th") if attributes.get("class") == "rank"]
    assert alone.find("a", href="#sraven-test-v1")
    assert "Diagnostic" not in example_page().text


def test_boards_without_entries_say_so():
    assert "No entries yet." in page_of(Standing(read_board("sraven-v1"), ())).text
    assert "There are no boards with entries yet." in page_of().text


def test_board_where_less_is_better_and_no_ceiling_is_known():
    board = replace(read_board("fuzzylogic-v1"), higher_is_better=False, metric="mse")
    board = replace(board, file={**board.file, "ceiling": {}})
    entry = make_entry("a", 3.2, gap=None, splits={"ood": {"mse": 3.2}})
    page = page_of(Standing(board, (entry,)))
    [(_, text)] = page.find("th", aria_sort="ascending")
    assert text == "Mean squared error, ood"
    assert "Ceiling not known" in page.text
    assert not page.find("polyline", class_="ceiling")


# A board of errors


def test_plots_of_an_error_say_that_lower_is_better():
    page = error_page()
    [panel] = panels_of(page)  # all have as many parameters
    assert "(lower is better)" in panel["aria-label"]
    kinds = [attributes["class"] for attributes, _ in page.find("g") if "data-entry" in attributes]
    other = ["point other scored"] * 2
    assert sorted(kinds) == ["point hyla scored", *other, "point softmax reproduced"]
