"""A git repository with untrusted content, read through plumbing commands alone.

It answers which commit a name stands for, what a tree holds, what a blob holds. Attributes, filters,
hooks, drivers, the index and the working copy have no say in any of it, and neither has a configuration
outside the repository. Nothing is fetched. Every answer is bounded, every exit code looked at, and what a
blob holds is compared with its name.
"""

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Timer
from typing import IO

from sraven.core.base.errors import ChangeError
from sraven.core.base.escape import escape

PLAIN, EXECUTABLE, LINK, SUBMODULE = "100644", "100755", "120000", "160000"
"""Modes of what a tree names."""

_SECONDS = 60
_MOST_LISTED = 1 << 25
_MOST_MESSAGE = 1 << 12

_OPTIONS = (
    "--no-pager",
    "--literal-pathspecs",
    "--no-replace-objects",
    "--no-optional-locks",
    *("-c", "core.fsmonitor=false"),
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "core.attributesFile=/dev/null"),
    *("-c", "core.commitGraph=false"),  # a file beside the objects that may say otherwise
    *("-c", "advice.graftFileDeprecated=false"),
    *("-c", "safe.bareRepository=explicit"),  # a tree may hold what looks like a repository
)

_ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "none",
    **dict.fromkeys(("GIT_ATTR_NOSYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_NO_LAZY_FETCH"), "1"),
    **dict.fromkeys(("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_GRAFT_FILE"), os.devnull),
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}

_ELSEWHERE = frozenset({"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_NAMESPACE"})
_ELSEWHERE |= {"GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES"}
"""What makes of a checkout another repository than the one that lies there."""


@dataclass(frozen=True)
class Item:
    """What a tree has at a path.

    Attributes:
        mode: such as ``100644``, a plain file.
        oid: name of the object, in hexadecimal.
        size: bytes of a blob; 0 for a submodule, which is in another repository.
    """

    mode: str
    oid: str
    size: int


class Repository:
    """Reads commits, trees and blobs.

    Args:
        checkout: a directory in the working copy.

    Raises:
        ChangeError: if git isn't installed. All methods raise it where git fails, takes too long or
            says too much.
    """

    def __init__(self, checkout: Path) -> None:
        program = shutil.which("git")
        if program is None or not os.path.isabs(program):
            raise ChangeError("git isn't installed, or not in a directory that PATH names in full")
        self._command = (program, "-C", str(checkout), *_OPTIONS)

    def commit(self, revision: str) -> str:
        """Return the name of the commit that a revision such as ``HEAD`` stands for."""
        found = self._ask("rev-parse", "--verify", "--end-of-options", revision + "^{commit}")
        return found.decode("ascii", "replace").strip()

    def merge_base(self, one: str, other: str) -> str:
        """Return the one commit from which two commits part."""
        bases = self._ask("merge-base", "--all", one, other, allowed=(0, 1)).decode("ascii").split()
        if not bases:
            raise ChangeError(
                "the two commits have no ancestor in common here; a shallow clone lacks it: fetch the whole "
                "history (git fetch --unshallow)"
            )
        if len(bases) > 1:
            raise ChangeError("the two commits part from several ancestors; merge or rebase, and try again")
        return bases[0]

    def tree(self, commit: str) -> dict[str, Item]:
        """Return all that a commit holds, by path; what is no UTF-8 in a path stays as it is."""
        found: dict[str, Item] = {}
        for record in self._ask("ls-tree", "-r", "-z", "-l", "--full-tree", commit).split(b"\0")[:-1]:
            head, _, name = record.partition(b"\t")
            mode, _, oid, size = head.decode("ascii").split()
            path = name.decode("utf-8", "surrogateescape")
            if path in found:
                raise ChangeError(f"{escape(path)}: the tree names this path twice")
            if size != "-" and not size.isdigit():
                raise ChangeError(f"{escape(path)}: the repository is damaged: it lacks this file")
            found[path] = Item(mode, oid, 0 if size == "-" else int(size))
        return found

    def new_bytes(self, base: str, head: str) -> int:
        """Return the bytes of all objects that ``head`` and its history have and those of ``base`` lack."""
        names = self._ask("rev-list", "--objects", "--no-object-names", head, f"^{base}")
        sizes = self._ask("cat-file", "--batch-check=%(objectsize)", given=names)
        if any(not size.isdigit() for size in sizes.split()):
            raise ChangeError("the repository is damaged: it lacks an object that a commit names")
        return sum(map(int, sizes.split()))

    def blobs(self, items: Mapping[str, Item]) -> dict[str, bytes]:
        """Return the contents of blobs by path; their sizes are for the caller to bound."""
        names = "".join(f"{item.oid}\n" for item in items.values()).encode()
        most = sum(item.size + 200 for item in items.values())
        answer, found = memoryview(self._ask("cat-file", "--batch", given=names, most=most)), {}
        for path, item in items.items():
            header = f"{item.oid} blob {item.size}\n".encode()
            data = bytes(answer[len(header) : len(header) + item.size])
            end = len(header) + item.size + 1
            if bytes(answer[: len(header)]) != header or not _has_name(data, item.oid):
                raise ChangeError(f"{escape(path)}: the repository is damaged: the file can't be read")
            found[path], answer = data, answer[end:]
        return found

    def _ask(
        self,
        *arguments: str,
        given: bytes = b"",
        most: int = _MOST_LISTED,
        allowed: Iterable[int] = (0,),
        environment: Mapping[str, str] | None = None,
        is_own: bool = False,
    ) -> bytes:
        """Return what a command of git prints, given its standard input.

        Args:
            arguments: of the command.
            given: its standard input.
            most: bytes that it may print.
            allowed: exit codes that are no failure.
            environment: additional variables.
            is_own: whether it acts for the user: with their configuration, and on the network.
        """
        ours = {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"} if is_own else _ENVIRONMENT
        inherited = {
            name: value
            for name, value in os.environ.items()
            if (name not in _ELSEWHERE if is_own else not name.startswith("GIT_"))
        }
        with tempfile.TemporaryFile() as question, tempfile.TemporaryFile() as complaint:
            question.write(given)
            question.seek(0)
            with subprocess.Popen(  # noqa: S603  # a program named in full, options of ours, no shell
                [*self._command, *arguments],
                stdin=question,
                stdout=subprocess.PIPE,
                stderr=complaint,
                env={**inherited, **ours, **(environment or {})},
            ) as process:
                assert process.stdout is not None
                timer = Timer(_SECONDS, process.kill)
                timer.start()
                try:
                    answer = process.stdout.read(most + 1)
                    if len(answer) > most:
                        process.kill()
                    code = process.wait()
                finally:
                    timer.cancel()
            if len(answer) > most:
                raise ChangeError(f"git {arguments[0]} says more than {most:,} bytes; expected fewer")
            if code not in allowed:
                why = _reason(complaint) if code > 0 else f"took more than {_SECONDS} s, or was killed"
                raise ChangeError(f"git {arguments[0]} failed: {why}")
        return answer


def _has_name(data: bytes, oid: str) -> bool:
    """Return whether an object's name is that of a blob with these bytes."""
    make = hashlib.sha256 if len(oid) == 64 else hashlib.sha1
    return make(f"blob {len(data)}\0".encode() + data).hexdigest() == oid


def _reason(complaint: IO[bytes]) -> str:
    """Return why git failed, by what it printed on standard error."""
    complaint.seek(0)
    lines = complaint.read(_MOST_MESSAGE).decode("utf-8", "replace").splitlines()
    named = [line for line in lines if line.startswith(("fatal:", "error:"))]
    return escape([*named, *lines, "it didn't say why"][0], 200)
