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

from sraven.core.base.errors import SubmissionError
from sraven.core.base.escape import escape
from sraven.core.boards.board import Board, board_ids, read_board
from sraven.core.leaderboard.copies import find_copies, is_copy
from sraven.core.leaderboard.eligibility import no_fingerprint, why_unranked
from sraven.core.leaderboard.entries import entry_of, reported_entries
from sraven.core.leaderboard.evidence import Evidence, gather_evidence
from sraven.core.leaderboard.filed import Fault, fault_of, today, walk_filed
from sraven.core.leaderboard.fingerprints import Pins, read_pins
from sraven.core.leaderboard.ranges import rank_ranges
from sraven.core.leaderboard.reproduced import read_reproduced
from sraven.core.leaderboard.standing import REFERENCE, REPRODUCED_BADGE, Entry, Leaderboard, Standing
from sraven.core.submissions.runs import SCORES
from sraven.core.submissions.submission import CLAIM_TOLERANCE, SUBMISSIONS, differing, read_scores

_MOST_NAMED = 3

SELECTION = "test"
"""The split by whose score the points of a grid are chosen."""

_POINT_PREFIXES = ("rate ", "decay ", "warm-up ")
"""How those parts of a name begin that tell the points of a grid apart."""

Judged = tuple[Entry, bool]
"""A row, and whether it may be ranked."""


