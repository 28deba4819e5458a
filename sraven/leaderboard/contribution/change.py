"""Checks of a pull request: it adds one submission to the leaderboard, and changes nobody's standing.

What is compared and scored are commits, read by git. Neither the index nor the working copy of the checkout
is read, so nothing that lies in it is ever run, followed or believed.
"""

import re
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import date
from functools import cache, partial
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple
from unicodedata import category, normalize

from sraven.board.board import Board, read_board
from sraven.core.errors import ChangeError, ConfigurationError, SubmissionError
from sraven.core.escape import escape
from sraven.leaderboard.copies import equal_seeds
from sraven.leaderboard.evidence import Evidence, sharing_boards
from sraven.leaderboard.folder import filing_date, today as this_day
from sraven.leaderboard.history import filing_order, git
from sraven.leaderboard.maintainers import CONFIRMED
from sraven.leaderboard.ranking import read_entry, read_leaderboard
from sraven.leaderboard.standing import Entry, Leaderboard
from sraven.leaderboard.submissions.runs import DESCRIPTION, README, SCORES
from sraven.leaderboard.submissions.submission import SUBMISSIONS
from sraven.leaderboard.submissions.submit import slug

LEADERBOARD = "docs/leaderboard"
"""Where the leaderboard lies in a checkout of the project."""

GUARDED = (
    LEADERBOARD,
    "sraven/leaderboard/snapshot",
    *(f"{package}/boards" for package in ("sraven", "sraven/text", "sraven/text/twins", "sraven/twins")),
    "fuzzylogic/boards",
    ".github",
    ".ci",
)
"""Folders of what decides who is ranked and isn't code: entries and what maintainers say of them, boards with
their levels, the snapshot, and what checks and writes these. All but a new submission is for maintainers."""

_FILED = f"{LEADERBOARD}/{SUBMISSIONS}"
_RULE = f"a submission adds one folder {_FILED}/<board>/<date>-<name> and touches nothing else"

_NAMES = re.compile(
    rf"{DESCRIPTION}|{README}|{SCORES}|predictions/[a-z0-9_]+/seed-\d{{1,19}}\.parquet", re.ASCII
)
"""Of the files of a submission, in its folder."""

_MOST_FILES, _MOST_BYTES = 200, 1 << 26

PLAIN = "100644"
_KINDS = {"100755": "is executable", "120000": "is a link", "160000": "is a submodule"}


class TreeFile(NamedTuple):
    """A file of a commit: its mode, the name of its content, and its bytes (``-`` for a submodule)."""

    mode: str
    oid: str
    size: str


Tree = Mapping[str, TreeFile]
"""The files of a commit by path; what is no UTF-8 in a path stays as it is."""


def check_change(
    base: str, checkout: Path, *, today: date | None = None, most_bytes: int = _MOST_BYTES
) -> dict[str, Any] | None:
    """Check that the commit ``HEAD`` of a checkout may be merged into another as a submission.

    Args:
        base: the commit it is to be merged into, such as ``main``, of which ``HEAD`` is a successor.
        checkout: the working copy of a repository that has both commits and their histories.
        today: the day after which no submission is dated; None for today (UTC).
        most_bytes: that a submission may have, and that may be new in the commits.

    Returns:
        ``folder`` of the submission, ``scores`` as recomputed and its ``rank``; None if nothing that
        is guarded is changed.

    Raises:
        ChangeError: for the first thing that isn't allowed, and whenever git fails. The message is one
            line that can be printed anywhere, the log of a workflow included.
        BusyError: if the machine is too busy to tell.
    """
    try:
        return _check(base, checkout, today or this_day(), most_bytes)
    except ConfigurationError as error:
        # GitHub's runner obeys ##[command] wherever it stands in a line.
        message = escape(" ".join(str(error).split()), 1000).replace("##[", r"#\x23[")
        raise ChangeError(message) from None


