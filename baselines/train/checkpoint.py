"""Checkpoints of training: written whole or not at all, checked by SHA-256, the newest whole one restored.

A checkpoint is a directory that Orbax writes. Once it is on disk, a file with the checksums of all others,
the step and the digest of the run's configuration is put beside them; then it gets its name, its step.
"""

import errno
import gc
import json
import logging
import os
import re
import shutil
import stat
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np
from jax.experimental.multihost_utils import broadcast_one_to_all, sync_global_devices
from orbax.checkpoint import v1 as ocp

from baselines.config import RunConfig
from baselines.train.directory import CHECKPOINTS
from sraven.core.errors import OutputError
from sraven.files.files import read_bounded, sha256_of_file, sync_directory, write_json

KEPT = 2
"""How many are kept: the newest, and one before, should the newest be damaged."""

CHECKSUMS = "sha256.json"
"""The file of a checkpoint with the checksums of all its others, and of which run and step it is."""

_UNCHECKED = ".unchecked"
"""End of the name of a checkpoint until it has them."""


class Restored(NamedTuple):
    """A checkpoint that was restored.

    Attributes:
        step: of it.
        state: what it holds.
        remarks: in words: what is wrong with newer ones.
    """

    step: int
    state: Any
    remarks: str


class Checkpoints:
    """The checkpoints of a run directory, by step.

    Args:
        folder: theirs.
        run: digest of the run's configuration.
    """

    def __init__(self, folder: Path, run: str) -> None:
        self._folder, self._run = folder, run

    def save(self, step: int, state: Any) -> None:
        """Write a checkpoint, in place of a damaged one if need be; when this returns, it is on disk.

        Raises:
            OSError: if it can't be written, as on a full disk; those before are still there.
        """
        new = self._folder / f"{step}{_UNCHECKED}"
        if jax.process_index() == 0 and self._folder.is_dir():
            self._clean(step)  # a save that a full disk cut short leaves no room for another
        hook, sys.unraisablehook = sys.unraisablehook, _forget_late_calls(sys.unraisablehook)
        failure = None
        try:
            ocp.save(new.absolute(), _by_path(state), overwrite=True)
            sys.unraisablehook = hook
        except Exception as error:  # Orbax raises errors of many kinds
            failure = _as_os_error(error, self._folder / str(step))
        if failure is not None:
            with warnings.catch_warnings(action="ignore", category=RuntimeWarning):
                gc.collect()  # drops writes that never ran, of which Python would warn
            raise failure
        if jax.process_index() == 0:
            files = {name: _sync(new / name) for name in _files(new)}
            write_json(new / CHECKSUMS, {"run": self._run, "step": step, "files": files})
            if (self._folder / str(step)).exists():
                shutil.rmtree(self._folder / str(step))
            os.replace(new, self._folder / str(step))
            sync_directory(self._folder)
            self._clean(step)
        sync_global_devices("a checkpoint is in place")

    def _clean(self, latest: int) -> None:
        """Remove all but the newest checkpoints up to a step, and the remains of saves that were killed.

        Checkpoints of later steps are damaged, or training would have gone on from them.
        """
        kept = {str(step) for step in [step for step in self._steps() if step <= latest][:KEPT]}
        for name in set(os.listdir(self._folder)) - kept:
            shutil.rmtree(self._folder / name, ignore_errors=True)

    def restore(self, make_target: Callable[[], Any], step: int | None = None) -> Restored | None:
        """Return the newest whole checkpoint, or that of a step; None if there is none at all.

        Args:
            make_target: returns a state of `jax.ShapeDtypeStruct`, with the shardings wanted; they needn't be
                those that it was saved with. It takes a while, and isn't called for what can't be restored.
            step: which; None for the newest.

        Raises:
            OutputError: if there are checkpoints but none is whole, it can't be read though it is, or there
                is none of the step.
        """
        steps, remarks = self._steps(), list[str]()
        if step is not None and steps:
            if step not in steps:
                there = ", ".join(f"{each:,}" for each in reversed(steps))
                raise OutputError(f"{self._folder} has no checkpoint of step {step:,}; there are {there}")
            steps = [step]
        for step in steps:
            fault = _agreed_fault(self._folder / str(step), self._run)
            if fault is None:
                target = make_target()
                leaves = self._load(step, target)
                state = jax.tree.unflatten(jax.tree.structure(target), list(leaves.values()))
                return Restored(step, state, "; ".join(remarks))
            remarks.append(f"{self._folder / str(step)} is damaged ({fault})")
        if steps:
            raise OutputError(f"no checkpoint is whole: {'; '.join(remarks)}; delete the run to start again")
        return None

    def _steps(self) -> list[int]:
        """Return the steps of all checkpoints, the newest first."""
        names = os.listdir(self._folder) if self._folder.is_dir() else []
        return sorted((int(name) for name in names if name.isascii() and name.isdecimal()), reverse=True)

    def _load(self, step: int, target: Any) -> dict[str, Any]:
        wanted, path = _by_path(target), self._folder / str(step)
        try:
            held = {name: each.shape for name, each in ocp.metadata(path.absolute()).metadata.items()}
            shapes = {name: each.shape for name, each in wanted.items()}
            if others := [name for name in held | shapes if held.get(name) != shapes.get(name)]:
                name = others[0]
                raise ValueError(f"{name} has shape {held.get(name)}, and {shapes.get(name)} by config.json")
            leaves = ocp.load(path.absolute(), wanted)
        except Exception as error:  # whole, so not for damage: no room, or another version's
            raise OutputError(f"{path} is whole, but can't be read: {_first_line(error)}") from None
        return {name: leaves[name] for name in wanted}


