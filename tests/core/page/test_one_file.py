"""The page is one file, which asks no host for anything and is the same each time."""

import base64
import hashlib
import re

from helpers.leaderboard_example import make_standing
from helpers.page import Page, example_page
from sraven.core.page.page import make_page, write_page


def test_page_asks_no_host_for_anything():
    html = make_page([make_standing()])
    page = Page(html)
    fetching = ("src", "srcset", "action", "data", "poster", "background", "xlink:href", "ping")
    for tag, attributes in page.elements:
        assert not [name for name in attributes if name in fetching], (tag, attributes)
        if "href" in attributes and tag != "a":
            assert (tag, attributes["rel"]) == ("link", "icon")
            assert attributes["href"].startswith("data:image/svg+xml,")
    addresses = set(re.findall(r"https?://[^\s\"'<>]+", html))
    assert addresses == {"https://example.org/paper", "http://example.org/code", "http://www.w3.org/2000/svg"}
    [(_, style)] = page.find("style")
    assert not re.search(r"url\(|@import|@font-face", style)


def test_policy_allows_the_inlined_style_and_script_alone():
    page = example_page()
    [(policy, _)] = page.find("meta", http_equiv="Content-Security-Policy")
    rules = dict(rule.split(" ", 1) for rule in policy["content"].split("; "))

    def checksum(tag):
        [(_, text)] = page.find(tag)
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    assert rules == {
        "default-src": "'none'",
        "style-src": checksum("style"),
        "script-src": checksum("script"),
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }


def test_page_is_written_whole_and_is_the_same_each_time(tmp_path):
    path = write_page(tmp_path / "new" / "folder", [make_standing()])
    assert path == tmp_path / "new" / "folder" / "index.html"
    first = path.read_bytes()
    assert write_page(path.parent, [make_standing()]).read_bytes() == first
    assert list(path.parent.iterdir()) == [path]
    assert first.startswith(b'<!doctype html>\n<html lang="en">')
