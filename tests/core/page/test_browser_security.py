"""The page in a browser: it asks nobody for anything, and whatever got into it would do nothing."""

import json
from urllib.parse import urlsplit

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from helpers.browser import visible
from helpers.leaderboard_example import make_hostile


def test_hostile_texts_do_nothing(open_page):
    driver = open_page(make_hostile())
    assert len(driver.find_elements(By.TAG_NAME, "script")) == 1
    for name in driver.find_elements(By.CSS_SELECTOR, ".name")[:3]:
        ActionChains(driver).move_to_element(name).perform()
        assert name.text.startswith("<script>alert(1)</script>")
    links = driver.find_elements(By.TAG_NAME, "a")
    hosts = {urlsplit(link.get_attribute("href")).hostname for link in links}
    assert {host for host in hosts if host and not host.endswith(".evil.example")} == {"example.org"}
    assert driver.execute_script("return document.querySelectorAll('[onmouseover], img, iframe').length") == 0


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
    assert driver.execute_script("return performance.getEntriesByType('resource').length") == 0
    driver.execute_script(
        "const script = document.createElement('script'); script.textContent = 'window.planted = 1';"
        "document.body.append(script); document.body.setAttribute('onclick', 'window.planted = 2');"
        "document.body.click();"
    )
    assert driver.execute_script("return window.planted") is None
    refused = driver.get_log("browser")
    assert len(refused) == 2
    assert all("Content Security Policy" in entry["message"] for entry in refused)
