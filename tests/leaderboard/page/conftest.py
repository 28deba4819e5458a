"""A browser that all tests of the page share."""

import shutil

import pytest

from helpers.browser import OPEN, look
from helpers.leaderboard_example import make_standing
from sraven.leaderboard.page.page import make_page

ARGUMENTS = ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu")


@pytest.fixture
def undrawn(monkeypatch):
    """Pages without pictures, which take most of their time; tests of pictures draw them by themselves."""
    monkeypatch.setattr("sraven.leaderboard.page.page.draw", lambda *drawn: "<svg/>")


@pytest.fixture(scope="session")
def driver():
    """A browser for all tests; each opens its own page."""
    pytest.importorskip("selenium")
    from selenium import webdriver
    from selenium.common.exceptions import WebDriverException
    from selenium.webdriver.chrome.service import Service

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
def quiet(driver):
    """The browser, in which errors of a page fail the test."""
    for log in ("browser", "performance"):
        driver.get_log(log)
    yield driver
    driver.get("about:blank")  # a page that stays open goes on blinking, at the other tests' cost
    assert driver.get_log("browser") == []


@pytest.fixture
def open_page(quiet, tmp_path):
    """Write a page and open it as a file, at a width, with all that is folded open; errors fail the test."""

    def open_it(*standings, width=1280):
        look(quiet, width)
        path = tmp_path / "index.html"
        path.write_text(make_page(standings or [make_standing()]), encoding="utf-8")
        quiet.get(path.as_uri())
        quiet.execute_script(OPEN)
        return quiet

    return open_it
