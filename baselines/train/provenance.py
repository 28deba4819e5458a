"""Provenance of a run: the code, the libraries and the kind of machine, in its directory.

Training writes it, since only it knows; `sraven evaluate` may run elsewhere. A run that goes on elsewhere
gets another record beside the first: they are named by their content.
"""

import os
import platform
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import jax
from jax.sharding import Mesh

from sraven.core.errors import OutputError
from sraven.core.packages import PACKAGES
from sraven.core.parallel import available_threads
from sraven.core.spec import digest
from sraven.files.files import write_json
from sraven.files.names import address_fault
from sraven.files.schemas import read_described

RECORD = "trained-by-{}.json"
"""Name of a record, given the first digits of its digest."""

LIBRARIES = ("jax", "jaxlib", "flax", "optax", "numpy")

CHANGED = " with changes"
"""What follows a commit if the checkout has other files than it."""

_ROOT = Path(__file__).resolve().parents[2]
_PROCESSORS = Path("/proc/cpuinfo")
_SECONDS, _LONGEST = 30, 100


def ask_git(*command: str, root: Path) -> str | None:
    """Return what git says in a directory; None if it isn't installed, or fails."""
    git = shutil.which("git")
    if git is None:
        return None
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        return subprocess.run(  # noqa: S603  # git, asked about the code that runs here
            [git, "--no-optional-locks", "-C", str(root), *command],
            env=environment,
            capture_output=True,
            encoding="utf-8",
            check=True,
            timeout=_SECONDS,
        ).stdout.strip()
    except (subprocess.SubprocessError, OSError):
        return None


@cache
def code_commit(root: Path = _ROOT) -> str | None:
    """Return the commit of the code that runs, if it lies in a checkout, and whether it was changed since.

    Args:
        root: the directory that holds the packages.
    """
    if not (root / ".git").exists():  # the packages may lie within another's checkout
        return None
    changed = ask_git("status", "--porcelain", "--untracked-files=no", "--", *PACKAGES, root=root)
    commit = ask_git("rev-parse", "HEAD", root=root)
    return None if changed is None or commit is None else commit + (CHANGED if changed else "")


def code_address(root: Path = _ROOT) -> str | None:
    """Return where others find the repository of the code that runs, if its remote has a plain address."""
    found = ask_git("remote", "get-url", "origin", root=root) if (root / ".git").exists() else None
    address = (found or "").removesuffix(".git")
    return None if address_fault(address) else address


def _processor() -> str:
    """Return the kind of the processor, as the system calls it, or its architecture."""
    try:
        lines = _PROCESSORS.read_text("utf-8", "replace").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return (names[0] if names and names[0] else platform.machine() or "processor")[:_LONGEST]


def machine_of(mesh: Mesh) -> dict[str, Any]:
    """Return the kind of machine that a mesh is of, and JAX's setting for its products if there is one.

    Nothing in it names this machine.

    Args:
        mesh: devices.
    """
    device = mesh.devices.flat[0]
    on_cpu = device.platform == "cpu"
    settings: Any = jax.config
    precision = settings.jax_default_matmul_precision
    return {
        "device": _processor() if on_cpu else str(device.device_kind)[:_LONGEST],
        "devices": mesh.size,
        "platform": device.platform,
        "processors": available_threads(),
        "processes": jax.process_count(),
        "system": f"{platform.system()} {platform.machine()}",
        **({"matmul_precision": precision} if precision else {}),
    }


def describe_machine(machine: Mapping[str, Any]) -> str:
    """Return a kind of machine in a few words."""
    if machine["platform"] == "cpu":
        cores = machine["processors"]
        return f"{machine['device']}, {cores} core{'s' * (cores != 1)}"
    devices, precision = f"{machine['devices']} × {machine['device']}", machine.get("matmul_precision")
    return f"{devices}, products of {precision} precision" if precision else devices


def leave_record(folder: Path, mesh: Mesh) -> None:
    """Write into a run's directory who is about to train it, unless that is there."""
    found = {
        "commit": code_commit(),
        "sraven": version("sraven"),
        "versions": {"python": platform.python_version(), **{name: version(name) for name in LIBRARIES}},
        "machine": machine_of(mesh),
    }
    path = folder / RECORD.format(digest(found)[:12])
    if not path.is_file():
        write_json(path, found)


def read_provenance(folder: Path) -> list[dict[str, Any]]:
    """Return what has trained a run, the first to begin first; nothing for runs of earlier versions.

    Raises:
        OutputError: if a record can't be read.
    """
    paths = sorted(folder.glob(RECORD.format("*")), key=lambda path: (path.stat().st_mtime_ns, path.name))
    found = []
    for path in paths:
        try:
            found.append(read_described(path, "trained_by"))
        except (OSError, ValueError) as error:
            raise OutputError(
                f"{path} can't be read ({error}); move it away, and the run's machine is unknown"
            ) from None
    return found


def hardware_of(folders: Sequence[Path]) -> str | None:
    """Return the kinds of machines that trained some runs; None if one of them has no record."""
    records = [read_provenance(folder) for folder in folders]
    if not all(records):
        return None
    return "; ".join(dict.fromkeys(describe_machine(each["machine"]) for found in records for each in found))


def commit_of(folders: Sequence[Path]) -> str | None:
    """Return the commit that trained some runs; None if it isn't known, isn't one, or files were changed."""
    commits = {each.get("commit") for folder in folders for each in read_provenance(folder) or [{}]}
    commit = commits.pop() if len(commits) == 1 else None
    return commit if commit and not commit.endswith(CHANGED) else None
