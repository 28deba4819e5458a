"""A pull request for a filed entry, by GitHub's own command-line client.

A commit with the one folder is made on top of what the remote has, in an index of its own, and pushed
as a branch: the user's branch, index and other changes stay as they are. Hooks don't run. The folder stays
the truth: whatever fails, it lies there, and the same may be done by hand.
"""

import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from sraven.core.base.errors import ChangeError
from sraven.core.base.escape import escape
from sraven.core.contribution.change import LEADERBOARD
from sraven.core.contribution.git import PLAIN, Repository
from sraven.core.untrusted.read import list_files

_REMOTE = "origin"
_SECONDS = 300
_MOST_FILES = 500
_ON_GITHUB = re.compile(r"github\.com[:/]([A-Za-z0-9-]+)/")
_WITHOUT = "or leave out --pr, and open the pull request by hand"


@dataclass(frozen=True)
class Proposer:
    """Opens pull requests from a checkout. `make_proposer` checks first that it can.

    Attributes:
        root: of the checkout.
        client: GitHub's client, named in full.
    """

    root: Path
    client: str

    def propose(self, folder: Path, title: str, text: str) -> str:
        """Open a pull request that adds a filed entry; return its address.

        Args:
            folder: the entry, in the checkout.
            title: of the pull request, and of its commit.
            text: what it says.

        Raises:
            ChangeError: if it can't be opened; the message says what to do. The folder stays as it is.
        """
        path = folder.resolve().relative_to(self.root).as_posix()
        branch = f"submission/{folder.parent.name}/{folder.name}"
        repository = _Checkout(self.root)
        try:
            base, name = repository.newest(_REMOTE)
            commit = repository.commit_folder(base, folder, path, title)
            repository.push(_REMOTE, commit, branch)
        except ChangeError as error:
            raise ChangeError(
                f"{error}; {path} is filed: commit it and open a pull request by hand"
            ) from None
        owner = _ON_GITHUB.search(repository.address(_REMOTE))
        head = f"{owner[1]}:{branch}" if owner else branch
        options = (f"--title={title}", f"--body={text}", f"--base={name}", f"--head={head}")
        code, printed, complaint = _run(self.client, "pr", "create", *options, root=self.root)
        if code:
            raise ChangeError(
                f"gh pr create failed: {_first_line(complaint)}; the branch {branch} is pushed to {_REMOTE}: "
                "open a pull request from it by hand"
            )
        return escape(printed.strip().splitlines()[-1] if printed.strip() else branch, 300)


def make_proposer(leaderboard: Path) -> Proposer:
    """Return what opens pull requests from the checkout that a leaderboard's folder is in.

    Raises:
        ChangeError: if GitHub's client isn't installed or logged in, there is no such checkout or remote, or
            something is staged.
    """
    client = shutil.which("gh")
    if client is None or not os.path.isabs(client):
        raise ChangeError(
            f"--pr needs GitHub's command-line client, gh, which isn't installed: do so, {_WITHOUT}"
        )
    try:
        root = Path(_Checkout(leaderboard).root()).resolve()
    except ChangeError:
        raise ChangeError(
            f"{leaderboard} isn't in a checkout of the project: run this in one, {_WITHOUT}"
        ) from None
    if leaderboard.resolve() != root / LEADERBOARD:
        raise ChangeError(f"{leaderboard} isn't {LEADERBOARD} of its checkout: name that one, {_WITHOUT}")
    repository = _Checkout(root)
    if repository.is_staged():
        raise ChangeError(
            f"the checkout has staged changes: commit or unstage them (git restore --staged .), {_WITHOUT}"
        )
    if not repository.address(_REMOTE):
        raise ChangeError(f"the checkout has no remote {_REMOTE}: add one (git remote add), {_WITHOUT}")
    if _run(client, "auth", "status", root=root)[0]:
        raise ChangeError(f"gh isn't logged in: run gh auth login, {_WITHOUT}")
    return Proposer(root, client)


class _Checkout(Repository):
    """Makes a commit beside the working copy, and pushes it.

    What needs the user's own configuration, such as a name or a password, sees it; the rest doesn't.
    """

    def root(self) -> str:
        """Return the root of the working copy."""
        return os.fsdecode(self._ask("rev-parse", "--show-toplevel")).rstrip("\n")

    def is_staged(self) -> bool:
        """Return whether the index holds what no commit has."""
        return bool(self._ask("diff-index", "--cached", "--name-only", "-z", "HEAD"))

    def address(self, remote: str) -> str:
        """Return where a remote is; an empty text if there is none."""
        found = self._ask("config", "--get", f"remote.{remote}.url", allowed=(0, 1))
        return found.decode("utf-8", "replace").strip()

    def newest(self, remote: str) -> tuple[str, str]:
        """Fetch the remote's own branch; return its commit and its name."""
        output = self._ask("ls-remote", "--symref", remote, "HEAD", is_own=True).decode("utf-8", "replace")
        heads = re.search(r"^ref: refs/heads/(\S+)\tHEAD$", output, re.MULTILINE)
        commit = re.search(r"^([0-9a-f]{40,64})\tHEAD$", output, re.MULTILINE)
        if not heads or not commit:
            raise ChangeError(f"the remote {remote} has no branch of its own")
        options = ("--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules")
        self._ask("fetch", *options, remote, f"refs/heads/{heads[1]}", is_own=True)
        return self.commit(commit[1]), heads[1]

    def commit_folder(self, base: str, folder: Path, path: str, message: str) -> str:
        """Return a commit on top of another, with the files of a folder at a path and nothing else new."""
        names = list_files(folder, _MOST_FILES)
        listed = "".join(f"{(folder / name).resolve()}\n" for name in names).encode()
        blobs = self._ask("hash-object", "-w", "--no-filters", "--stdin-paths", given=listed).split()
        entries = "".join(
            f"{PLAIN} {blob.decode()}\t{path}/{name}\n" for name, blob in zip(names, blobs, strict=True)
        )
        with tempfile.TemporaryDirectory() as scratch:
            index = {"GIT_INDEX_FILE": os.path.join(scratch, "index")}
            self._ask("read-tree", base, environment=index)
            self._ask("update-index", "--add", "--index-info", given=entries.encode(), environment=index)
            tree = self._ask("write-tree", environment=index).decode().strip()
        if tree == self._ask("rev-parse", "--verify", f"{base}^{{tree}}").decode().strip():
            raise ChangeError(f"the remote has {path} as it is")
        made = self._ask("commit-tree", tree, "-p", base, given=f"{message}\n".encode(), is_own=True)
        return made.decode().strip()

    def push(self, remote: str, commit: str, branch: str) -> None:
        """Push a commit as a new branch of a remote."""
        self._ask("push", "--quiet", "--no-verify", remote, f"{commit}:refs/heads/{branch}", is_own=True)


def _run(program: str, *arguments: str, root: Path) -> tuple[int, str, str]:
    """Run a program in a checkout; return its exit code and what it prints. It can't ask anything."""
    try:
        done = subprocess.run(  # noqa: S603  # a program named in full, options of ours, no shell
            [program, *arguments],
            cwd=root,
            env={**os.environ, "GH_PROMPT_DISABLED": "1", "NO_COLOR": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return 1, "", str(error)
    return done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")


def _first_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return escape(lines[0] if lines else "it didn't say why", 300)