def _check(base: str, checkout: Path, today: date, most_total: int) -> dict[str, Any] | None:
    goal, head = (_commit(checkout, revision) for revision in (base, "HEAD"))
    if int(git(checkout, "rev-list", "--count", goal, f"^{head}")):
        raise ChangeError(
            f"{escape(base)} isn't part of what is checked; merge it first (git merge), and fetch the whole "
            "history if the clone is shallow (git fetch --unshallow)"
        )
    before, after = _tree(checkout, goal), _tree(checkout, head)
    changed = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
    if not any(map(_concerns, changed)):
        return None
    folder = _find_addition(changed, before, after, today)
    board = read_board(PurePosixPath(folder).parts[3])
    total = sum(int(after[path].size) for path in changed)
    if len(changed) > _MOST_FILES or total > most_total:
        raise ChangeError(
            f"{folder} has {len(changed):,} files of {total:,} bytes; expected {_MOST_FILES} of "
            f"{most_total:,} at most"
        )
    new = int(git(checkout, "rev-list", "--objects", "--disk-usage", head, f"^{goal}"))
    if new > most_total:
        raise ChangeError(
            f"the commits hold {new:,} bytes that are new; expected {most_total:,} or fewer: what a later "
            "commit removes stays in the history, so make one commit of what is left"
        )
    with tempfile.TemporaryDirectory(prefix="sraven-change-") as name:
        root = Path(name)
        _extract(checkout, after, board, root)
        evidence = _check_entry(folder, root)
        order = filing_order(checkout, _FILED, goal)
        rank = _check_standing(folder, evidence, root, today, order)
    return {"folder": folder, "scores": evidence.scores, "rank": rank}


def _commit(checkout: Path, revision: str) -> str:
    """Return the name of the commit that a revision such as ``HEAD`` stands for."""
    return git(checkout, "rev-parse", "--verify", "--end-of-options", revision + "^{commit}").decode().strip()


def _tree(checkout: Path, commit: str) -> Tree:
    """Return the files of a commit."""
    listed = git(checkout, "ls-tree", "-r", "-z", "-l", "--full-tree", commit)
    found: dict[str, TreeFile] = {}
    for line in listed.decode("utf-8", "surrogateescape").split("\0")[:-1]:
        record, _, path = line.partition("\t")
        mode, _, oid, size = record.split()
        if path in found:
            raise ChangeError(f"{escape(path)}: the tree names this path twice")
        if mode == PLAIN and not size.isdigit():
            raise ChangeError(f"git ls-tree failed: the repository lacks {escape(path)}")
        found[path] = TreeFile(mode, oid, size)
    return found


def _extract(checkout: Path, tree: Tree, board: Board, goal: Path) -> None:
    """Write the entries of a board, and what maintainers say of entries, below a folder of ours."""
    for path, file in tree.items():
        parts = PurePosixPath(path).parts
        is_ours = parts[:2] == PurePosixPath(LEADERBOARD).parts and parts[3:4] in ((), (board.id,))
        if is_ours and file.mode == PLAIN:
            (goal / path).parent.mkdir(parents=True, exist_ok=True)
            (goal / path).write_bytes(git(checkout, "cat-file", "blob", file.oid))


# What is changed


def _names(part: str, guarded: str) -> bool:
    """Return whether a part of a path is a guarded name, or may be short for it on Windows: ``LEADER~1``."""
    return part == guarded or ("~" in part and part.lstrip(".")[:2] == guarded.lstrip(".")[:2])


def _concerns(path: str) -> bool:
    """Return whether a path is guarded: a file below one of `GUARDED`, or what would take its place.

    That is also what becomes one on systems that don't distinguish all names, or have several for a file.
    """
    text = "".join(letter for letter in normalize("NFKC", path) if category(letter) != "Cf").casefold()
    parts = normalize("NFC", text).replace("\\", "/").split("/")
    plain = [part.partition(":")[0].rstrip(". ") for part in parts]
    return any(all(map(_names, plain, guarded.split("/"))) for guarded in GUARDED)


