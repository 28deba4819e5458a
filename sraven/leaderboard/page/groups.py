"""Groups of entries that stand together on the page, and the names by which the page knows them."""

from typing import NamedTuple

from sraven.board.board import Board
from sraven.core.names import name_notes
from sraven.leaderboard.page.words import compact, kind
from sraven.leaderboard.standing import REFERENCE, REPORTED, Entry, Standing


class EntryGroup(NamedTuple):
    """Entries that are ranked together, or listed together without a rank, with their names on the page."""

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


def budget_key(entry: Entry) -> str:
    """Return what the page calls an entry's budget; ``none`` for references and what is beyond all."""
    return str(entry.budget) if entry.budget is not None else "none"


def budgets_of(board: Board) -> tuple[int, ...]:
    """Return the training budgets of a board, its own first."""
    return tuple(sorted(board.train_budgets, key=lambda budget: (budget != board.train_budget, budget)))


def groups(standing: Standing) -> list[EntryGroup]:
    """Return the entries by budget: the board's own, the others, beyond all of them, references.

    Where predictions are replies, each way of asking has groups of its own.
    """
    board, named = standing.board, name_entries(standing)
    unit, budgets = board.budget_unit, budgets_of(board)
    models = [(name, entry) for name, entry in named if kind(entry) != REFERENCE]
    made = []
    for budget in budgets:
        note = "the board’s own budget" if budget == board.train_budget else "ranked apart" * board.is_ranked
        allowed = f"up to {compact(budget)} {unit}" if budget else f"no {unit}"
        within = [each for each in models if each[1].budget == budget]
        if not board.prompts:
            made.append(EntryGroup(f"Trained on {allowed}", note, tuple(within)))
        for form in board.prompts:
            asked = ((name, entry) for name, entry in within if entry.replies and entry.replies.form == form)
            made.append(EntryGroup(f"Asked {form}, trained on {allowed}", note, tuple(asked)))
    beyond = tuple(each for each in models if each[1].budget not in budgets)
    references = tuple(each for each in named if kind(each[1]) == REFERENCE)
    made += [
        EntryGroup(f"Trained on more than {compact(max(budgets))} {unit}", "not ranked", beyond),
        EntryGroup("References", "predictors for comparison, not ranked", references),
    ]
    return [group for group in made if group.entries]
