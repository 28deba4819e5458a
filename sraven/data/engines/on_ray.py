"""Jobs on a Ray cluster: tasks of Ray Core, one processor each, on nodes that share a file system.

Ray retries what a lost worker or node had at hand. Progress comes back with each job's result, and costs
nothing in between. Nothing but this module imports Ray, and it does so when jobs are there to run.
"""

import os
import socket
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Any

from sraven.core.errors import ConfigurationError, OutputError
from sraven.core.escape import escape
from sraven.core.packages import installed_versions
from sraven.core.parallel import check_threads
from sraven.data.engines.call import Call, Work
from sraven.files.environment import variables

RETRIES = 5
"""Retries of a job whose worker or node is lost."""

_WAITING = 4
"""Jobs of which Ray knows, for each processor of the cluster: enough that none waits for this process."""

_STORE = 128 << 20
"""Bytes of the object store of a cluster of this machine, which holds nothing but results."""

_SHAPING = ("sraven", "pyarrow", "sentencepiece")
"""Packages whose versions shape the bytes that workers write."""

_TRIES = 3
"""Attempts to start a cluster of this machine."""

_REACH = 10.0
"""Seconds that a cluster's head may take to be reached."""


class _NoFolders(list[str]):
    """The folders that Ray adds for workers to import from: its driver's working directory isn't one."""

    def extend(self, more: Any) -> None:
        """Add none."""


@dataclass(frozen=True)
class _Order:
    """What all jobs of a call share: the work, and what a worker has to see and to have installed."""

    work: Work
    mark: Path
    versions: Mapping[str, str]

    def check(self) -> None:
        """Refuse a worker that would write elsewhere, or something else."""
        where = f"a worker on {socket.gethostname()}"
        if not self.mark.exists():
            raise OutputError(
                f"{where} can't see {self.mark.parent.parent}: write to a directory that all nodes share, or "
                "write parts (--part) and merge them"
            )
        found = installed_versions(_SHAPING)
        for name, wanted in self.versions.items():
            if found.get(name) != wanted:
                raise OutputError(
                    f"{where} has {name} {found.get(name)}, this process {wanted}; install the same on all"
                )


def _do(order: _Order, job: Any) -> tuple[Any, int, int]:
    """In a worker: do a job; return its result and its progress."""
    order.check()
    items = size = 0

    def on_progress(more_items: int, more_size: int) -> None:
        nonlocal items, size
        items += more_items
        size += more_size

    return order.work(job, on_progress), items, size


def _reach(address: str) -> None:
    """Refuse an address where nobody listens, for which Ray would wait for minutes."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), _REACH).close()
    except (OSError, OverflowError) as error:
        raise _no_cluster(address, error) from None


def _no_cluster(address: str | None, error: Exception) -> ConfigurationError:
    reason = escape(" ".join(str(error).split()).split(". ")[0], 300)
    if address is None:
        return ConfigurationError(
            f"engine='ray': Ray can't be started here ({reason}); try again, or use local"
        )
    return ConfigurationError(
        f"address={address!r}: no Ray cluster can be used there ({reason}); start one with `ray start`, this "
        "machine being one of its nodes, or give no address"
    )


def _start(ray: Any, address: str | None, how: Mapping[str, Any]) -> None:
    """Start or join a cluster; a machine that is busy may need more than the half minute that Ray gives it.

    Raises:
        ConfigurationError: if there is no cluster.
    """
    for left in reversed(range(_TRIES if address is None else 1)):
        try:
            ray.init(**how, log_to_driver=False, configure_logging=False)
            return
        except Exception as error:  # Ray raises all kinds, bare ones too
            ray.shutdown()
            if not left or "timed out during startup" not in str(error):
                raise _no_cluster(address, error) from None


@contextmanager
def connected(address: str | None, workers: int | None = None) -> Iterator[Any]:
    """Be connected to a cluster; yield Ray. A connection that is there already is used, and stays.

    Args:
        address: as for `sraven.data.engines.jobs.Engine`.
        workers: processors of a cluster of this machine; None for all.

    Raises:
        ConfigurationError: if there is no cluster.
    """
    ours = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
    if address is None and "ray" not in sys.modules:  # it reads them as it is imported
        # Nobody else has business there, and no token is left in a home. It keeps them, and so they stay.
        os.environ.setdefault("RAY_AUTH_MODE", "token")
        os.environ.setdefault("RAY_AUTH_TOKEN", token_hex(32))
    with variables(**ours):
        import ray

        if ray.is_initialized():
            yield ray
            return
        settings = ray.job_config.JobConfig()
        settings._py_driver_sys_path = _NoFolders()
        how: dict[str, Any] = {"address": address or "local"}
        if address is None:
            how |= {"num_cpus": check_threads(workers), "object_store_memory": _STORE}
            how |= {"include_dashboard": False}
        elif address != "auto":
            _reach(address)
        _start(ray, address, {**how, "job_config": settings})
        try:
            with redirect_stdout(sys.stderr):  # Ray reports lost workers on standard output, where results go
                yield ray
        finally:
            ray.shutdown()


@contextmanager
def _marked(folder: Path) -> Iterator[Path]:
    """Yield a file with a new name in a directory: who sees it sees the directory."""
    mark = folder / f"seen-{token_hex(8)}"
    mark.touch()
    try:
        yield mark
    finally:
        mark.unlink(missing_ok=True)


def map_on_ray(call: Call) -> None:
    """Do jobs on a cluster, each on a processor of its own.

    Raises:
        ConfigurationError: if there is no cluster.
        OutputError: if a worker can't see the directory, or has other versions installed.
        OSError: if the workers of a job died, again and again, or the cluster did.
    """
    with connected(call.address, call.workers) as ray, _marked(call.folder) as mark:
        order = ray.put(_Order(call.work, mark, installed_versions(_SHAPING)))
        task = ray.remote(num_cpus=1, max_retries=RETRIES)(_do)
        running: dict[Any, int] = {}
        left = iter(enumerate(call.jobs))
        try:
            while True:
                most = _WAITING * max(1, int(ray.cluster_resources().get("CPU", 1)))
                while len(running) < most and (numbered := next(left, None)):
                    running[task.remote(order, numbered[1])] = numbered[0]
                if not running:
                    return
                _collect(ray, running, call)
        finally:  # an error, or an interrupt
            for reference in running:
                ray.cancel(reference, force=True)


def _collect(ray: Any, running: dict[Any, int], call: Call) -> None:
    """Wait until some jobs are done, and take their results."""
    ray.wait(list(running), num_returns=1)
    done, _ = ray.wait(list(running), num_returns=len(running), timeout=0)
    for reference in done:
        number = running.pop(reference)
        try:
            result, items, size = ray.get(reference)
        except ray.exceptions.RayTaskError as error:
            if isinstance(error.cause, OSError | ValueError):  # as if it had happened here
                raise error.cause from None
            raise
        except ray.exceptions.RayError as error:
            reason = escape(" ".join(str(error).split()), 300)
            raise OSError(f"job {number + 1:,} of {len(call.jobs):,} was lost ({reason})") from None
        call.on_progress(items, size)
        call.done(number, result)
