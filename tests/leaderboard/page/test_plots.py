"""The plots of the page: every score at its place, and numbers along the axes that find room."""

import math
from itertools import pairwise

import pytest

from helpers.leaderboard_example import make_entry, make_reference, make_standing
from helpers.page import example_page, page_of, panels_of, rows_of
from sraven.board.board import read_board
from sraven.leaderboard.page.plots import (
    FLOOR,
    LEFT,
    RIGHT,
    TOP,
    Axis,
    PlotPoint,
    count_ticks,
    draw_counts,
    move_apart,
    ticks,
)
from sraven.leaderboard.page.strip import Scale
from sraven.leaderboard.page.words import compact, score_and_error, shortened
from sraven.leaderboard.standing import Standing


def test_plots_show_every_score_with_its_error_and_the_ceiling():
    page = example_page()
    assert [panel["aria-label"].split(";")[0] for panel in panels_of(page)] == [
        "Accuracy on ood against training instances",
        "Accuracy on ood against parameters",
    ]
    points = [a for a, _ in page.find("g") if a.get("class", "").startswith("point ") and "data-entry" in a]
    assert len(points) == 2 * 10  # all but the one without a score
    assert sorted({point["data-entry"] for point in points}) == sorted(f"sraven-v1-{n}" for n in range(10))
    kinds = {"point other scored", "point hyla reproduced", "point other reported", "point reference"}
    assert {point["class"] for point in points} == kinds
    assert len(page.find("line", class_="error")) == 2 * 8  # references have one seed
    assert [text for _, text in page.find("text", class_="ceiling-label")] == ["ceiling 0.9461"] * 2
    assert [text for _, text in page.find("text", class_="lower-label")] == ["composition-blind 0.0512"] * 2
    titles = [text for _, text in page.find("title")]
    assert "Beta: 0.6900\u00a0±\u00a00.0100 (scored); parameters: 900,000" in titles
    assert "ideal-observer: 0.9278 (reference); training instances: 0" in titles
    assert "Paper best: 0.7100\u00a0±\u00a00.0100 (reported); parameters: not stated" in titles


def test_scores_reach_down_to_the_lower_line():
    entries = make_entry("good", 0.9), make_entry("large", 0.8, parameters=10**6)
    page = page_of(Standing(read_board("sraven-v1"), entries))
    [line] = [a["points"] for a, _ in page.find("polyline", class_="lower")]
    heights = {float(place.split(",")[1]) for place in line.split()}
    assert len(heights) == 1 and TOP < heights.pop() <= FLOOR


def test_score_far_below_nothing_is_an_arrow_at_the_edge():
    awful = make_entry("awful", -40.0, parameters=10**6, train_instances=10**6)
    standing = Standing(read_board("fuzzylogic-v1"), (make_entry("good", 0.9), awful))
    page = page_of(standing)
    assert len(page.find("path", class_="mark arrow")) == 2  # one in each panel
    assert [t for _, t in page.find("text", class_="tick")][:6] == ["0", "0.2", "0.4", "0.6", "0.8", "1"]


def test_points_lie_where_their_numbers_say():
    standing = make_standing()
    named = [(entry.method, entry) for entry in standing.entries if entry.value is not None]
    axis = Axis("instances", lambda entry: entry.train_instances, (10**7,))
    title, drawing = draw_counts(standing, named, axis)
    assert title == "Accuracy on ood against instances"
    drawn = {group.get("data-entry"): group.find("circle[@class='touch']") for group in drawing.iter("g")}
    places = {name: (float(mark.get("cx")), float(mark.get("cy"))) for name, mark in drawn.items() if name}
    assert len(places) == len(named) == 10
    for name, entry in named:  # the ticks go from 0 to 1
        assert places[name][1] == pytest.approx(FLOOR - entry.value * (FLOOR - TOP), abs=0.06)
    x = {count: places[name][0] for name, count in (("Delta", 8), ("alpha", 20), ("Omega", 40), ("Huge", 90))}
    for one, other in ((8, 40), (20, 40), (40, 90)):
        step = (x[other] - x[one]) / math.log(other / one)
        assert step == pytest.approx((x[90] - x[8]) / math.log(90 / 8), abs=0.1)
    assert places["uniform-random"][0] < x[8]


