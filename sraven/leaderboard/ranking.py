"""The standing: what lies in the leaderboard's folder, judged and put in order.

Ranks and numbers come from what is recomputed of the predictions, never from the ``scores.json`` that lies
beside them. An entry that can't be read is reported, and hides no other.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sraven.board.board import Board, board_ids, read_board
from sraven.core.errors import BoardError, BusyError, SubmissionError
from sraven.core.escape import escape
from sraven.leaderboard.comparison import rank_ranges
from sraven.leaderboard.copies import find_borrowing, find_sources, is_copy
from sraven.leaderboard.eligibility import AGREEMENT, find_remarks, reasons_unranked
from sraven.leaderboard.entries import entry_of, reported_entries
from sraven.leaderboard.evidence import Evidence, gather_evidence, sharing_boards
from sraven.leaderboard.folder import Fault, fault_of, today, walk_filed
from sraven.leaderboard.history import filing_order
from sraven.leaderboard.maintainers import Maintained, read_maintained
from sraven.leaderboard.snapshot import SNAPSHOT, packaged
from sraven.leaderboard.standing import REPRODUCED_BADGE, UNCHOSEN, Entry, Leaderboard, Standing
from sraven.leaderboard.submissions.runs import SCORES
from sraven.leaderboard.submissions.submission import CLAIM_TOLERANCE, SUBMISSIONS, differing, read_scores

_MOST_NAMED = 3

_NOTHING = Maintained()

Judged = tuple[Entry, bool]
"""A row, and whether it may be ranked."""


def _copies_text(copies: Sequence[str]) -> str:
    """Return in words which entries one is a copy of."""
    more = len(copies) - _MOST_NAMED
    named = ", ".join(copies[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
    return f"predicts the same as {named}, or nearly so"


def _judge(
    entry_id: str, evidence: Evidence, sources: Mapping[str, Evidence], maintained: Maintained
) -> Judged:
    """Return the row of a submission, and whether it may be ranked, given those that were there before it.

    A copy has no rank, unless a maintainer has run its code: that one is no copy.
    """
    entry = entry_of(entry_id, evidence)
    copies = tuple(name for name, other in sources.items() if is_copy(evidence, other))
    is_reproduced = entry_id in maintained.reproduced
    is_apart = is_reproduced or entry_id in maintained.apart
    reasons = [
        found.reason for found in reasons_unranked(evidence) if found.rule != AGREEMENT or not is_apart
    ]
    notes = [_copies_text(copies)] if copies else []
    if (chosen := maintained.points.get(entry_id)) is not None:
        reasons.append(f"{UNCHOSEN}{chosen}")
    if newer := maintained.replaced.get(entry_id):
        reasons.append(f"replaced by {newer}")
    if not (reasons or copies or is_apart) and (borrowing := find_borrowing(evidence, sources)):
        reasons.append(borrowing)
    may_rank = not reasons and (is_reproduced or not notes) and entry.value is not None
    entry = replace(
        entry,
        badge=REPRODUCED_BADGE if is_reproduced else entry.badge,
        remark="; ".join([*reasons, *notes] or find_remarks(evidence)),
        copies=copies,
        point_of=chosen,
    )
    return entry, may_rank


def judge(
    filed: Mapping[str, Evidence],
    own: Mapping[str, Evidence] = MappingProxyType({}),
    *,
    maintained: Maintained = _NOTHING,
    order: Mapping[str, int] = MappingProxyType({}),
) -> list[Judged]:
    """Return the rows of a board: of what is filed, and of what would be filed next, judged alike.

    Args:
        filed: by their ids.
        own: the reader's, by what is shown of their directories.
        maintained: what maintainers say of entries.
        order: which entry was there before which, of `sraven.leaderboard.history.filing_order`.
    """
    own = {f"./{name}" if name in filed else name: evidence for name, evidence in own.items()}
    entries = {**filed, **own}
    sources = find_sources(entries, order, maintained.replaced, own)
    judged = {
        name: _judge(name, evidence, {other: entries[other] for other in sources[name]}, maintained)
        for name, evidence in entries.items()
    }
    for name, (entry, may_rank) in judged.items():
        points = [each.value for other, (each, _) in judged.items() if maintained.points.get(other) == name]
        scores = [*entry.grid_range, *points] if entry.grid_range else points
        known = [value for value in (entry.value, *scores) if value is not None]
        entry = replace(entry, grid_range=(min(known), max(known)) if scores and known else None)
        judged[name] = replace(entry, date=None, own=True) if name in own else entry, may_rank
    return list(judged.values())


def _ranked(board: Board, entries: Sequence[Judged]) -> tuple[Entry, ...]:
    """Return entries with their ranks among those of the same budget and form of prompts, the best first.

    Entries share the rank of the best whose value theirs doesn't differ from by more than scores of the
    same predictions may on two machines.
    """
    ordered = sorted(
        entries, key=lambda e: (e[0].value is None, -board.sign * (e[0].value or 0), e[0].method, e[0].id)
    )
    ranked = [entry for entry, _ in ordered]
    groups: dict[Any, list[int]] = {}
    leaders: dict[Any, tuple[int, float]] = {}
    for place, (entry, may_rank) in enumerate(ordered):
        if board.is_ranked and may_rank and entry.value is not None:
            among = entry.budget, entry.replies and entry.replies.form
            places, leader = groups.setdefault(among, []), leaders.get(among)
            places.append(place)
            if leader is None or abs(entry.value - leader[1]) > CLAIM_TOLERANCE:
                leader = leaders[among] = len(places), entry.value
            ranked[place] = replace(entry, rank=leader[0])
    for places in groups.values():
        ranges = rank_ranges([ranked[place] for place in places], higher_is_better=board.higher_is_better)
        for place, ends in zip(places, ranges, strict=True):
            ranked[place] = replace(ranked[place], rank_range=ends)
    return tuple(ranked)


def make_standings(only: str | None, rows: Callable[[Board], Sequence[Judged]]) -> tuple[Standing, ...]:
    """Return the standing of every board that ranks or has entries, or of one board.

    Args:
        only: id of a board; None for all.
        rows: returns those of a board; what papers report comes to them.

    Raises:
        ConfigurationError: if there is no such board.
    """
    standings = []
    for board in map(read_board, [only] if only else board_ids()):
        found = [*rows(board), *((row, False) for row in reported_entries(board))]
        if only or found or board.is_ranked:
            standings.append(Standing(board, _ranked(board, found)))
    return tuple(standings)


def of_board(board: Board, entries: Mapping[str, Evidence]) -> dict[str, Evidence]:
    """Return those of some submissions that are for a board."""
    return {name: each for name, each in entries.items() if each.board.id == board.id}


def read_entry(folder: Path, gather: Callable[[Path], Evidence] = gather_evidence) -> Evidence:
    """Return what a filed submission shows.

    Raises:
        SubmissionError: if it is refused, is of another board, or if other scores lie beside it.
        ConfigurationError: if there is no such board.
    """
    evidence = gather(folder)
    if evidence.board.id != folder.parent.name:
        raise SubmissionError(f"is for {evidence.board.id}; move it below {SUBMISSIONS}/{evidence.board.id}")
    if places := differing(read_scores(folder), evidence.scores):
        raise SubmissionError(
            f"{SCORES}: {places[0]} isn't what the predictions score; make it again with `sraven submit`"
        )
    return evidence


def read_leaderboard(
    leaderboard: Path,
    only: str | None = None,
    *,
    last: date | None = None,
    gather: Callable[[Path], Evidence] | None = None,
    own: Mapping[str, Evidence] = MappingProxyType({}),
    order: Mapping[str, int] | None = None,
) -> Leaderboard:
    """Return the standing of every board that ranks or has entries, or of one board.

    Args:
        leaderboard: the leaderboard's folder.
        only: id of a board; None for all.
        last: the latest day on which an entry can have been filed; None for today (UTC).
        gather: returns what a submission shows, given its folder; None for what is recomputed.
        own: what the reader's own submissions show, to stand among the filed ones, by what is shown of
            their directories.
        order: which entry was there before which; None for what the history of the checkout says.

    Raises:
        ConfigurationError: if there is no such board.
        BusyError: if the machine is too busy to tell whether an entry is valid; nobody is ranked without it.
    """
    if only:
        read_board(only)  # before anything is scored for a board that there isn't
    gather = gather or sharing_boards()
    found: dict[str, Evidence] = {}
    faults = []
    for each in walk_filed(leaderboard, last or today(), only):
        if isinstance(each, Fault):
            faults.append(each)
            continue
        entry_id = f"{each.parent.name}/{each.name}"
        try:
            found[entry_id] = read_entry(each, gather)
        except BusyError:
            raise
        except Exception as error:  # whatever an untrusted entry breaks, it is reported and hides no other
            faults.append(fault_of(entry_id, error))
    maintained, misfits = read_maintained(leaderboard, found, only)
    order = filing_order(leaderboard, SUBMISSIONS) if order is None else order

    def rows(board: Board) -> list[Judged]:
        filed, mine = of_board(board, found), of_board(board, own)
        return judge(filed, mine, maintained=maintained, order=order)

    return Leaderboard(make_standings(only, rows), (*faults, *misfits))


def read_snapshot(
    only: str | None = None, *, own: Mapping[str, Evidence] = MappingProxyType({})
) -> Leaderboard:
    """Return the standing of every board that ranks or has entries, or of one board, as the package has it.

    Args:
        only: id of a board; None for all.
        own: what the reader's own submissions show, by what is shown of their directories. There are no
            predictions in the package, so nobody sees here whether they are copies of filed ones.

    Raises:
        ConfigurationError: if there is no such board.
        BoardError: if this installation is damaged.
    """
    known = packaged()

    def rows(board: Board) -> list[Judged]:
        digest, entries = known.get(board.id, (board.digest, ()))
        if digest != board.digest:
            raise BoardError(f"{SNAPSHOT} is of another {board.id}; reinstall sraven")
        filed = [(replace(entry, rank=None, rank_range=None), entry.rank is not None) for entry in entries]
        return filed + judge({}, of_board(board, own))

    return Leaderboard(make_standings(only, rows))


def gather_own(
    folders: Iterable[Path], gather: Callable[[Path], Evidence] = gather_evidence
) -> dict[str, Evidence]:
    """Return what submissions of the reader's own show, by what is shown of their directories.

    Args:
        folders: their directories; nothing in them is changed.
        gather: returns what a submission shows, given its folder.

    Raises:
        SubmissionError: if one is refused; the message names its directory.
        ConfigurationError: if there is no such board.
        BoardError: if this installation doesn't give the board's instances.
    """
    own = {}
    for folder in folders:
        name = escape(str(folder))
        try:
            own[name] = gather(folder)
        except SubmissionError as error:
            message = str(error)
            raise SubmissionError(
                message if message.startswith(str(folder)) else f"{name}: {message}"
            ) from None
    return own
