"""The page in a browser: at any width, in light and dark, everything is there and can be read."""

import json
from dataclasses import replace
from itertools import combinations

import pytest

pytest.importorskip("selenium")

from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from helpers.browser import OPEN, RATIOS, heading, look, methods, visible
from helpers.leaderboard_example import (
    make_diagnostic,
    make_entry,
    make_error_standing,
    make_hostile,
    make_reference,
    make_reported,
    make_standing,
)
from sraven.board.board import board_ids, read_board
from sraven.leaderboard.standing import Standing

SCREEN = {1280: 800, 390: 844}


def boards_with(*all_entries):
    """Return boards that aren't ranked, each with some entries."""
    for number, entries in enumerate(all_entries):
        made = make_diagnostic(*entries)
        yield replace(made, board=replace(made.board, id=f"sraven-test-{number}"))


def everything():
    """Return standings with all that may be hard to show."""
    many = [
        make_entry(
            f"a method, number {number} {'x' * number}",
            0.3 + 0.013 * number,
            parameters=400_000 + number,
            train_instances=20_000_000 - number,
        )
        for number in range(12)
    ]
    far = [make_entry("far", 0.5, train_instances=65_536, parameters=10**8), make_reference("r", 0.1)]
    endless = make_entry("endless" * 40, 0.6, description="y" * 400, family="z" * 200)
    reported = [make_reported(f"HYLA {number}", 0.7 - number / 100) for number in range(4)]
    others = boards_with(many, (*many, *far), (endless,), (), reported, (make_reference("r", 0.0002),))
    return [make_standing(), make_error_standing(), make_hostile(), *others]


HOSTILE = 2  # whose numbers of 300 digits may need a table that scrolls


def bottoms(driver, selector):
    edges = (
        "return Array.from(document.querySelectorAll(arguments[0]), (e) => e.getBoundingClientRect().bottom)"
    )
    return driver.execute_script(edges, selector)


def test_results_are_on_the_first_screen(open_page):
    boards = [board for board in map(read_board, board_ids()) if board.is_ranked][:6]
    full = {each.board.id: each for each in (make_standing(), make_error_standing())}
    driver = open_page(*(full.get(board.id, Standing(board, ())) for board in boards), folded=True)
    for width, height in SCREEN.items():
        look(driver, width)
        assert len(visible(driver, ".board")) == len(boards) == len(visible(driver, ".where"))
        results = bottoms(driver, ".board > details > summary")
        assert (max(results) if width > 1000 else results[0]) <= height
        assert driver.execute_script("return document.documentElement.scrollHeight") <= 6 * height
        assert not visible(driver, ".entry, .contents")


BOXES = """
const shown = (text) => text.checkVisibility({ visibilityProperty: true }) && text.getClientRects().length;
return Array.from(document.querySelectorAll('.plot')).map((plot) =>
  Array.from(plot.querySelectorAll(arguments[0])).filter(shown).map((text) => {
    const { left, top, right, bottom } = text.getBoundingClientRect();
    return [left, top, right, bottom];
  }));
"""


def words_overlap(driver):
    """Return whether words of a plot lie on each other."""
    for words, least in ((".ceiling-label, .lower-label", 0), (".tick", 5)):
        plots = driver.execute_script(BOXES, words)
        assert min(map(len, plots)) >= least and len(plots) >= 7
        for one, other in (pair for boxes in plots for pair in combinations(boxes, 2)):
            across = min(one[2], other[2]) - max(one[0], other[0])
            along = min(one[3], other[3]) - max(one[1], other[1])
            if across > 0 and along > 3:  # 3: leading, in which nothing is drawn
                return True
    return False


WIDER = "return Array.from(document.querySelectorAll('.scroll'), (e) => e.scrollWidth - e.clientWidth)"
HEIGHTS = "return Array.from(document.querySelectorAll('bdi.name'), (e) => e.getClientRects()[0].height)"


