"""What the page says of the benchmark, of its scores, and of how to take part."""

from collections.abc import Sequence
from xml.etree.ElementTree import Element

from sraven.core.leaderboard.ranking import SELF_REPORTED, Standing
from sraven.core.page.groups import is_ranked
from sraven.core.page.html import Child, element
from sraven.core.page.words import BADGES, capitalised


def code(text: str) -> Element:
    """Return a text that is typed as it stands."""
    return element("code", text)


def _on_text(standings: Sequence[Standing]) -> list[Child]:
    """Return what the boards of a corpus are, if there are any."""
    boards = [found.board for found in standings if found.board.is_corpus]
    return [
        part
        for board in boards
        for part in (
            " ",
            code(board.id),
            " is about language models instead: their loss on documents of text.",
        )
    ]


def header(standings: Sequence[Standing]) -> Element:
    """Return what the benchmark is, and the way to its boards."""
    lead = element(
        "p",
        "SRAVEN is a benchmark for compositional generalisation in context. A model sees rules, or fuzzy "
        "terms, in some combinations while it trains, and is then asked about combinations that it has "
        "never met. A board is such a task, frozen: every instance is pinned by a digest. ",
        code("ood"),
        " holds the combinations that are kept out of training and decides the rank; ",
        code("test"),
        " holds new instances of the combinations that training has.",
        *_on_text(standings),
        class_="lead",
    )
    ranked = [found for found in standings if is_ranked(found)]
    targets = [(f"#{found.board.id}", found.board.id) for found in ranked]
    targets += [("#diagnostic", "diagnostic series")] if len(ranked) < len(standings) else []
    links = [element("li", element("a", text, href=target)) for target, text in targets]
    boards = element("nav", element("ul", *links), aria_label="Boards") if links else None
    return element("header", element("h1", "SRAVEN leaderboard"), lead, boards)


def _proof() -> list[Element]:
    """Return what a score proves and what it doesn't."""
    proves = element(
        "p",
        "The arithmetic. The project computes every score marked scored or reproduced itself, from the "
        "submitted predictions and from labels that it rebuilds and checks against the board’s digests. "
        "All methods answer the same instances, and a missing prediction counts as wrong.",
    )
    fails = element(
        "p",
        "Honest modelling. The boards’ seeds are public, so anyone could derive the labels of ",
        code("ood"),
        " and hand them in. How the predictions came about isn’t checked, and parameters, training "
        "instances and descriptions are the submitter’s own words. Look for code, and for the badge ",
        element("span", "reproduced", class_="badge reproduced"),
        ".",
    )
    self_reported = element(
        "p",
        "A score marked ",
        element("span", SELF_REPORTED, class_=f"badge {SELF_REPORTED}"),
        " proves less: the loss of each document is the submitter’s own figure. The project checks that none "
        "is missing and adds them up. It doesn’t hold the text, so it can’t recompute them. A training log "
        "comes with each seed.",
    )
    return [
        element("section", element("h2", "What a score proves"), proves),
        element("section", element("h2", "What it doesn’t prove"), fails, self_reported),
    ]


def _legend() -> Element:
    """Return the badges with their meanings, and how to read a row."""
    items = []
    for badge, meaning in BADGES.items():
        label = element("span", badge, class_=f"badge {badge}")
        items.append(element("div", element("dt", label), element("dd", capitalised(meaning), ".")))
    reading = element(
        "p",
        "± is the standard error over seeds. The interval below it holds 95 % of bootstrap samples of the "
        "instances. The ceiling is what an ideal observer scores that knows the split. Entries are "
        "ranked apart for each training budget.",
    )
    return element(
        "section", element("h2", "How to read it"), element("dl", *items, class_="badges"), reading
    )


def _submitting() -> Element:
    steps = element(
        "p",
        "Write your predictions for three or more seeds with ",
        code("sraven.write_submission"),
        ", check them with ",
        code("sraven score DIR"),
        ", file them in a checkout with ",
        code("sraven submit DIR"),
        " and open a pull request. The chapter “The leaderboard” of the documentation has the steps, "
        "the format and the rules.",
    )
    return element("section", element("h2", "How to submit"), steps)


def about() -> Element:
    """Return what everyone should know who reads or makes an entry."""
    return element("div", *_proof(), _legend(), _submitting(), class_="about")
