"""The leaderboard's page: one file of HTML that needs no server, no build and no other host."""

import base64
import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from xml.etree.ElementTree import Element

from sraven.core.boards.board import Board
from sraven.core.boards.ceilings import ANSWERS
from sraven.core.leaderboard.ranking import REPORTED, Fault, Standing
from sraven.core.page.about import about, code, header
from sraven.core.page.groups import budget_key, is_ranked, name_entries, note_id, reported_notes
from sraven.core.page.html import Child, asset, element, foreign, inline, to_html
from sraven.core.page.plot import draw_panel, legend_mark
from sraven.core.page.scale import Axis
from sraven.core.page.table import draw_table
from sraven.core.page.words import (
    BADGES,
    REFERENCE,
    capitalised,
    compact,
    kind,
    legible,
    metric_name,
    score,
)
from sraven.core.system.files import write_text

PAGE = "index.html"
"""Name of the page's file."""

_LONGEST_SETTING = 40  # of what is longer, such as a digest, the beginning tells

_ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 9 9'%3E"
    "%3Cpath d='M0 0h8v8H0z' fill='none'/%3E"
    "%3Cpath fill='%232b62c4' d='M0 0h2.5v2.5H0zM3.25 0h2.5v2.5h-2.5zM6.5 0H9v2.5H6.5zM0 3.25h2.5v2.5H0z"
    "M3.25 3.25h2.5v2.5h-2.5zM6.5 3.25H9v2.5H6.5zM0 6.5h2.5V9H0zM3.25 6.5h2.5V9h-2.5z'/%3E%3C/svg%3E"
)
"""Eight panels of nine."""


def _policy(style: str, script: str) -> str:
    """Return a policy that allows this style and this script, and no request at all."""

    def checksum(text: str) -> str:
        return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()

    return (
        f"default-src 'none'; style-src 'sha256-{checksum(style)}'; script-src 'sha256-{checksum(script)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _head(style: str, script: str) -> Element:
    metas = [
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_policy(style, script)),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="referrer", content="no-referrer"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="description", content="Scores on frozen boards, recomputed from predictions."),
    ]
    icon = element("link", rel="icon", href=_ICON)
    return element("head", *metas, element("title", "SRAVEN leaderboard"), icon, inline("style", style))


def _filters(standings: Sequence[Standing]) -> Element:
    """Return the controls that the script brings to life; without it they stay hidden."""
    entries = [entry for found in standings for entry in found.entries]
    boxes = [
        element(
            "label",
            element("input", type="checkbox", value=badge, checked=True, class_="badge-filter"),
            " ",
            element("span", badge, class_=f"badge {badge}"),
        )
        for badge in BADGES
        if any(entry.badge == badge for entry in entries)
    ]
    keys = {budget_key(entry): entry.budget for entry in entries}
    options = [element("option", "any", value="")]
    for key, budget in sorted(keys.items(), key=lambda item: (item[1] is None, item[1] or 0)):
        text = "none" if budget is None else f"up to {compact(budget)}"
        options.append(element("option", text, value=key))
    search = element("input", type="search", id="filter-text", autocomplete="off", spellcheck="false")
    return element(
        "div",
        element("label", element("span", "Find a method"), search, class_="text-filter"),
        element("fieldset", element("legend", "Badge"), *boxes),
        element("label", element("span", "Training budget"), element("select", *options, id="filter-budget")),
        element("button", "Show all", type="button", id="filter-reset", hidden=True),
        element("p", role="status", id="filter-status", class_="status"),
        class_="filters",
        role="search",
        aria_label="Filter the entries of all boards",
        hidden=True,
    )


def _facts(board: Board) -> Element:
    """Return what a board is, in names and values."""
    config = {name: str(value) for name, value in board.config.items()}
    setting = {
        name: value if len(value) <= _LONGEST_SETTING else f"{value[:12]}…"
        for name, value in config.items()
        if name not in ("task", "version")
    }
    sizes = ", ".join(f"{size:,} {split}" for split, size in board.splits.items())
    told = {"split": "knowing the split", "all combinations": "not knowing it"}
    known = [board.ceiling(board.primary_split, board.metric, knowing) for knowing in told]
    ceilings = [f"{score(found.value)} {told[found.knows]}" for found in known if found]
    ceilings += [f"answering with {ANSWERS[found.answers]}" for found in known[:1] if found]
    ranks = "Ranked by" if board.is_ranked else "Scored by"
    budget = f"{compact(board.train_budget)} training {board.budget_unit}"
    facts: dict[str, list[Child]] = {
        ranks: [f"{metric_name(board.metric)} on ", code(board.primary_split)],
        **({} if board.is_corpus else {"Ceiling": [", ".join(ceilings) or "not known"]}),
        "Budget": [budget],
        "Documents" if board.is_corpus else "Instances": [sizes],
        "Setting": [code(", ".join(f"{name}={value}" for name, value in setting.items()))],
        "Digest": [element("code", board.digest[:12], title=board.digest)],
        "Details": [code(f"sraven boards {board.id}")],
    }
    pairs = [element("div", element("dt", name), element("dd", *values)) for name, values in facts.items()]
    return element("dl", *pairs, class_="facts")


