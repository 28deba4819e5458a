"""The page in a browser as it opens: results first, boards that fold, and addresses that open them."""

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from helpers.browser import visible
from helpers.leaderboard_example import (
    make_corpus_standing,
    make_entry,
    make_reference,
    make_reported,
    make_standing,
)
from sraven.core.boards.board import board_ids, read_board
from sraven.core.leaderboard.standing import Standing

SCREEN = {1280: 800, 390: 844}


def all_boards():
    """Return every ranked board: two with entries, the others with none."""
    boards = [board for board in map(read_board, board_ids()) if board.is_ranked]
    full = {each.board.id: each for each in (make_standing(), make_corpus_standing())}
    return [full.get(board.id, Standing(board, ())) for board in boards]


def is_open(driver, board):
    return driver.execute_script(
        "return document.querySelector(arguments[0]).open", f"[data-board='{board}'] > details"
    )


def bottom(driver, selector):
    edges = (
        "return Array.from(document.querySelectorAll(arguments[0]), (e) => e.getBoundingClientRect().bottom)"
    )
    return driver.execute_script(edges, selector)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", SCREEN)
def test_results_are_on_the_first_screen(open_page, width, scheme):
    driver = open_page(*all_boards(), width=width, scheme=scheme, folded=True)
    assert len(visible(driver, ".board")) == 6
    results = bottom(driver, ".board > details > summary")
    assert (max(results) if width > 1000 else results[0]) <= SCREEN[width]
    assert driver.execute_script("return document.documentElement.scrollHeight") <= 6 * SCREEN[width]
    assert driver.execute_script("return document.documentElement.scrollWidth") <= width
    assert not visible(driver, ".entry, .contents")


STANDINGS = {
    "nobody": (),
    "reported": [make_reported(f"HYLA {number}", 0.7 - number / 100) for number in range(4)],
    "references": [make_reference("uniform-random", 0.0002)],
    "many": [
        make_entry(f"method {'x' * number} {number}", 0.9 - number / 100, rank=number + 1)
        for number in range(60)
    ],
}


@pytest.mark.parametrize("width", [390, 768, 1280])
@pytest.mark.parametrize("name", STANDINGS)
def test_any_number_of_entries_fits(open_page, name, width):
    driver = open_page(Standing(read_board("sraven-v1"), tuple(STANDINGS[name])), width=width)
    assert driver.execute_script("return document.documentElement.scrollWidth") <= width
    assert len(visible(driver, ".entry")) == len(STANDINGS[name])
    wider = "return Array.from(document.querySelectorAll('.scroll'), (e) => e.scrollWidth - e.clientWidth)"
    assert sum(driver.execute_script(wider)) == 0
    assert len(visible(driver, ".board > details > summary .strip")) == 1


def test_an_address_opens_its_board_and_goes_there(open_page):
    driver = open_page(*all_boards(), folded=True)
    page = driver.current_url
    driver.get(f"{page}#c4-v1")
    assert is_open(driver, "c4-v1") and not is_open(driver, "sraven-v1")
    top = "return document.querySelector('[data-board=\"c4-v1\"]').getBoundingClientRect().top"
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
    driver = open_page(*all_boards(), folded=True)
    page = driver.current_url
    first = driver.find_element(By.CSS_SELECTOR, "[data-board='sraven-v1'] summary")
    for _ in range(20):
        ActionChains(driver).send_keys(Keys.TAB).perform()
        if driver.switch_to.active_element == first:
            break
    assert driver.switch_to.active_element == first
    assert driver.execute_script("return getComputedStyle(arguments[0]).outlineStyle", first) == "solid"
    ActionChains(driver).send_keys(Keys.ENTER).perform()
    assert is_open(driver, "sraven-v1") and driver.current_url == f"{page}#sraven-v1"
    ActionChains(driver).send_keys(Keys.ENTER).perform()
    assert not is_open(driver, "sraven-v1") and driver.current_url == page
    ActionChains(driver).send_keys(Keys.TAB, Keys.ENTER).perform()  # the link behind it
    assert is_open(driver, "sraven-v1") and driver.current_url == f"{page}#sraven-v1"


def test_a_filter_opens_the_boards_that_it_finds_something_on(open_page):
    driver = open_page(*all_boards(), folded=True)
    driver.find_element(By.CSS_SELECTOR, ".filters > summary").click()
    driver.find_element(By.ID, "filter-text").send_keys("softmax")
    assert is_open(driver, "c4-v1") and not is_open(driver, "sraven-v1")
    assert [row.get_attribute("data-entry") for row in visible(driver, ".entry")] == ["c4-v1-2"]


def test_paper_shows_every_board(open_page):
    driver = open_page(make_standing(), folded=True)
    shown = "return document.querySelector('.contents').checkVisibility()"
    assert not driver.execute_script(shown)
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        assert driver.execute_script(shown)  # by the style sheet alone
        driver.execute_script("window.dispatchEvent(new Event('beforeprint'))")
        assert is_open(driver, "sraven-v1")
        driver.execute_script("window.dispatchEvent(new Event('afterprint'))")
        assert not is_open(driver, "sraven-v1")
    finally:
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