def moved(points, left, right):
    placed = []
    for point in points:
        placed.append(move_apart(point, placed, left, right))
    return [point.x for point in placed]


def test_points_move_apart_around_their_place():
    same = [PlotPoint(100.0, 50.0, 50.0, 50.0)] * 5
    assert moved(same, 0, 200) == [100, 90, 110, 80, 120]
    below = PlotPoint(100.0, 70.0, 70.0, 70.0)  # those at other heights don't matter
    assert moved([*same[:2], below], 0, 200) == [100, 90, 100]
    assert moved(same, 95, 105) == [100] * 5  # no room
    assert moved(same, 95, 200) == [100, 110, 120, 130, 140]


@pytest.mark.parametrize("low", [0.0, -3.7, 0.123, 5e5])
@pytest.mark.parametrize("span", [0.0, 1e-4, 0.3, 0.9461, 1.0, 7.0, 1e9])
def test_ticks_enclose_the_range_with_few_round_numbers(low, span):
    found = ticks(low, low + span)
    slack = 1e-6 * max(span, 1e-9)
    assert 2 <= len(found) <= 7
    assert found[0] <= low + slack
    assert found[-1] >= low + span - slack
    assert found == sorted(set(found))


@pytest.mark.parametrize("end", [2.9, 40, 10**3, 10**8, 10**15])
@pytest.mark.parametrize("marks", [(), (20, 10, 40)])
def test_counts_along_an_axis_keep_their_distance_and_marks_come_first(end, marks):
    scale = Scale(math.log(2.1), math.log(end), LEFT, RIGHT)
    found = count_ticks(scale, marks)
    places = sorted(x for x, _ in found)
    assert len(found) <= 7 and all(LEFT < x <= RIGHT for x in places)
    assert all(high - low >= 60 for low, high in pairwise(places))
    if marks and 40 <= end <= 10**8:  # else it is beyond the axis, or at its very beginning
        assert found[0][1] == "20"


def test_a_plot_that_would_tell_nothing_is_not_there():
    references = make_reference("r", 0.1), make_entry("No score", None)
    page = page_of(Standing(read_board("sraven-v1"), references))
    assert not panels_of(page) and len(rows_of(page)) == 2
    alike = [make_entry("a", 0.5), make_entry("b", 0.4, parameters=None), make_reference("r", 0.1)]
    assert not panels_of(page_of(Standing(read_board("sraven-v1"), tuple(alike))))
    other = make_entry("c", 0.4, parameters=10**6)
    [panel] = panels_of(page_of(Standing(read_board("sraven-v1"), (*alike, other))))
    assert panel["aria-label"].startswith("Accuracy on ood against parameters;")


# Numbers and long texts


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (0.7, 0.01, ("0.7000", "0.0100")),
        (0.0002, 0.00003, ("0.00020", "0.00003")),  # ± 0.0000 would claim too much
        (0.5, 0.0, ("0.5000", "0.0000")),
        (None, None, ("–", "")),
        (1e300, 1e300, ("1e+300", "1e+300")),
        (6e-8, None, ("6.0 × 10⁻⁸", "")),  # 0.0000 would say nothing
        (-0.0, None, ("0", "")),
    ],
)
def test_scores_have_as_many_digits_as_their_error(value, error, text):
    assert score_and_error(value, error) == text


def test_counts_and_texts_in_short():
    assert [compact(n).replace("\u00a0", " ") for n in (0, 65_536, 20_000_000, 6_400_000, 130 * 10**9)] == [
        "0",
        "65,536",
        "20 M",
        "6.4 M",
        "130 B",
    ]
    assert [shortened(text, 4) for text in ("abcd", "abcdef", "ab def")] == ["abcd", "abc…", "ab…"]
