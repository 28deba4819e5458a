"""The leaderboard's page in a browser: opened from a file, sorted, filtered, on a phone, in the dark."""

import json
import shutil
from itertools import combinations
from urllib.parse import urlsplit

import pytest
from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

from helpers.leaderboard_example import (
    make_corpus_standing,
    make_diagnostic,
    make_entry,
    make_hostile,
    make_standing,
)
from sraven.core.page.page import write_page

ARGUMENTS = ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu")

OPEN = "document.querySelectorAll('details').forEach((each) => { each.open = true; })"

RATIOS = """
// The contrast of every text with what lies behind it: WCAG 2.1, relative luminance.
const parse = (color) => color.match(/[\\d.]+/g).map(Number);
const luminance = (color) => {
  const [r, g, b] = parse(color).slice(0, 3).map((part) => {
    const share = part / 255;
    return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const behind = (element) => {
  for (let each = element; each; each = each.parentElement) {
    const color = getComputedStyle(each).backgroundColor;
    const [, , , alpha = 1] = parse(color);
    if (alpha === 1) { return color; }
    if (alpha !== 0) { throw new Error('half transparent: ' + color); }
  }
  return 'rgb(255, 255, 255)';
};
const ratios = [];
for (const element of document.body.querySelectorAll('*')) {
  const told = Array.from(element.childNodes).some((node) => node.nodeType === 3 && node.data.trim());
  if (told && element.checkVisibility({ visibilityProperty: true }) && element.tagName !== 'title') {
    const style = getComputedStyle(element);
    const color = element instanceof SVGElement ? style.fill : style.color;
    const [one, other] = [luminance(color), luminance(behind(element))].sort((a, b) => b - a);
    ratios.push([(one + 0.05) / (other + 0.05), element.outerHTML.slice(0, 100)]);
  }
}
return ratios;
"""


@pytest.fixture(scope="session")
def driver():
    """A browser for all tests; each opens its own page."""
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if not (browser and shutil.which("chromedriver")):
        pytest.skip("no Chromium with its driver here, so the page isn't looked at in a browser")
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for argument in ARGUMENTS:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    try:
        started = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    except WebDriverException as error:
        pytest.skip(f"Chromium doesn't start here: {str(error.msg).splitlines()[0]}")
    yield started
    started.quit()


@pytest.fixture
def open_page(driver, tmp_path):
    """Write a page and open it as a file, at a width and in a colour scheme; errors fail the test."""

    def open_it(*standings, width=1280, scheme="light"):
        # Without motion, a click finds its goal where it was.
        media = {"prefers-color-scheme": scheme, "prefers-reduced-motion": "reduce"}
        features = [{"name": name, "value": value} for name, value in media.items()]
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        driver.get(write_page(tmp_path, standings or [make_standing()]).as_uri())
        return driver

    for log in ("browser", "performance"):
        driver.get_log(log)
    yield open_it
    assert driver.get_log("browser") == []


# checkVisibility alone says true of what lies in an SVG group that isn't displayed.
VISIBLE = """
return Array.from(document.querySelectorAll(arguments[0])).filter(
  (each) => each.checkVisibility({ visibilityProperty: true }) && each.getClientRects().length);
"""


def visible(driver, selector):
    return driver.execute_script(VISIBLE, selector)


def methods(driver, body=1):
    """Return the names that one of the tables' groups shows."""
    shown = visible(driver, f"tbody:nth-of-type({body}) .name")
    return driver.execute_script("return arguments[0].map((each) => each.textContent)", shown)


def heading(driver, key):
    return driver.find_element(By.CSS_SELECTOR, f".standing > thead .{key}")


OWN = ["alpha", "Paper best", "Beta", "Paper second", "gamma", "No score"]


def test_page_asks_nobody_for_anything(open_page):
    driver = open_page()
    events = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    sent = [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]
    assert [url for url in sent if not url.startswith("data:")] == [driver.current_url]
    assert driver.current_url.startswith("file:")
    assert driver.execute_script("return performance.getEntriesByType('resource').length") == 0