def open_checkpoints(folder: Path, config: RunConfig) -> Checkpoints:
    """Return the checkpoints of a run."""
    return Checkpoints(folder / CHECKPOINTS, config.digest)


def _by_path(tree: Any) -> dict[str, Any]:
    """Return the leaves of a tree by their paths, in order: Orbax knows no optimiser's classes.

    A checkpoint has the optimiser's state as ``.moments``, its name in earlier versions.
    """
    leaves = jax.tree.leaves_with_path(tree)
    return {re.sub(r"^\.opt_state", ".moments", jax.tree_util.keystr(path)): leaf for path, leaf in leaves}


def _as_os_error(error: Exception, path: Path) -> OSError:
    """Return a writer's error as the system's own, such as that the disk is full."""
    code = re.search(r"os_error_code='(\d+)'", str(error))
    number = error.errno if isinstance(error, OSError) else int(code[1]) if code else None
    return OSError(number or errno.EIO, os.strerror(number) if number else _first_line(error), str(path))


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), "") or type(error).__name__


def _is_news(record: logging.LogRecord) -> bool:
    """Return False for tracebacks that Orbax's threads log: their errors are raised as well."""
    return not (record.exc_info and "orbax" in record.pathname)


logging.getLogger("absl").addFilter(_is_news)


def _forget_late_calls(hook: Callable[[Any], Any]) -> Callable[[Any], None]:
    """Return a hook that ignores the errors that a failed save still raises later."""

    def pass_on(unraisable: Any) -> None:
        if str(unraisable.exc_value) != "Event loop is closed":
            hook(unraisable)

    return pass_on


def _files(folder: Path) -> list[str]:
    """Return the names of all that a checkpoint holds, ascending, but for directories and the checksums."""
    files = (path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir())
    return sorted({str(path.relative_to(folder)) for path in files} - {CHECKSUMS})


def _sync(path: Path) -> str:
    """Wait until a file is on disk; return its SHA-256."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())
    sync_directory(path.parent)
    return sha256_of_file(path)


def _find_fault(folder: Path, run: str) -> str | None:
    """Return what is wrong with a checkpoint of a run; None if it is as it was saved.

    Raises:
        OSError: if it may be whole, but can't be read now, for want of a right or of a disk.
    """
    name = CHECKSUMS
    try:
        found = json.loads(read_bounded(folder / CHECKSUMS))
        if found["step"] != int(folder.name):
            return "it is the checkpoint of another step"
        if found["run"] != run:
            return "it is of another run, or the run's configuration was changed"
        if sorted(found["files"]) != (names := _files(folder)):
            return f"{CHECKSUMS} names other files"
        for name in names:
            path = folder / name
            if not stat.S_ISREG(path.lstat().st_mode) or sha256_of_file(path) != found["files"][name]:
                return f"{name} isn't as it was saved"
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
        return f"it has no file {name}"
    except (ValueError, TypeError, KeyError, RecursionError):
        return f"{CHECKSUMS} can't be read"
    return None


def _agreed_fault(folder: Path, run: str) -> str | None:
    """Return what process 0 finds, in all processes: they must restore the same.

    Raises:
        OutputError: if it may be whole: what is older would take its place.
    """
    fault = error = None
    if jax.process_index() == 0:
        try:
            fault = _find_fault(folder, run)
        except OSError as raised:
            error = raised
    said = np.array([fault is not None, error is not None], np.int32)
    is_damaged, may_pass = broadcast_one_to_all(said)
    if may_pass:
        raise OutputError(
            f"{folder} can't be read ({error or 'as process 0 found'}); mend that, or remove it to go on "
            "from the checkpoint before"
        )
    return fault or ("as process 0 found" if is_damaged else None)