def test_everything_is_whole_at_any_width_and_readable_in_light_and_dark(open_page):
    standings = everything()
    driver = open_page(*standings)
    driver.execute_script(OPEN)
    for width in (360, 820, 1280):
        look(driver, width)
        assert driver.execute_script("return document.documentElement.scrollWidth") <= width
        assert len(visible(driver, ".entry")) == sum(len(standing.entries) for standing in standings)
        assert len(visible(driver, ".board > details > summary .strip")) == len(standings)
        wider = driver.execute_script(WIDER)
        assert [number for number, more in enumerate(wider) if more] in ([], [HOSTILE])
        assert not words_overlap(driver)
        # A name that looks like nothing, or climbs over its neighbours, would be of another height.
        heights = driver.execute_script(HEIGHTS)
        assert min(heights) > 10 and max(heights) < 40
    grounds = set()
    for scheme in ("light", "dark"):
        look(driver, 1280, scheme)
        grounds.add(driver.execute_script("return getComputedStyle(document.body).backgroundColor"))
        ratios = driver.execute_script(RATIOS)
        assert len(ratios) > 200 and min(ratios)[0] >= 4.5, (scheme, min(ratios))
    assert len(grounds) == 2


def test_rows_are_labelled_cards_on_a_phone(open_page):
    driver = open_page(width=360)
    card = driver.find_element(By.CSS_SELECTOR, "tr[data-entry='sraven-v1-2']")
    assert driver.execute_script("return getComputedStyle(arguments[0]).display", card) == "flex"
    places = "return Array.from(arguments[0].querySelectorAll('td'), (e) => e.getBoundingClientRect())"
    for place in driver.execute_script(places, card):
        assert place["left"] >= 0 and place["right"] <= 360
    label = "return getComputedStyle(arguments[0], '::before').content"
    gap = card.find_element(By.CSS_SELECTOR, ".gap")
    assert driver.execute_script(label, gap) == '"Gap to ceiling "'
    score, links = (card.find_element(By.CLASS_NAME, name).rect["y"] for name in ("primary", "links"))
    assert score < links
    heading(driver, "method").find_element(By.TAG_NAME, "button").click()
    assert methods(driver)[:2] == ["alpha", "Beta"]


def test_paper_shows_every_board(open_page):
    driver = open_page(make_standing(), folded=True)
    shown = "return document.querySelector('.contents').checkVisibility()"
    is_open = "return document.querySelector('.board > details').open"
    assert not driver.execute_script(shown)
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        assert driver.execute_script(shown)  # by the style sheet alone
        for event, expected in (("beforeprint", True), ("afterprint", False)):
            driver.execute_script("window.dispatchEvent(new Event(arguments[0]))", event)
            assert driver.execute_script(is_open) == expected
    finally:
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


# Whatever got into the page would do nothing


DIRECTIVES = ("script-src", "style-src", "img-src", "connect-src", "object-src", "base-uri", "form-action")


def test_markup_that_got_through_would_neither_run_nor_ask_anyone(open_page):
    driver = open_page(make_hostile())
    driver.get_log("performance")
    driver.execute_script(
        """
        window.planted = [];
        const box = document.createElement('div');
        box.innerHTML = '<img src="https://evil.example/i" onerror="planted.push(1)">' +
            '<svg onload="planted.push(2)"></svg>' +
            '<iframe srcdoc="<script>parent.planted.push(3)</' + 'script>"></iframe>' +
            '<a id="run" href="javascript:planted.push(4)">x</a>' +
            '<base href="https://evil.example/">' +
            '<form action="https://evil.example/f"><button id="send">x</button></form>' +
            '<p style="background: url(https://evil.example/b)">x</p>' +
            '<link rel="stylesheet" href="https://evil.example/s"><object data="https://evil.example/o"></object>';
        document.body.append(box);
        document.getElementById('run').click();
        document.getElementById('send').click();
        try { fetch('https://evil.example/x').catch(() => {}); } catch (error) { /* as it should be */ }
        """
    )
    refused: list[str] = []
    WebDriverWait(driver, 20).until(
        lambda driver: (
            refused.extend(entry["message"] for entry in driver.get_log("browser"))
            or all(any(directive in message for message in refused) for directive in DIRECTIVES)
        )
    )
    assert all("Content Security Policy" in message for message in refused)
    assert driver.execute_script("return window.planted") == []
    assert driver.execute_script("return document.baseURI").startswith("file:")
    events = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    answered = [e["params"]["response"]["url"] for e in events if e["method"] == "Network.responseReceived"]
    assert [url for url in answered if "evil" in url] == []
    assert driver.current_url.startswith("file:")
    driver.get_log("browser")