def test_hostile_texts_do_nothing(open_page):
    driver = open_page(make_hostile())
    assert len(driver.find_elements(By.TAG_NAME, "script")) == 1
    for name in driver.find_elements(By.CSS_SELECTOR, ".name")[:3]:
        ActionChains(driver).move_to_element(name).perform()
        assert name.text.startswith("<script>alert(1)</script>")
    links = driver.find_elements(By.TAG_NAME, "a")
    hosts = {urlsplit(link.get_attribute("href")).hostname for link in links}
    assert {host for host in hosts if host and not host.endswith(".evil.example")} == {"example.org"}
    for link in driver.find_elements(By.CSS_SELECTOR, ".links a"):
        host = urlsplit(link.get_attribute("href")).hostname
        told = link.find_element(By.CLASS_NAME, "host").text
        assert host.endswith(told.removeprefix("…")) and len(told) <= 28
    assert driver.execute_script("return document.querySelectorAll('[onmouseover], img, iframe').length") == 0


@pytest.mark.parametrize(
    ("width", "scheme"), [(390, "light"), (390, "dark"), (1280, "light"), (1280, "dark")]
)
def test_hostile_page_is_whole_at_any_width(open_page, width, scheme):
    driver = open_page(make_hostile(), make_corpus_standing(), width=width, scheme=scheme)
    assert driver.execute_script("return document.documentElement.scrollWidth <= window.innerWidth")
    assert len(visible(driver, "tr.entry")) == len(make_hostile().entries) + len(
        make_corpus_standing().entries
    )
    driver.execute_script(OPEN)
    low = min(ratio for ratio, _ in driver.execute_script(RATIOS))
    assert low >= 4.5
    # A name that looks like nothing, or climbs over its neighbours, would be of another height.
    heights = driver.execute_script(
        "return Array.from(document.querySelectorAll('bdi.name'), (each) => each.getClientRects()[0].height)"
    )
    assert min(heights) > 10 and max(heights) < 40


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


def test_style_and_script_pass_the_policy_and_nothing_else_does(open_page):
    driver = open_page()
    assert driver.execute_script("return getComputedStyle(document.body).margin") != "8px"
    assert visible(driver, ".filters")
    driver.execute_script(
        "const script = document.createElement('script'); script.textContent = 'window.planted = 1';"
        "document.body.append(script); document.body.setAttribute('onclick', 'window.planted = 2');"
        "document.body.click();"
    )
    assert driver.execute_script("return window.planted") is None
    refused = driver.get_log("browser")
    assert len(refused) == 2
    assert all("Content Security Policy" in entry["message"] for entry in refused)


def test_click_sorts_within_each_budget_and_says_so(open_page):
    driver = open_page()
    assert methods(driver) == OWN
    assert heading(driver, "primary").get_attribute("aria-sort") == "descending"
    heading(driver, "primary").find_element(By.TAG_NAME, "button").click()
    assert methods(driver) == ["gamma", "Paper second", "Beta", "Paper best", "alpha", "No score"]
    assert heading(driver, "primary").get_attribute("aria-sort") == "ascending"
    heading(driver, "method").find_element(By.TAG_NAME, "button").click()
    assert methods(driver) == ["alpha", "Beta", "gamma", "No score", "Paper best", "Paper second"]
    assert heading(driver, "method").get_attribute("aria-sort") == "ascending"
    assert heading(driver, "primary").get_attribute("aria-sort") is None
    assert [methods(driver, body) for body in (2, 3, 4)] == [["Delta"], ["Omega"], ["Huge"]]


