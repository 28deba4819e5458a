"""The leaderboard's page as a tree of elements, for tests that look into it."""

from functools import cache
from html.parser import HTMLParser

from helpers.leaderboard_example import make_standing
from sraven.leaderboard.page.page import make_page


class Page(HTMLParser):
    """All elements of a page as (tag, attributes), and the text that each opened."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.elements, self.texts = [], []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        assert len(attrs) == len(dict(attrs)), attrs
        self.elements.append((tag, dict(attrs)))
        self.texts.append("")

    def handle_endtag(self, tag):
        if tag in ("script", "style"):  # what follows isn't theirs
            self.elements.append((None, {}))
            self.texts.append("")

    def handle_data(self, data):
        if self.texts:
            self.texts[-1] += data

    def handle_comment(self, data):
        raise AssertionError(data)

    def find(self, tag, **wanted):
        """Return the elements with this tag and these attributes, each with its text."""
        wanted = {name.rstrip("_").replace("_", "-"): value for name, value in wanted.items()}
        verbatim = tag in ("script", "style")
        return [
            (attributes, text if verbatim else collapsed(text))
            for (name, attributes), text in zip(self.elements, self.texts, strict=True)
            if name == tag and all(attributes.get(key) == value for key, value in wanted.items())
        ]

    @property
    def text(self):
        """All texts, with a space for each white space."""
        return " ".join(" ".join(self.texts).split())


def collapsed(text):
    """Return a text with its white space as a browser shows it; a no-break space stays."""
    return " ".join(part for part in text.replace("\n", " ").split(" ") if part)


def page_of(*standings, **head):
    return Page(make_page(standings, **head))


@cache
def example_page():
    """The page of `make_standing`; tests only read it."""
    return page_of(make_standing())


def tables_of(page):
    """Return the tables' titles with the ids of their rows, in order."""
    found = []
    for (tag, attributes), text in zip(page.elements, page.texts, strict=True):
        if tag == "caption":
            found.append((collapsed(text), []))
        elif tag == "tr" and "entry" in attributes.get("class", ""):
            found[-1][1].append(attributes.get("id", "").rpartition("-")[2])
    return found
