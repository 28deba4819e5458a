"""The page in a browser: at any width, in light and dark, everything is there and can be read."""

import json

from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from helpers.browser import OPEN, RATIOS, look
from helpers.leaderboard_example import make_entry, make_hostile, make_reference, make_standing
from sraven.board.board import read_board
from sraven.leaderboard.standing import Standing

SIZES = """
const told = (each) => Array.from(each.childNodes).some((node) => node.nodeType === 3 && node.data.trim());
const all = Array.from(document.body.querySelectorAll('*'));
return [...new Set(all.filter(told).map((each) => getComputedStyle(each).fontSize))];
"""
HEIGHTS = "return Array.from(document.querySelectorAll('.name'), (e) => e.getClientRects()[0].height)"
DRAWN = (
    "return Array.from(document.images, (each) => [each.currentSrc.length, each.naturalWidth, each.width])"
)


def long_board():
    """Return a board with a name without spaces, and a number of digits that hardly fits."""
    entries = make_entry(
        "endless" * 40, 0.6, rank=1, description="y" * 400, family="z" * 200, parameters=10**15
    )
    return Standing(read_board("sraven-unique-v1"), (entries, make_reference("r", 0.0002)))


def test_everything_is_whole_at_any_width_and_readable_in_light_and_dark(open_page):
    driver = open_page(make_standing(), long_board(), make_hostile())
    drawn = []
    for width in (360, 820, 1280):
        look(driver, width)
        assert driver.execute_script("return document.documentElement.scrollWidth") <= width
        # A name that looks like nothing, or climbs over its neighbours, would be of another height.
        heights = driver.execute_script(HEIGHTS)
        assert min(heights) > 10 and max(heights) < 40
        drawn.append(driver.execute_script(DRAWN))
        assert all(natural and 0.8 < shown / natural <= 1 for _, natural, shown in drawn[-1])
    assert [source for source, _, _ in drawn[0]] != [source for source, _, _ in drawn[2]]
    assert len(driver.execute_script(SIZES)) <= 5
    grounds = set()
    for scheme in ("light", "dark"):
        look(driver, 1280, scheme)
        grounds.add(driver.execute_script("return getComputedStyle(document.body).backgroundColor"))
        ratios = driver.execute_script(RATIOS)
        assert len(ratios) > 200 and min(ratios)[0] >= 4.5, (scheme, min(ratios))
    assert len(grounds) == 2


def test_rows_are_labelled_cards_on_a_phone(open_page):
    driver = open_page(width=360)
    [cell] = driver.find_elements(
        By.CSS_SELECTOR, "#sraven-v1\\/20261121-alpha td[data-label='gap to ceiling']"
    )
    label = driver.execute_script("return getComputedStyle(arguments[0], '::before').content", cell)
    assert "gap to ceiling" in label and cell.rect["x"] + cell.rect["width"] <= 360


def test_a_link_to_what_is_folded_opens_it(open_page):
    driver = open_page()
    driver.execute_script(OPEN.replace("true", "false"))
    driver.execute_script("location.hash = 'sraven-v1/20261121-gamma'")
    row = driver.find_element(By.ID, "sraven-v1/20261121-gamma")
    WebDriverWait(driver, 20).until(lambda driver: row.is_displayed())


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