def test_every_column_but_links_sorts_by_keyboard_with_missing_last(open_page):
    driver = open_page()
    expected = {
        "rank": ["alpha", "Beta"],
        "badge-cell": ["Paper best", "Paper second", "alpha", "Beta", "gamma", "No score"],
        "gap": ["alpha", "Paper best", "Beta", "Paper second", "gamma", "No score"],
        "parameters": ["alpha", "Paper second", "gamma", "No score", "Beta", "Paper best"],
        "date": ["gamma", "Beta", "alpha", "No score"],
    }
    for key, order in expected.items():
        button = heading(driver, key).find_element(By.TAG_NAME, "button")
        button.send_keys(Keys.ENTER)
        found = methods(driver)
        assert sorted(found) == sorted(OWN)
        if key in ("badge-cell", "parameters"):
            assert sorted(found[:3]) == sorted(order[:3])
        else:
            assert found[: len(order)] == order
    assert not heading(driver, "links").find_elements(By.TAG_NAME, "button")


def points(driver):
    """Return the entries whose points the first plot shows."""
    return entries(driver, ".panel:first-child .point .mark")


def rows(driver):
    """Return the entries whose rows are shown."""
    return entries(driver, ".entry")


def entries(driver, selector):
    """Return whose parts are shown."""
    names = "return arguments[0].map((each) => each.closest('[data-entry]').dataset.entry)"
    return set(driver.execute_script(names, visible(driver, selector)))


def test_filters_hide_rows_and_their_points(open_page):
    driver = open_page()
    whole = {f"sraven-v1-{number}" for number in range(11)}
    assert rows(driver) == whole
    assert points(driver) == whole - {"sraven-v1-10"}
    field = driver.find_element(By.ID, "filter-text")
    field.send_keys("PAPER  best")
    assert rows(driver) == points(driver) == {"sraven-v1-3"}
    assert driver.find_element(By.ID, "filter-status").text == "1 of 11 entries"
    assert len(visible(driver, ".group")) == 1
    driver.find_element(By.ID, "filter-reset").click()
    assert rows(driver) == whole
    driver.find_element(By.CSS_SELECTOR, ".badge-filter[value=reported]").click()
    assert rows(driver) == whole - {"sraven-v1-3", "sraven-v1-5"}
    assert points(driver) == whole - {f"sraven-v1-{number}" for number in (3, 5, 10)}
    Select(driver.find_element(By.ID, "filter-budget")).select_by_value("10000000")
    assert rows(driver) == points(driver) == {"sraven-v1-7"}
    assert driver.find_element(By.ID, "filter-status").text == "1 of 11 entries"


def test_board_without_a_match_says_so(open_page):
    driver = open_page()
    driver.find_element(By.ID, "filter-text").send_keys("nothing like it")
    assert not visible(driver, ".entry, figure, .standing, .notes")
    [said] = visible(driver, ".nobody")
    assert said.text == "No entry of this board matches the filter."
    driver.find_element(By.ID, "filter-reset").click()
    assert not visible(driver, ".nobody")


def test_point_shows_its_name_and_row_on_hover_and_by_keyboard(open_page):
    driver = open_page()
    first = driver.find_element(By.CSS_SELECTOR, ".plot .point[tabindex='0']")
    driver.execute_script("arguments[0].focus()", first)
    walked = []
    for _ in range(10):
        walked.append(driver.switch_to.active_element.get_attribute("data-entry"))
        [tip] = visible(driver, ".panel:first-child .tip")
        [lit] = driver.find_elements(By.CSS_SELECTOR, "tr.lit")
        assert tip.get_attribute("data-entry") == lit.get_attribute("data-entry") == walked[-1]
        driver.switch_to.active_element.send_keys(Keys.ARROW_RIGHT)
    assert len(set(walked)) == 10  # each once, and the last stays
    row = driver.find_element(By.CSS_SELECTOR, "tr[data-entry='sraven-v1-4']")
    ActionChains(driver).move_to_element(row).perform()
    shown = {tip.get_attribute("data-entry") for tip in visible(driver, ".tip")}
    assert shown == {"sraven-v1-4"}
    assert "Beta" in visible(driver, ".tip")[0].text


BOXES = """
return Array.from(document.querySelectorAll('.plot')).map((plot) =>
  Array.from(plot.querySelectorAll('.label, .ceiling-label')).map((label) => {
    const { left, top, right, bottom } = label.getBoundingClientRect();
    return [left, top, right, bottom];
  }));
"""