def _find_addition(changed: Iterable[str], before: Tree, after: Tree, today: date) -> str:
    """Return the one folder that a change adds.

    Raises:
        ChangeError: if it does anything else.
    """
    folders = set()
    guarded = list(filter(_concerns, changed))
    if not any(path.startswith(f"{_FILED}/") for path in changed):
        raise ChangeError(
            f"{escape(guarded[0])} has a say in who is ranked: only maintainers change it, in a pull request "
            "without a submission, which they review and merge themselves"
        )
    for path in changed:
        if path not in after or path in before:
            raise ChangeError(f"{escape(path)} is {'changed' if path in after else 'removed'}; {_RULE}")
        if (mode := after[path].mode) != PLAIN:
            raise ChangeError(f"{escape(path)} {_KINDS.get(mode, 'is no plain file')}; {_RULE}")
        parts = PurePosixPath(path).parts
        if "/".join(parts[:3]) != _FILED or len(parts) < 6:
            raise ChangeError(f"{escape(path)} isn't a file of a submission's folder; {_RULE}")
        if not _NAMES.fullmatch("/".join(parts[5:])):
            raise ChangeError(f"{escape(path)} isn't part of a submission; remove it")
        folders.add("/".join(parts[:5]))
    if len(folders) > 1:
        one, other = sorted(folders)[:2]
        raise ChangeError(f"{escape(one)} and {escape(other)} are two folders; {_RULE}")
    [folder] = folders
    if any(path.startswith(f"{folder}/") for path in before):
        raise ChangeError(f"{escape(folder)} is there already; give the method another name")
    try:
        filing_date(PurePosixPath(folder).name, today)
    except SubmissionError as error:
        raise ChangeError(f"{escape(folder)} {error}") from None
    return folder


# The entry


def _check_entry(folder: str, root: Path) -> Evidence:
    """Check a new entry as the standing does, its name, and that its seeds differ; return what it shows."""
    try:
        evidence = read_entry(root / folder)
    except SubmissionError as error:
        raise ChangeError(f"{folder}: {error}") from None
    name = slug(evidence.content["method"]["name"])
    if PurePosixPath(folder).name[9:] != name:
        raise ChangeError(f"{folder}: by the name of the method, the folder is called <date>-{name}")
    if same := equal_seeds(evidence):
        raise ChangeError(f"{folder}: {same}; each seed is a run of its own")
    return evidence


def _check_standing(
    folder: str, evidence: Evidence, root: Path, today: date, order: Mapping[str, int]
) -> int | None:
    """Refuse an entry that is a copy, or changes another's standing but by its score; return its rank.

    The standing is read without the entry and with it: what `--add` shows is what is filed.
    """
    (root / folder).rename(root / "new")
    gather = cache(sharing_boards())
    read = partial(
        read_leaderboard, root / LEADERBOARD, evidence.board.id, last=today, gather=gather, order=order
    )
    before, after = read(), read(own={folder.removeprefix(f"{_FILED}/"): evidence})
    [new] = [entry for entry in _entries(after) if entry.own]
    if new.copies:
        raise ChangeError(
            f"{folder} predicts the same as {new.copies[0]}, or nearly so; a submission has its own, and one "
            f"that replaces another is merged by a maintainer, with a line in {CONFIRMED}"
        )
    if moved := displaced(before, after, new):
        raise ChangeError(f"{folder} would change the standing of {moved}")
    return new.rank


def _entries(found: Leaderboard) -> list[Entry]:
    return [entry for each in found.standings for entry in each.entries]


def displaced(before: Leaderboard, after: Leaderboard, new: Entry) -> str:
    """Return an entry whose standing changes by another's filing, though that doesn't score higher.

    Args:
        before: the standing of a board without the new entry.
        after: that with it.
        new: the entry, in the latter.

    Returns:
        the folder of the first of them; an empty text if there is none.
    """
    [board] = [each.board for each in after.standings]
    left = {entry.id: entry for entry in _entries(after) if entry is not new and entry.id}
    for entry in _entries(before):
        now = left.get(entry.id) if entry.id else entry
        if now is None or replace(now, rank=entry.rank, rank_range=entry.rank_range) != entry:
            return entry.id
        is_passed = new.rank and board.sign * ((new.value or 0) - (entry.value or 0)) > 0
        if now.rank != entry.rank and not (is_passed and entry.rank and now.rank and now.rank > entry.rank):
            return entry.id
    return ""
