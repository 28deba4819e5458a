"""The GPUs of this machine for programs that train runs: which there are, and NVIDIA's multi-process service.

A network of the boards is too small for a GPU: several programs share one, and take turns unless the service
lets them compute at the same time. All is found by NVIDIA's commands: JAX would take memory where it looks.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import entry_points
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import jax

from sraven.data.engines.processes import worker_number

RUNS_IN_A_PROGRAM = 8
"""At most. On an H200 a step of eight runs takes 4.5 times as long as one of a single run."""

PROGRAMS_ON_A_GPU, PROGRAM_GB = 4, 4
"""Programs at once at most, under the service; and the memory that each needs."""

SAVE_MINUTES = 2.0
"""Between checkpoints: who has a GPU for half an hour loses less."""

_SECONDS = 30
_SERVICE = "nvidia-cuda-mps-control"
_SHARE = 0.9
"""Of a GPU's memory that programs take together."""


class Gpu(NamedTuple):
    """A GPU.

    Attributes:
        key: what ``CUDA_VISIBLE_DEVICES`` calls it.
        name: of its kind, as JAX has it, such as ``NVIDIA H200``.
        gigabytes: of its memory.
    """

    key: str
    name: str
    gigabytes: float


def find_gpus() -> tuple[Gpu, ...]:
    """Return the GPUs that this process may use; none without a driver, JAX's extra, or if JAX is told so."""
    command, platforms = shutil.which("nvidia-smi"), os.environ.get("JAX_PLATFORMS", "")
    is_installed = any("cuda" in each.name for each in entry_points(group="jax_plugins"))
    if command is None or not is_installed or not {*platforms.split(",")} & {"", "cuda", "gpu"}:
        return ()
    query = [command, "--query-gpu=index,uuid,name,memory.total", "--format=csv,noheader,nounits"]
    try:
        found = subprocess.run(query, capture_output=True, text=True, check=True, timeout=_SECONDS)  # noqa: S603
    except (subprocess.SubprocessError, OSError):
        return ()
    rows = [[part.strip() for part in line.split(",")] for line in found.stdout.splitlines()]
    gpus = [(uuid, Gpu(key, name, float(memory) / 1024)) for key, uuid, name, memory in rows]
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is None:
        return tuple(gpu for _, gpu in gpus)
    names = {each: gpu for uuid, gpu in gpus for each in (gpu.key, uuid)}
    wanted = (name.strip() for name in visible.split(","))
    return tuple(names[name]._replace(key=name) for name in wanted if name in names)


@contextmanager
def shared(gpus: tuple[Gpu, ...], needed: int) -> Iterator[int]:
    """Start the multi-process service, if several programs are to share a GPU; stop it at the end.

    One that the environment names (``CUDA_MPS_PIPE_DIRECTORY``) is somebody's, and is used as it is. A line
    on standard error says so where the service doesn't start.

    Args:
        gpus: to share.
        needed: programs that there are.

    Yields:
        how many programs each takes at once.
    """
    least = min((gpu.gigabytes for gpu in gpus), default=0.0)
    fit = min(PROGRAMS_ON_A_GPU, int(_SHARE * least / PROGRAM_GB), -(-needed // max(1, len(gpus))))
    if fit <= 1 or os.environ.get("CUDA_MPS_PIPE_DIRECTORY"):
        yield max(fit, 1)
        return
    # Beside a path of any length a socket's name may have too many bytes.
    with TemporaryDirectory(prefix="mps-", dir="/tmp" if Path("/tmp").is_dir() else None) as folder:  # noqa: S108
        places = {f"CUDA_MPS_{name}_DIRECTORY": folder for name in ("PIPE", "LOG")}
        environment = {**os.environ, **places}
        if fault := _control(["-d"], environment):
            sys.stderr.write(
                f"note: NVIDIA's multi-process service didn't start ({fault}): one program at a time on each "
                "GPU; three at once took 5.5 ms a step with it on an H200, and 6.8 in turn\n"
            )
            yield 1
            return
        os.environ.update(places)
        try:
            yield fit
        finally:
            for name in places:
                os.environ.pop(name, None)
            _control([], environment, "quit -t 10\n")


def _control(arguments: list[str], environment: dict[str, str], said: str = "") -> str:
    """Run the service's command; return what went wrong, nothing if nothing did."""
    command = shutil.which(_SERVICE)
    if command is None:
        return f"there is no {_SERVICE}"
    try:
        ended = subprocess.run(  # noqa: S603
            [command, *arguments],
            env=environment,
            input=said,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
        )
    except (subprocess.SubprocessError, OSError) as error:
        return str(error)
    words = f"{ended.stderr} {ended.stdout}".split()
    return "" if ended.returncode == 0 else " ".join(words)[:200] or f"exit code {ended.returncode}"


def take_gpu(gpus: tuple[Gpu, ...], workers: int) -> None:
    """In one of some workers, before JAX looks for devices: use one GPU, and a part of its memory.

    Products are float32, as on a CPU, unless JAX is configured otherwise.
    """
    os.environ["CUDA_VISIBLE_DEVICES"] = gpus[worker_number() % len(gpus)].key
    os.environ.setdefault("XLA_PYTHON_CLIENT_MEM_FRACTION", f"{_SHARE * len(gpus) / workers:.3f}")
    if not os.environ.get("JAX_DEFAULT_MATMUL_PRECISION"):
        jax.config.update("jax_default_matmul_precision", "highest")
