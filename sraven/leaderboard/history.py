"""What git says of a leaderboard: files of commits, and which entry came into the history before which.

These commands read objects alone, and run nothing that a repository or a tree names.
"""

import os
import subprocess
from pathlib import Path, PurePosixPath

from sraven.core.errors import BusyError, ChangeError
from sraven.leaderboard.submissions.runs import DESCRIPTION

_SECONDS = 600
_NOTHING_OF_USERS = {
    **dict.fromkeys(("GIT_CONFIG_NOSYSTEM", "GIT_NO_LAZY_FETCH", "GIT_NO_REPLACE_OBJECTS"), "1"),
    **dict.fromkeys(("GIT_CONFIG_GLOBAL", "GIT_GRAFT_FILE"), os.devnull),
    "LC_ALL": "C",
}


def git(checkout: Path, *arguments: str, given: bytes = b"") -> bytes:
    """Return what a command of git prints, given its input; no configuration of users has a say.

    Raises:
        ChangeError: if it fails.
        BusyError: if it doesn't end.
    """
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(  # noqa: S603  # options of ours, no shell
            ["git", "-C", str(checkout), "-c", "core.fsmonitor=false", *arguments],  # noqa: S607
            env={**inherited, **_NOTHING_OF_USERS},
            input=given,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise BusyError(f"git {arguments[0]} didn't end within {_SECONDS} s; try again") from None
    except OSError as error:
        raise ChangeError(f"git {arguments[0]} failed: {error}") from None
    if done.returncode:
        lines = done.stderr.decode("utf-8", "replace").splitlines()
        named = [line for line in lines if line.startswith(("fatal:", "error:"))]
        raise ChangeError(f"git {arguments[0]} failed: {[*named, *lines, 'it says no reason'][0]}")
    return done.stdout


def filing_order(checkout: Path, submissions: str, commit: str = "HEAD") -> dict[str, int]:
    """Return a number for each entry, the lower the earlier it was merged; one for those of one commit.

    Submitters choose the dates of folders and of their commits. What they don't choose is the place on the
    main line, that of first parents, where their entry came in.

    Args:
        checkout: a directory of a repository.
        submissions: the folder of the entries, seen from that directory.
        commit: up to which the main line is read.

    Returns:
        by the ids of entries; nothing where there is no history to read.
    """
    try:
        line = git(checkout, "rev-list", "--first-parent", "--reverse", "--parents", commit, "--")
        pairs = b"".join(b" ".join(each.split()[:2]) + b"\n" for each in line.splitlines())
        named = ("--name-only", "--no-renames", "--diff-filter=A", "--", submissions)
        listed = git(checkout, "diff-tree", "--stdin", "--root", "-r", *named, given=pairs)
    except ChangeError:
        return {}
    order, number = dict[str, int](), 0
    for each in listed.decode("utf-8", "replace").splitlines():
        parts = PurePosixPath(each).parts
        number += len(parts) == 1  # the name of a commit; paths of what it adds follow
        if parts[-1] == DESCRIPTION:
            order["/".join(parts[-3:-1])] = number
    return order
