"""Checks of a pull request: it adds one submission to the leaderboard, and touches nothing else.

Compared are trees of commits, and what is scored is extracted from them. Neither the index nor the
working copy of the checkout is read, so nothing that lies in it is ever run, followed or believed.
"""

import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path, PurePosixPath
from typing import Any
from unicodedata import category, normalize

from sraven.core.base.errors import ChangeError, ConfigurationError, SubmissionError
from sraven.core.base.escape import escape
from sraven.core.boards.board import Board, read_board
from sraven.core.contribution.git import EXECUTABLE, LINK, PLAIN, SUBMODULE, Item, Repository
from sraven.core.leaderboard.copies import equal_seeds
from sraven.core.leaderboard.evidence import gather_evidence
from sraven.core.leaderboard.filed import filing_date, today as this_day
from sraven.core.leaderboard.ranking import read_leaderboard
from sraven.core.page.page import write_page
from sraven.core.submissions.runs import DESCRIPTION, README, SCORES
from sraven.core.submissions.submission import SUBMISSIONS, differing, read_description, read_scores
from sraven.core.submissions.submit import slug
from sraven.core.submissions.training_log import MOST_BYTES
from sraven.core.untrusted.read import most_bytes

LEADERBOARD = "docs/leaderboard"
"""Where the leaderboard lies in a checkout of the project."""

_FILED = f"{LEADERBOARD}/{SUBMISSIONS}"
_RULE = f"a submission adds one folder {_FILED}/<board>/<date>-<name> and touches nothing else"

_RUN_FILE = re.compile(r"predictions/([a-z0-9_]+)/seed-\d{1,19}\.parquet", re.ASCII)
_LOG_FILE = re.compile(r"training/seed-\d{1,19}\.jsonl", re.ASCII)
_SAFE_PATH = re.compile(r"\w[\w.-]*(?:/\w[\w.-]*)*", re.ASCII)

_MOST_OF = {DESCRIPTION: 1 << 18, README: 1 << 20, SCORES: 1 << 22}
_MOST_FILES, _MOST_BYTES = 200, 1 << 26
_AT_ONCE = 20

_KINDS = {EXECUTABLE: "is executable", LINK: "is a link", SUBMODULE: "is a submodule"}


@dataclass(frozen=True)
class Addition:
    """The one submission that a change adds.

    Attributes:
        board: the board below whose name it is filed.
        folder: its folder, from the root of the project.
        files: what it holds, by path within the folder.
    """

    board: Board
    folder: str
    files: Mapping[str, Item]


def check_change(
    base: str, checkout: Path, *, today: date | None = None, most_bytes: int = _MOST_BYTES
) -> dict[str, Any] | None:
    """Check that the commit ``HEAD`` of a checkout may be merged into another as a submission.

    Args:
        base: the commit it is to be merged into, such as ``main``.
        checkout: the working copy of a repository that has both commits and their histories.
        today: the day after which no submission is dated; None for today (UTC).
        most_bytes: that a submission may have, and that may be new in the commits.

    Returns:
        ``folder`` of the submission and ``scores`` as recomputed; None if nothing of the leaderboard is
        changed.

    Raises:
        ChangeError: for the first thing that isn't allowed, and whenever git fails. The message is one
            line that can be printed anywhere, the log of a workflow included.
    """
    try:
        return _check(base, Repository(checkout), today or this_day(), most_bytes)
    except ConfigurationError as error:
        # GitHub's runner obeys ##[command] wherever it stands in a line.
        message = escape(" ".join(str(error).split()), 1000).replace("##[", r"#\x23[")
        raise ChangeError(message) from None


def _check(base: str, repository: Repository, today: date, most_total: int) -> dict[str, Any] | None:
    goal, head = repository.commit(base), repository.commit("HEAD")
    start = repository.merge_base(goal, head)
    old, new = repository.tree(start), repository.tree(head)
    paths = sorted(path for path in {**old, **new} if old.get(path) != new.get(path))
    changed = {path: (old.get(path), new.get(path)) for path in paths}
    if not any(map(_concerns, changed)):
        return None
    merged = repository.tree(goal)
    addition = _find_addition(changed, today)
    _check_place(addition, merged)
    _check_sizes(addition, most_total)
    if (total := repository.new_bytes(goal, head)) > most_total:
        raise ChangeError(
            f"the commits hold {total:,} bytes that are new; expected {most_total:,} or fewer: what a later "
            "commit removes stays in the history, so make one commit of what is left"
        )
    with tempfile.TemporaryDirectory(prefix="sraven-change-") as name:
        root = Path(name)
        _extract(repository, _below(merged, LEADERBOARD), root / LEADERBOARD)
        _extract(repository, addition.files, root / addition.folder)
        scores = _check_entry(addition, root)
        _check_standing(addition, root, today)
    return {"folder": addition.folder, "scores": scores}


# What is changed


def _folded(path: str) -> str:
    """Return what a path becomes on systems that don't distinguish all names."""
    text = "".join(letter for letter in normalize("NFKC", path) if category(letter) != "Cf").casefold()
    return "/".join(part.rstrip(". ") for part in normalize("NFC", text).split("/"))


def _concerns(path: str) -> bool:
    """Return whether a path is the leaderboard's: one of its files, or what would take its place."""
    folded = _folded(path)
    return f"{folded}/".startswith(f"{LEADERBOARD}/") or LEADERBOARD.startswith(f"{folded}/")


