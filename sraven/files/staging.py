"""Directories that appear whole or not at all: made in a staging directory, resumed, published, replaced.

All is made in a directory of our own (``<out>/.sraven-partial``), under a lock, beside a file that says
what it is for. Publishing moves it into place in an order that leaves, at any moment, either nothing that
loads or a whole directory: an old manifest goes first and then the old data; the new data arrives in one
rename, the manifest last. What is replaced is kept until then, so that whoever is killed in between leaves
what the same command finishes.
"""

import errno
import os
import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from secrets import token_hex
from typing import Any, ClassVar, TypeVar

from sraven.core.errors import OutputError
from sraven.files.files import move_into_place, sync_directory, write_json
from sraven.files.lock import LOCK, Lock
from sraven.files.names import address_in

STAGING, REPLACED, APART = ".sraven-partial", "replaced", "writing"

MANIFEST = "manifest.json"
"""The file that says that all is there: last into place, first away."""

Plan = Mapping[str, Any]
"""What distinguishes directories of a kind: equal plans give equal bytes."""

Made = TypeVar("Made")


def directory_at(out: str | os.PathLike[str]) -> Path:
    """Return a directory's path.

    Raises:
        OutputError: if there can be none.
    """
    if address := address_in(out):
        raise OutputError(address)
    try:
        return Path(out).expanduser()
    except RuntimeError as error:
        raise OutputError(f"{out}: {error}; choose another directory") from None


def check_staging(staging: Path) -> None:
    """Refuse what stands in the place of a staging directory: what it is a link to would be emptied.

    Raises:
        OutputError: if it is there and is no directory.
    """
    if os.path.lexists(staging) and (staging.is_symlink() or not staging.is_dir()):
        raise OutputError(f"{staging} is a link or no directory; remove it")


@contextmanager
def _named(goal: Path, staging: Path) -> Iterator[None]:
    """Let errors in a staging directory name the goal, which is what the caller knows."""
    try:
        yield
    except OSError as error:
        within = not error.filename or Path(os.fsdecode(error.filename)).is_relative_to(staging)
        if error.errno and within:
            raise OSError(error.errno, error.strerror, str(goal)) from None
        raise


@contextmanager
def staged(goal: Path) -> Iterator[Path]:
    """Yield an empty directory that becomes ``goal``, whole or not at all; what a kill left goes first.

    Raises:
        OutputError: if another process writes there, or ``goal`` exists at the end.
        OSError: if it can't be written, with the goal's own path.
    """
    if address := address_in(goal):
        raise OutputError(address)
    goal.parent.mkdir(parents=True, exist_ok=True)
    staging = goal.with_name(f".{goal.name}{STAGING}")
    check_staging(staging)
    with _named(goal, staging), Lock(staging, of=goal):
        new = staging / "new"
        try:
            if new.exists():
                shutil.rmtree(new)
            new.mkdir()
            yield new
            if os.path.lexists(goal):
                raise OutputError(f"{goal} exists; choose another directory")
            os.replace(new, goal)
        except BaseException:
            shutil.rmtree(new, ignore_errors=True)
            raise
    sync_directory(goal.parent)


@contextmanager
def apart(staging: Path, name: str) -> Iterator[Path]:
    """Yield a path for a file that isn't whole yet, in a folder of a staging directory that isn't published.

    It is nobody else's: who is given up for lost, and writes the same file all the same, has another. Whoever
    is killed leaves it for the next run to remove.
    """
    folder = (staging / APART).absolute()  # Arrow would take a leading ~ for a home
    folder.mkdir(exist_ok=True)
    temporary = folder / f"{name}.{token_hex(8)}"
    try:
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)


def take_file(origin: Path, goal: Path, staging: Path) -> None:
    """Put a file into a staging directory: a second name of it, or a copy if it is on another disk."""
    with apart(staging, goal.name) as temporary:
        try:
            os.link(origin, temporary)
        except OSError:
            try:
                shutil.copyfile(origin, temporary)
            except OSError as error:  # a full disk is that of the copy
                path = origin if error.errno in (errno.EACCES, errno.ENOENT) else goal
                raise OSError(error.errno, error.strerror, str(path)) from None
        move_into_place(temporary, goal)