def _copies_text(copies: Sequence[str]) -> str:
    """Return in words which entries one is a copy of."""
    more = len(copies) - _MOST_NAMED
    named = ", ".join(copies[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
    return f"predicts the same as {named}, or nearly so"


def _judge(
    entry_id: str, evidence: Evidence, copies: Sequence[str], pins: Pins, *, is_reproduced: bool = False
) -> Judged:
    """Return the row of a submission, and whether it may be ranked.

    Of two entries with the same predictions nobody knows which was first. So neither is ranked, unless
    a maintainer has run its code: that one is no copy.
    """
    entry = entry_of(entry_id, evidence)
    reasons = why_unranked(evidence, pins.get(evidence.board.digest, {}))
    notes = [_copies_text(copies)] if copies and entry.family != REFERENCE else []
    may_rank = not reasons and (is_reproduced or not notes) and entry.value is not None
    entry = replace(
        entry,
        badge=REPRODUCED_BADGE if is_reproduced else entry.badge,
        remark="; ".join([*reasons, *notes]),
        copies=tuple(copies),
    )
    return entry, may_rank


def _grid_of(entry: Entry, evidence: Evidence) -> tuple[object, ...]:
    """Return what points of a grid share: authors, budget, the name but for rate, decay and warm-up."""
    parts = [part for part in entry.method.split(", ") if not part.startswith(_POINT_PREFIXES)]
    form = entry.replies and entry.replies.form
    return (*evidence.content["method"]["authors"], None, *parts, entry.budget, form)


def _choose(entries: Mapping[str, Evidence], judged: Sequence[Judged]) -> list[Judged]:
    """Return the rows; of each grid, only the point with the best score on `SELECTION` may be ranked.

    The score that ranks must not choose: the best of many points is best by luck, too. So points that its
    score keeps from a rank may be chosen, too.
    """
    rows = [(*row, _grid_of(row[0], each)) for row, each in zip(judged, entries.values(), strict=True)]
    points: dict[object, list[tuple[float, Entry]]] = {}
    for (entry, _, grid), evidence in zip(rows, entries.values(), strict=True):
        found = entry.by_split.get(SELECTION) if evidence.board.primary_split != SELECTION else None
        if found and found.value is not None:
            value = found.value if evidence.board.higher_is_better else -found.value
            points.setdefault(grid, []).append((value, entry))
    chosen = []
    for entry, may_rank, grid in rows:
        of_grid = points.get(grid, [(0.0, entry)])
        _, other = max(of_grid, key=lambda point: point[0])
        if other.method == entry.method:
            scores = [point.value for _, point in of_grid if point.value is not None]
            if len({point.method for _, point in of_grid}) > 1 and scores:
                entry = replace(entry, grid_range=(min(scores), max(scores)))
        else:
            message = f"{SELECTION} chooses another point of its grid, {other.id}"
            entry = replace(entry, remark="; ".join(filter(None, [entry.remark, message])))
            may_rank = False
        chosen.append((entry, may_rank))
    return chosen


def judge_filed(entries: Mapping[str, Evidence], reproduced: set[str], pins: Pins) -> list[Judged]:
    """Return the rows of what is filed for a board.

    Args:
        entries: by their ids.
        reproduced: ids of those that a maintainer has run again.
        pins: fingerprints of the documents of corpora.
    """
    copies = find_copies(entries)
    judged = [
        _judge(entry_id, evidence, copies[entry_id], pins, is_reproduced=entry_id in reproduced)
        for entry_id, evidence in entries.items()
    ]
    return _choose(entries, judged)


def judge_own(own: Mapping[str, Evidence], filed: Mapping[str, Evidence], pins: Pins) -> list[Judged]:
    """Return the rows of the reader's own submissions to a board; what is filed keeps its rows.

    Args:
        own: by what is shown of their directories.
        filed: what they may be copies of.
        pins: fingerprints of the documents of corpora.
    """
    judged = []
    for name, evidence in own.items():
        others = {**filed, **{other: each for other, each in own.items() if other != name}}
        copies = [other for other, each in others.items() if is_copy(evidence, each)]
        entry, may_rank = _judge(name, evidence, copies, pins)
        judged.append((replace(entry, date=None, own=True), may_rank))
    return judged


def _ranked(board: Board, entries: Sequence[Judged]) -> tuple[Entry, ...]:
    """Return entries with their ranks among those of the same budget and form of prompts, the best first.

    Entries share the rank of the best whose value theirs doesn't differ from by more than scores of the
    same predictions may on two machines.
    """
    sign = -1 if board.higher_is_better else 1
    ordered = sorted(
        entries, key=lambda e: (e[0].value is None, sign * (e[0].value or 0), e[0].method, e[0].id)
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


def make_standings(
    only: str | None, rows: Callable[[Board], Sequence[Judged]], pins: Pins
) -> tuple[Standing, ...]:
    """Return the standing of every board that ranks or has entries, or of one board.

    Args:
        only: id of a board; None for all.
        rows: returns those of a board; what papers report comes to them.
        pins: fingerprints of the documents of corpora.

    Raises:
        ConfigurationError: if there is no such board.
    """
    standings = []
    for board in map(read_board, [only] if only else board_ids()):
        found = [*rows(board), *((row, False) for row in reported_entries(board))]
        if only or found or board.is_ranked:
            note = no_fingerprint(board, pins.get(board.digest, {}))
            standings.append(Standing(board, _ranked(board, found), note))
    return tuple(standings)


def of_board(board: Board, entries: Mapping[str, Evidence]) -> dict[str, Evidence]:
    """Return those of some submissions that are for a board."""
    return {name: each for name, each in entries.items() if each.board.id == board.id}


def _read_entry(folder: Path, gather: Callable[[Path], Evidence]) -> Evidence:
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
    pins: Pins | None = None,
    gather: Callable[[Path], Evidence] = gather_evidence,
    own: Mapping[str, Evidence] = MappingProxyType({}),
) -> Leaderboard:
    """Return the standing of every board that ranks or has entries, or of one board.

    Args:
        leaderboard: the leaderboard's folder.
        only: id of a board; None for all.
        last: the latest day on which an entry can have been filed; None for today (UTC).
        pins: fingerprints of the documents of corpora; None for those of this installation.
        gather: returns what a submission shows, given its folder.
        own: what the reader's own submissions show, to stand among the filed ones, by what is shown of
            their directories.

    Raises:
        ConfigurationError: if there is no such board.
    """
    pins = read_pins() if pins is None else pins
    if only:
        read_board(only)  # before anything is scored for a board that there isn't
    found: dict[str, Evidence] = {}
    faults = []
    for each in walk_filed(leaderboard, last or today(), only):
        if isinstance(each, Fault):
            faults.append(each)
            continue
        entry_id = f"{each.parent.name}/{each.name}"
        try:
            found[entry_id] = _read_entry(each, gather)
        except Exception as error:  # whatever an untrusted entry breaks, it is reported and hides no other
            faults.append(fault_of(entry_id, error))
    reproduced, misfits = read_reproduced(leaderboard, found, only)

    def rows(board: Board) -> list[Judged]:
        filed = of_board(board, found)
        return judge_filed(filed, reproduced, pins) + judge_own(of_board(board, own), filed, pins)

    return Leaderboard(make_standings(only, rows, pins), (*faults, *misfits))


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
