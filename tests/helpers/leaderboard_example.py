"""Standings of a leaderboard, made by hand, for the tests of its page."""

from dataclasses import replace

from sraven.board.board import read_board
from sraven.leaderboard.standing import Entry, Standing

SOURCE = "A paper (2026), Table 1"
NOTE = "Its instances are others."

EVIL_NAME = '<script>alert(1)</script>" onmouseover="alert(2)'
EVIL_DESCRIPTION = "</script></style><img src=https://evil.example/x onerror=alert(3)>&lt;b&gt;"
EVIL_ADDRESSES = (
    "javascript:alert(4)",
    "data:text/html,<script>alert(4)</script>",
    'https://evil.example/" onmouseover="alert(5)',
    "https://evil.example/\njavascript:alert(4)",
    "https://github.com@evil.example",
    "https://evil.example/\u202egpj",
)
"""Of those that aren't plain, see also `test_address_leads_to_the_host_that_it_shows`."""

UNSEEN_NAMES = (
    "turned \u202eecivda\u202c",
    "\u2066isolate",
    "no\u200bwidth\u2060",
    "\u3164\u2800",
    "pile " + "Z" + "\u0301\u0327\u0489" * 60,
    "cursor \x1b[2J\x07\r\n",
    "half \ud800",
    "tag \U000e0041\U000e0042",
    "\u05d0\u05d1\u05d2 right to left",
    "W" * 200,
)
"""Names that can't be seen, or hide something."""


def make_entry(method, value, **changes):
    """Return a scored and ranked entry of ``sraven-v1``; the named fields can be changed."""
    slug = "".join(letter if letter.isalnum() else "-" for letter in method.lower())
    known = {"test": {"accuracy": 0.91, "feature_accuracy": 0.95}}
    usual = Entry(
        id=f"sraven-v1/20261121-{slug}",
        method=method,
        description=f"This is {method}.",
        badge="scored",
        value=value,
        standard_error=0.01,
        interval=None if value is None else (value - 0.004, value + 0.004),
        seeds=3,
        splits={**known, "ood": {"accuracy": value, "feature_accuracy": 0.8}},
        gap=None if value is None else 0.9461 - value,
        parameters=400_000,
        train_instances=20_000_000,
        budget=20_000_000,
        date="2026-11-21",
        paper="https://example.org/paper",
        code="http://example.org/code",
    )
    return replace(usual, **changes)


def make_reported(method, value, **changes):
    """Return a row as a paper reports it."""
    nothing = {"id": "", "interval": None, "date": None, "code": None, "parameters": None}
    row = {"badge": "reported", "description": SOURCE, "remark": NOTE, "splits": {"ood": {"accuracy": value}}}
    return make_entry(method, value, **{**nothing, **row, **changes})


def make_reference(method, value, **changes):
    """Return a predictor that is there for comparison."""
    nothing = {"parameters": 0, "train_instances": 0, "budget": None, "paper": None, "code": None}
    few = {"standard_error": None, "seeds": 1, "remark": "a reference, not a model"}
    return make_entry(method, value, **{"family": "reference", **nothing, **few, **changes})


def make_standing():
    """Return ``sraven-v1`` with entries of every kind, the best first."""
    forty, large = dict.fromkeys(("train_instances", "budget"), 40_000_000), "trained on too much"
    small = {"train_instances": 8_000_000, "budget": 10_000_000, "parameters": 90_000}
    nothing = {"gap": None, "standard_error": None, "remark": "fewer than 3 seeds on ood"}
    entries = (
        make_reference("ideal-observer", 0.9278),
        make_entry("Omega", 0.81, rank=1, parameters=3_000_000, **forty),
        make_entry("alpha", 0.74, rank=1, badge="reproduced", family="hypernetwork"),
        make_reported("Paper best", 0.71),
        make_entry("Beta", 0.69, rank=2, parameters=900_000, date="2026-12-01"),
        make_reported("Paper second", 0.65, parameters=400_000),
        make_entry("gamma", 0.61, remark="used extra data", date="2027-01-05"),
        make_entry("Delta", 0.52, rank=1, **small),
        make_entry("Huge", 0.5, train_instances=90_000_000, budget=None, remark=large),
        make_reference("uniform-random", 0.0002),
        make_entry("No score", None, **nothing),
    )
    return Standing(read_board("sraven-v1"), entries)


def make_hostile():
    """Return a standing whose every text is meant to break out of the page."""
    evil = {"description": EVIL_DESCRIPTION, "remark": EVIL_DESCRIPTION}
    entries = [
        make_entry(f"{EVIL_NAME} {n}", 0.5 + n / 100, family=EVIL_NAME, paper=address, code=address, **evil)
        for n, address in enumerate(EVIL_ADDRESSES)
    ]
    entries += [
        make_entry(name, 0.3 + n / 1000, id=f"sraven-v1/2026{n:04}-\u202e\u200bunseen", description=name * 9)
        for n, name in enumerate(UNSEEN_NAMES)
    ]
    long = "https://github.com." + "a-long-name." * 9 + "evil.example/" + "x" * 300
    many = {"parameters": 10**15, "train_instances": 10**15, "interval": (-1e300, 1e300), "code": long}
    entries += [
        make_entry(f"large {value}", value, standard_error=abs(value), **many)
        for value in (1e300, -1e300, 1e-300)
    ]
    return Standing(read_board("sraven-v1"), (*entries, make_reported(EVIL_NAME, 0.4, **evil)))