def _below(tree: Mapping[str, Item], folder: str) -> dict[str, Item]:
    """Return the plain files below a folder that a file system can hold, by their path within it."""
    start = f"{folder}/"
    inside = {path.removeprefix(start): item for path, item in tree.items() if path.startswith(start)}
    return {path: item for path, item in inside.items() if item.mode == PLAIN and _SAFE_PATH.fullmatch(path)}


def _find_addition(changed: Mapping[str, tuple[Item | None, Item | None]], today: date) -> Addition:
    """Return the one folder that a change adds.

    Raises:
        ChangeError: if it does anything else.
    """
    folders: dict[str, dict[str, Item]] = {}
    for path, (old, new) in changed.items():
        if old is not None or new is None:
            what = "is removed" if new is None else "is changed"
            raise ChangeError(f"{escape(path)} {what}; {_RULE}")
        if new.mode != PLAIN:
            raise ChangeError(f"{escape(path)} {_KINDS.get(new.mode, 'is no plain file')}; {_RULE}")
        parts = PurePosixPath(path).parts
        if "/".join(parts[:3]) != _FILED or len(parts) < 6:
            raise ChangeError(f"{escape(path)} isn't a file of a submission's folder; {_RULE}")
        folders.setdefault("/".join(parts[:5]), {})["/".join(parts[5:])] = new
    if len(folders) > 1:
        one, other = list(folders)[:2]
        raise ChangeError(f"{escape(one)} and {escape(other)} are two folders; {_RULE}")
    [(folder, files)] = folders.items()
    board_id, name = PurePosixPath(folder).parts[3:]
    try:
        filing_date(name, today)
    except SubmissionError as error:
        raise ChangeError(f"{escape(folder)} {error}") from None
    return Addition(read_board(board_id), folder, files)


def _check_place(addition: Addition, merged: Mapping[str, Item]) -> None:
    """Refuse a folder that is taken, on systems too that don't distinguish all names."""
    goal = _folded(addition.folder)
    for path in merged:
        if f"{_folded(path)}/".startswith(f"{goal}/"):
            raise ChangeError(f"{addition.folder} is taken by {escape(path)}; give the method another name")


def _check_sizes(addition: Addition, most_total: int) -> None:
    """Refuse files that no submission has, or that are too large, before any is read."""
    board = addition.board
    if len(addition.files) > _MOST_FILES:
        raise ChangeError(
            f"{addition.folder} has {len(addition.files):,} files; expected {_MOST_FILES} or fewer"
        )
    for path, item in addition.files.items():
        run, most = _RUN_FILE.fullmatch(path), _MOST_OF.get(path)
        if run and run[1] in board.splits:
            most = most_bytes(board.splits[run[1]], board.prediction)
        elif board.is_corpus and _LOG_FILE.fullmatch(path):
            most = MOST_BYTES
        where = f"{addition.folder}/{escape(path)}"
        if most is None:
            raise ChangeError(f"{where} isn't part of a submission to {board.id}; remove it")
        if item.size > most:
            raise ChangeError(f"{where} has {item.size:,} bytes; expected {most:,} or fewer")
    if (total := sum(item.size for item in addition.files.values())) > most_total:
        raise ChangeError(f"{addition.folder} has {total:,} bytes; expected {most_total:,} or fewer")


def _extract(repository: Repository, files: Mapping[str, Item], goal: Path) -> None:
    """Write blobs to where their paths say, below a folder of ours; few are in memory at once."""
    listed = list(files.items())
    for first in range(0, len(listed), _AT_ONCE):
        for path, data in repository.blobs(dict(listed[first : first + _AT_ONCE])).items():
            (goal / path).parent.mkdir(parents=True, exist_ok=True)
            (goal / path).write_bytes(data)


# The entry


def _check_entry(addition: Addition, root: Path) -> Mapping[str, Any]:
    """Check a new entry as ``sraven score --check`` does, and that its seeds differ; return its scores."""
    folder, board = root / addition.folder, addition.board
    content, _ = read_description(folder)
    if content["board"] != board.id:
        raise ChangeError(f"{addition.folder} is for {content['board']}; file it below {content['board']}")
    name = slug(content["method"]["name"])
    if PurePosixPath(addition.folder).name[9:] != name:
        raise ChangeError(f"{addition.folder}: by the name of the method, the folder is called <date>-{name}")
    evidence = gather_evidence(folder)
    if places := differing(read_scores(folder), evidence.scores):
        raise ChangeError(f"{addition.folder}/{SCORES}: {places[0]} isn't what the predictions score")
    if same := equal_seeds(evidence):
        raise ChangeError(f"{addition.folder}: {same}; each seed is a run of its own")
    return evidence.scores


def _check_standing(addition: Addition, root: Path, today: date) -> None:
    """Refuse an entry that isn't on the leaderboard that has it, or that is a copy of one that was there."""
    found = read_leaderboard(root / LEADERBOARD, last=today)
    entry_id = addition.folder.removeprefix(f"{_FILED}/")
    entry = next((one for each in found.standings for one in each.entries if one.id == entry_id), None)
    if entry is None:
        reasons = [fault.reason for fault in found.faults if fault.place == entry_id]
        raise ChangeError(f"{addition.folder} isn't on the leaderboard: {'; '.join(reasons) or 'no board'}")
    if entry.copies:
        other = entry.copies[0]
        raise ChangeError(
            f"{addition.folder} predicts the same as {other}, or nearly so; a submission has its own"
        )
    write_page(root / "page", found.standings, found.faults)
