"""What the filters of the page offer."""

from collections.abc import Sequence
from dataclasses import dataclass

from sraven.core.leaderboard.standing import Standing
from sraven.core.page.groups import budget_key
from sraven.core.page.words import BADGES, compact


@dataclass(frozen=True)
class Filters:
    """The choices: badges that some entry has, and budgets as (key, what to read)."""

    badges: tuple[str, ...]
    budgets: tuple[tuple[str, str], ...]


def make_filters(standings: Sequence[Standing]) -> Filters:
    """Return what the entries of all boards can be filtered by."""
    entries = [entry for standing in standings for entry in standing.entries]
    found = {budget_key(entry): entry.budget for entry in entries}
    ordered = sorted(found.items(), key=lambda item: (item[1] is None, item[1] or 0))
    words = {None: "none", 0: "no training"}
    return Filters(
        tuple(badge for badge in BADGES if any(entry.badge == badge for entry in entries)),
        tuple((key, words.get(most, f"up to {compact(most or 0)}")) for key, most in ordered),
    )