def test_direct_labels_do_not_overlap(open_page):
    many = [make_entry(f"a method, number {number}", 0.3 + 0.013 * number) for number in range(40)]
    for width in (360, 820, 1280):
        driver = open_page(make_standing(), make_diagnostic(*many), width=width)
        driver.execute_script(OPEN)
        plots = driver.execute_script(BOXES)
        assert [len(boxes) > 1 for boxes in plots] == [True] * 4
        for boxes in plots:
            for one, other in combinations(boxes, 2):
                across = min(one[2], other[2]) - max(one[0], other[0])
                along = min(one[3], other[3]) - max(one[1], other[1])
                assert across <= 0 or along <= 3, (width, one, other)  # 3: leading, in which nothing is drawn


@pytest.mark.parametrize("width", [360, 820, 1280])
def test_page_never_scrolls_sideways(open_page, width):
    endless = make_entry("endless" * 40, 0.6, description="y" * 400, family="z" * 200)
    driver = open_page(
        make_standing(), make_corpus_standing(), make_hostile(), make_diagnostic(endless), width=width
    )
    driver.execute_script(OPEN)
    assert driver.execute_script("return document.documentElement.scrollWidth") <= width


def test_rows_are_labelled_cards_on_a_phone(open_page):
    driver = open_page(width=360)
    card = driver.find_element(By.CSS_SELECTOR, "tr[data-entry='sraven-v1-2']")
    assert driver.execute_script("return getComputedStyle(arguments[0]).display", card) == "grid"
    for cell in card.find_elements(By.CSS_SELECTOR, "td"):
        assert cell.rect["x"] >= 0
        assert cell.rect["x"] + cell.rect["width"] <= 360
    label = "return getComputedStyle(arguments[0], '::before').content"
    gap = card.find_element(By.CSS_SELECTOR, ".gap")
    assert driver.execute_script(label, gap) == '"Gap to ceiling"'
    heading(driver, "method").find_element(By.TAG_NAME, "button").click()
    assert methods(driver)[:2] == ["alpha", "Beta"]


def test_light_and_dark_differ_and_every_text_is_readable(open_page):
    grounds = set()
    for scheme in ("light", "dark"):
        diagnostic = make_diagnostic(make_entry("alpha", 0.5))
        driver = open_page(make_standing(), make_corpus_standing(), diagnostic, scheme=scheme)
        driver.execute_script(OPEN)
        ground = "return getComputedStyle(document.body).backgroundColor"
        grounds.add(driver.execute_script(ground))
        ratios = driver.execute_script(RATIOS)
        assert len(ratios) > 200
        assert min(ratios)[0] >= 4.5, (scheme, min(ratios))
    assert len(grounds) == 2


def test_page_reads_without_script(open_page):
    driver = open_page()
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        driver.refresh()
        assert methods(driver) == OWN
        assert not visible(driver, ".filters, thead button")
        assert len(visible(driver, ".plot")) == 2
    finally:
        driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_lowest_loss_comes_first_and_last_on_click(open_page):
    driver = open_page(make_corpus_standing())
    assert methods(driver) == ["hyla", "softmax", "short"]
    heading(driver, "primary").find_element(By.TAG_NAME, "button").click()
    assert methods(driver) == ["short", "softmax", "hyla"]


def test_filter_by_badge_knows_those_that_are_self_reported(open_page):
    driver = open_page(make_corpus_standing(), make_standing())
    shown = [box.get_attribute("value") for box in driver.find_elements(By.CSS_SELECTOR, ".badge-filter")]
    assert shown == ["scored", "self-reported", "reproduced", "reported"]
    driver.find_element(By.CSS_SELECTOR, ".badge-filter[value='self-reported']").click()
    assert methods(driver)[:2] == ["softmax", "alpha"]
    assert "self-reported" not in {
        row.get_attribute("data-badge") for row in visible(driver, "tr[data-entry]")
    }