class StagedDirectory(ABC):
    """A directory that is made by a plan, in a staging directory that an interrupted run leaves to the next.

    A kind of directory says what its manifest is, which folder of data is published, and what isn't its
    own to replace.

    Args:
        out: the directory.
        plan: what is to be in it.
        force: whether another one of its kind is replaced.
    """

    PLAN: ClassVar[str]
    """The file in the staging directory that says what it is for."""

    FILES: ClassVar[tuple[str, ...]]
    """The files beside manifest and data; they come before both."""

    def __init__(self, out: Path, plan: Plan, force: bool = False) -> None:
        self.out, self.plan, self.force = out, plan, force
        self.staging = out / STAGING

    @abstractmethod
    def read_manifest(self, folder: Path) -> dict[str, Any]:
        """Return the manifest in a directory.

        Raises:
            OutputError: if there is none that can be read.
        """

    @abstractmethod
    def refuse_other(self, manifest: Mapping[str, Any]) -> None:
        """Refuse a directory that holds another one of its kind, or what would be in the way.

        Raises:
            OutputError: with what to do.
        """

    @abstractmethod
    def refuse_begun(self, staged: Plan | None) -> None:
        """Refuse a directory without manifest that isn't one of ours, or another one unfinished.

        Args:
            staged: the plan of its staging directory; None if there is none that can be read.

        Raises:
            OutputError: with what to do.
        """

    @abstractmethod
    def staged_plan(self) -> dict[str, Any] | None:
        """Return the plan that the staging directory was made for; None if that can't be read."""

    @abstractmethod
    def begin(self) -> None:
        """Write the plan into the staging directory, which is empty."""

    def folders(self) -> Sequence[str]:
        """Return the folders of the staging directory that the work needs: that of the data, or more."""
        return (self.data(self.plan),)

    @abstractmethod
    def data(self, plan: Plan) -> str:
        """Return the folder of data that is published, given a plan or a manifest."""

    @abstractmethod
    def has_data(self, folder: Path, manifest: Mapping[str, Any]) -> bool:
        """Return whether the data lies in a directory, in the sizes that the manifest says."""

    def make(self, write: Callable[[], Mapping[str, Any]]) -> dict[str, Any]:
        """Make the directory whole, by a function that writes all else and returns the manifest; return that.

        The function isn't called where it has been: what is finished is left alone, or has to be published.

        Raises:
            OutputError: as for `open`.
        """
        if lock := self.open():
            with lock:
                if not (self.staging / MANIFEST).exists():
                    write_json(self.staging / MANIFEST, write())
                self.publish()
        return self.read_manifest(self.out)

    def make_part(self, write: Callable[[], Made]) -> Made:
        """Write a part by a function, and return what that does; the directory stays unfinished.

        Raises:
            OutputError: as for `open`, and if the whole is there already.
        """
        lock = self.open()
        if lock is None:
            raise OutputError(f"{self.out} holds the whole already; choose another directory for a part")
        with lock:
            return write()

    def open(self) -> Lock | None:
        """Make the staging directory ready for the plan; nothing is created before all is checked.

        Returns:
            None if this very directory is finished; else a lock to release when the work is done.

        Raises:
            OutputError: if the directory can't be written, is being written, or holds something else.
        """
        try:
            if self._is_finished() and not self.staging.exists():
                return None
            with ExitStack() as held:
                lock = held.enter_context(Lock(self.staging, of=self.out, stays=True))
                # Again, and this time nobody else changes it.
                if not self._is_finished() and not self._take_up():
                    held.pop_all()
                    return lock
                self.discard()
        except OSError as error:
            raise OutputError(
                f"{self.out} can't be written ({error.strerror or error}); mend that, or choose another "
                "directory"
            ) from None
        return None

    def discard(self) -> None:
        """Remove what was begun but for the lock, whose release removes the directories.

        First goes the file that says that all is there, last the one that says what it is for.
        """
        names = sorted(set(os.listdir(self.staging)) - {LOCK, MANIFEST, self.PLAN})
        for path in (self.staging / name for name in (MANIFEST, *names, self.PLAN)):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)

    def _is_finished(self) -> bool:
        """Refuse a directory that isn't ours to write to; return whether this very one is finished."""
        out = self.out
        if out.exists() and not out.is_dir():
            raise OutputError(f"{out} is a file; choose another directory")
        if not out.exists() or not any(out.iterdir()):
            return False
        check_staging(self.staging)
        if not (out / MANIFEST).exists():
            self.refuse_begun(self.staged_plan())
            return False
        manifest = self.read_manifest(out)
        self.refuse_other(manifest)
        there = all((out / name).is_file() for name in self.FILES) and self.has_data(out, manifest)
        if not self.force and not there:
            raise OutputError(f"{out} is damaged: a file is missing or cut off; use --force to rewrite it")
        return not self.force

    def manifest_in(self, folder: Path) -> dict[str, Any] | None:
        """Return the manifest in a directory of the staging; None if there is none that can be read."""
        try:
            return self.read_manifest(folder)
        except OutputError:
            return None

    def _written(self) -> dict[str, Any] | None:
        """Return the manifest of what only has to be published, all or the rest of it; else None."""
        manifest = self.manifest_in(self.staging)
        if manifest is None:
            return None
        where = self.staging if (self.staging / self.data(manifest)).exists() else self.out
        return manifest if self.has_data(where, manifest) else None

    def _take_up(self) -> bool:
        """Keep of the staging directory what is of use; return whether all is done by that."""
        written = self._written()
        if self.staged_plan() != self.plan:
            if written and not (self.out / MANIFEST).exists():
                # Another one, and what it replaces is taken apart: without it there would be none.
                self.publish(written)
                if self._is_finished():
                    return True
            self.discard()
            self.begin()
        elif not written:
            (self.staging / MANIFEST).unlink(missing_ok=True)
        if not (self.staging / MANIFEST).exists():  # else publishing was cut short
            shutil.rmtree(self.staging / APART, ignore_errors=True)
            for name in self.folders():
                (self.staging / name).mkdir(exist_ok=True)
        return False

    def publish(self, plan: Plan | None = None) -> None:
        """Move what is finished into place, in the order that the module describes; may be called again.

        Args:
            plan: what the staging directory was made for, or its manifest; None for this object's plan.
        """
        out, staging, name = self.out, self.staging, self.data(plan or self.plan)
        if (staging / name).exists():
            self._put_away(name)
        for each in self.FILES:
            if (staging / each).exists():
                move_into_place(staging / each, out / each)
        if (staging / name).exists():
            os.replace(staging / name, out / name)
            sync_directory(out)
        if (staging / MANIFEST).exists():
            move_into_place(staging / MANIFEST, out / MANIFEST)
        self.discard()

    def _put_away(self, name: str) -> None:
        """Keep what is replaced in the staging directory; first the manifest, which says what is to go."""
        out, replaced = self.out, self.staging / REPLACED
        replaced.mkdir(exist_ok=True)
        if (out / MANIFEST).exists():
            os.replace(out / MANIFEST, replaced / MANIFEST)
            sync_directory(out)
        old = self.manifest_in(replaced)
        for gone in {name, self.data(old)} if old else {name}:
            if (out / gone).exists():
                shutil.rmtree(replaced / gone, ignore_errors=True)
                os.replace(out / gone, replaced / gone)
