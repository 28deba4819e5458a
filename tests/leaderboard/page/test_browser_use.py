"""The page in a browser: sorted, filtered, pointed at, by mouse and keyboard."""

import pytest

pytest.importorskip("selenium")

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from helpers.browser import OPEN_BOARDS, OWN, heading, methods, points, rows, visible
from helpers.leaderboard_example import make_diagnostic, make_entry, make_error_standing, make_standing


def test_every_column_but_links_sorts_by_keyboard_with_missing_last(open_page):
    driver = open_page()
    assert methods(driver) == OWN
    assert [methods(driver, body) for body in (2, 3, 4)] == [["Delta"], ["Omega"], ["Huge"]]
    assert heading(driver, "primary").get_attribute("aria-sort") == "descending"
    expected = {
        "primary": ["gamma", "Paper second", "Beta", "Paper best", "alpha", "No score"],
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
        assert heading(driver, key).get_attribute("aria-sort") in ("ascending", "descending")
        assert sorted(found) == sorted(OWN)
        if key in ("badge-cell", "parameters"):
            assert sorted(found[:3]) == sorted(order[:3])
        else:
            assert found[: len(order)] == order
    assert heading(driver, "primary").get_attribute("aria-sort") is None
    assert not heading(driver, "links").find_elements(By.TAG_NAME, "button")


def test_an_order_can_be_linked(open_page):
    driver = open_page(make_standing(), make_diagnostic(make_entry("a", 0.5), make_entry("b", 0.4)))
    heading(driver, "parameters").find_element(By.TAG_NAME, "button").click()
    address = driver.current_url
    assert address.endswith("#sraven-v1/parameters/ascending")
    driver.get(address.replace("ascending", "descending"))
    assert heading(driver, "parameters").get_attribute("aria-sort") == "descending"
    driver.refresh()
    assert methods(driver)[:2] == ["Beta", "alpha"]
    page = address.partition("#")[0]
    driver.get(f"{page}#sraven-test-v1/method/descending")
    names = visible(driver, "#sraven-test-v1 .name")
    assert [name.text for name in names] == ["b", "a"]  # its section is open
    no_orders = "sraven-v1/20261121-alpha", "sraven-v1/links/ascending", "sraven-v1/gap/constructor", "%zz/</"
    for other in no_orders:
        driver.get(f"{page}#{other}")
        driver.refresh()
        driver.execute_script(OPEN_BOARDS)
        shown = visible(driver, "[data-board='sraven-v1'] tbody:nth-of-type(1) .name")
        assert [name.text for name in shown] == OWN


def is_open(driver, board):
    selector = f"[data-board='{board}'] > details"
    return driver.execute_script("return document.querySelector(arguments[0]).open", selector)


def test_an_address_opens_its_board_and_goes_there(open_page):
    driver = open_page(make_standing(), make_error_standing(), folded=True)
    page = driver.current_url
    driver.get(f"{page}#fuzzylogic-v1")
    assert is_open(driver, "fuzzylogic-v1") and not is_open(driver, "sraven-v1")
    top = "return document.querySelector('[data-board=\"fuzzylogic-v1\"]').getBoundingClientRect().top"
    assert -2 <= driver.execute_script(top) <= 2 or driver.execute_script(
        "return window.scrollY + window.innerHeight >= document.documentElement.scrollHeight - 2"
    )
    driver.get(f"{page}#sraven-v1/20261121-alpha")  # an entry
    assert is_open(driver, "sraven-v1")
    row = driver.find_element(By.ID, "sraven-v1/20261121-alpha")
    assert -2 <= driver.execute_script("return arguments[0].getBoundingClientRect().top", row) < 900
    driver.get(f"{page}#how-to-submit")
    assert visible(driver, "#how-to-submit")


def test_boards_open_and_fold_by_keyboard_and_the_address_follows(open_page):
    driver = open_page(make_standing(), make_error_standing(), folded=True)
    page = driver.current_url
    first = driver.find_element(By.CSS_SELECTOR, "[data-board='sraven-v1'] summary")
    for _ in range(20):
        ActionChains(driver, duration=0).send_keys(Keys.TAB).perform()
        if driver.switch_to.active_element == first:
            break
    assert driver.execute_script("return getComputedStyle(document.activeElement).outlineStyle") == "solid"
    # The last key presses the link behind it.
    for keys, opens in (([Keys.ENTER], True), ([Keys.ENTER], False), ([Keys.TAB, Keys.ENTER], True)):
        ActionChains(driver, duration=0).send_keys(*keys).perform()
        assert is_open(driver, "sraven-v1") == opens
        assert driver.current_url == (f"{page}#sraven-v1" if opens else page)


def test_a_filter_opens_the_boards_that_it_finds_something_on(open_page):
    driver = open_page(make_standing(), make_error_standing(), folded=True)
    driver.find_element(By.CSS_SELECTOR, ".filters > summary").click()
    driver.find_element(By.ID, "filter-text").send_keys("softmax")
    assert is_open(driver, "fuzzylogic-v1") and not is_open(driver, "sraven-v1")
    assert [row.get_attribute("data-entry") for row in visible(driver, ".entry")] == ["fuzzylogic-v1-2"]


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


def test_losses_are_sorted_lowest_first_and_filtered_by_badge_and_what_finds_nothing_is_told(open_page):
    driver = open_page(make_error_standing(), make_standing())
    assert methods(driver)[:3] == ["hyla", "softmax", "short"]
    heading(driver, "primary").find_element(By.TAG_NAME, "button").click()
    assert methods(driver)[:3] == ["short", "softmax", "hyla"]
    shown = [box.get_attribute("value") for box in driver.find_elements(By.CSS_SELECTOR, ".badge-filter")]
    assert shown == ["scored", "reproduced", "reported"]
    driver.find_element(By.CSS_SELECTOR, ".badge-filter[value='scored']").click()
    assert methods(driver)[:2] == ["softmax", "alpha"]
    driver.find_element(By.ID, "filter-text").send_keys("nothing like it")
    assert not visible(driver, ".entry, figure, .standing, .notes")
    said = [each.text for each in visible(driver, ".nobody")]
    assert said == ["No entry of this board matches the filter."] * 2
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


def test_page_reads_without_script(open_page):
    driver = open_page()
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        address = driver.current_url
        driver.get("about:blank")
        driver.get(f"{address}#sraven-v1")  # a browser opens what holds the target of a link
        assert methods(driver) == OWN
        assert not visible(driver, ".filters, thead button")
        assert len(visible(driver, ".plot")) == 2
    finally:
        driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
