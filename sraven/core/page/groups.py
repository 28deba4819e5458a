"""Which entries of a board stand together on the page, and by which names the page knows them."""

from dataclasses import dataclass

from sraven.core.ground.names import name_notes
from sraven.core.leaderboard.standing import REPORTED, Entry, Standing
from sraven.core.page.words import REFERENCE, compact, kind


@dataclass(frozen=True)
class Group:
    """Entries that are ranked together, or listed together without a rank."""

    title: str
    note: str
    entries: tuple[tuple[str, Entry], ...]


def name_entries(standing: Standing) -> tuple[tuple[str, Entry], ...]:
    """Return the entries with the names by which the page knows their rows and points."""
    return tuple((f"{standing.board.id}-{number}", entry) for number, entry in enumerate(standing.entries))


def look_notes(standing: Standing) -> dict[str, str]:
    """Return what to know of the look of names, by the ids of the entries; most have nothing."""
    entries = sorted(standing.entries, key=lambda entry: (entry.date or "", entry.id))
    notes = name_notes([entry.method for entry in entries])
    return {entry.id: note for entry, note in zip(entries, notes, strict=True) if note}


def reported_notes(standing: Standing) -> dict[tuple[str, str], int]:
    """Return sources of reported figures and remarks on them, numbered; a paper's rows share theirs."""
    notes = ((entry.description, entry.remark) for entry in standing.entries if entry.badge == REPORTED)
    return {note: number for number, note in enumerate(dict.fromkeys(notes), 1)}


def is_ranked(standing: Standing) -> bool:
    """Return whether a board ranks; the others are diagnostic."""
    return standing.board.is_ranked


def budget_key(entry: Entry) -> str:
    """Return what the page calls an entry's budget; ``none`` for references and what is beyond all."""
    return str(entry.budget) if entry.budget is not None else "none"


def _trained(budget: int, unit: str, is_asked: bool) -> str:
    """Return what a budget allows, in words."""
    words = f"up to {compact(budget)} {unit}" if budget else f"no {unit}"
    return f"trained on {words}" if is_asked else words


def groups(standing: Standing) -> list[Group]:
    """Return the entries by budget: the board's own, the others, beyond all of them, references.

    Where predictions are replies, each way of asking has groups of its own.
    """
    board, named = standing.board, name_entries(standing)
    ranked = is_ranked(standing)
    own, most, unit = board.train_budget, max(board.train_budgets), board.budget_unit
    budgets = sorted(board.train_budgets, key=lambda budget: (budget != own, budget))
    forms: tuple[str | None, ...] = tuple(board.prompts) or (None,)
    made = [
        Group(
            (f"Asked {form}, " if form else "Trained on ") + _trained(budget, unit, bool(form)),
            "the board’s own budget" if budget == own else "ranked apart" if ranked else "",
            tuple(
                (name, e)
                for name, e in named
                if e.budget == budget and (e.replies and e.replies.form) == form and kind(e) != REFERENCE
            ),
        )
        for budget in budgets
        for form in forms
    ]
    beyond = [(name, e) for name, e in named if e.budget not in budgets and kind(e) != REFERENCE]
    references = [(name, e) for name, e in named if kind(e) == REFERENCE]
    made += [
        Group(f"Trained on more than {compact(most)} {unit}", "not ranked", tuple(beyond)),
        Group("References", "predictors for comparison, not ranked", tuple(references)),
    ]
    return [group for group in made if group.entries]