def _figure(standing: Standing) -> Element | None:
    """Return the plots of a board; None if no entry has a score."""
    named = [(name, entry) for name, entry in name_entries(standing) if entry.value is not None]
    if not named:
        return None
    budgets = tuple(sorted(standing.board.train_budgets))
    axes = (
        Axis(f"training {standing.board.budget_unit}", lambda entry: entry.train_instances, budgets),
        Axis("parameters", lambda entry: entry.parameters),
    )
    found = {kind(entry) for _, entry in named}
    keys = [
        element("span", legend_mark(of), f" {of}", class_="of") for of in (*BADGES, REFERENCE) if of in found
    ]
    caption = element(
        "figcaption",
        *keys,
        " Bars show ± the standard error over seeds. Entries at the same place stand side by side.",
    )
    panels = element("div", *[draw_panel(standing, named, axis) for axis in axes], class_="panels")
    return element("figure", panels, caption)


def _notes(standing: Standing) -> Element | None:
    """Return where reported figures are from and what to know of them, each once."""
    notes = [
        element("li", f"{source}. {remark}", id=note_id(standing, number))
        for (source, remark), number in reported_notes(standing).items()
    ]
    lead = element("p", f"Where the figures marked {REPORTED} are from. None has predictions behind it.")
    return element("div", lead, element("ol", *notes), class_="notes") if notes else None


def _contents(standing: Standing) -> Iterable[Element | None]:
    """Return what a board's section shows below its title."""
    yield _facts(standing.board)
    if standing.note:
        yield element("p", f"{capitalised(standing.note)}.", class_="nobody")
    if not standing.entries:
        yield element(
            "p", "No entries yet. ", code("sraven submit DIR"), " files the first.", class_="nobody"
        )
        return
    yield _figure(standing)
    yield element("p", "No entry of this board matches the filter.", class_="nobody", hidden=True)
    yield element("div", draw_table(standing), class_="scroll")
    yield _notes(standing)


def _section(standing: Standing) -> Element:
    """Return the section of a board; diagnostic ones open on demand."""
    board = standing.board
    title = element("h2", board.title, " ", element("code", board.id, class_="id"))
    contents = list(_contents(standing))
    if not is_ranked(standing):
        contents = [element("details", element("summary", title), *contents)]
    else:
        contents = [title, *contents]
    return element("section", *contents, class_="board", id=board.id)


def _left_out(faults: Sequence[Fault]) -> list[Element]:
    """Return what lies in the leaderboard's folder and is shown nowhere else, and why; nothing if nothing."""
    lines = [element("li", foreign(fault.place, "code"), ": ", foreign(fault.reason)) for fault in faults]
    told = element("p", "What lies in the leaderboard’s folder and couldn’t be taken, and why.")
    title = element("h2", "Left out", id="left-out")
    return [element("section", title, told, element("ul", *lines), class_="board")] if lines else []


def _main(standings: Sequence[Standing], faults: Sequence[Fault]) -> Element:
    ranked = [found for found in standings if is_ranked(found)]
    diagnostic = [found for found in standings if not is_ranked(found)]
    sections: list[Element] = [_section(found) for found in ranked]
    if diagnostic:
        title = element("h2", "Diagnostic series (not ranked)", id="diagnostic")
        told = element(
            "p",
            "Each series varies one thing and shows where a method fails. It ranks nothing, and is no "
            "ground to choose a method by.",
        )
        sections += [element("div", title, told, class_="series"), *[_section(found) for found in diagnostic]]
    if not sections:
        sections = [element("p", "There are no boards with entries yet.", class_="nobody")]
    return element("main", *sections, *_left_out(faults))


def make_page(standings: Sequence[Standing], faults: Sequence[Fault] = ()) -> str:
    """Return the page of some boards, ranked ones first, as HTML.

    What submitters wrote (names, descriptions, addresses) is text in it, and never markup.
    """
    style, script = asset("page.css"), asset("page.js")
    standings = [legible(found) for found in standings]
    body = element(
        "body",
        header(standings),
        about(),
        _filters(standings),
        _main(standings, faults),
        inline("script", script),
    )
    return to_html(element("html", _head(style, script), body, lang="en"))


def write_page(html_dir: Path, standings: Sequence[Standing], faults: Sequence[Fault] = ()) -> Path:
    """Write the page of some boards as ``index.html``, whole or not at all.

    Args:
        html_dir: a directory; made if it doesn't exist.
        standings: from `sraven.core.leaderboard.ranking.read_leaderboard`.
        faults: what was left out, from there too.

    Returns:
        The path of the file.
    """
    html_dir.mkdir(parents=True, exist_ok=True)
    path = html_dir / PAGE
    write_text(path, make_page(standings, faults))
    return path
