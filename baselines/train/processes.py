"""Several processes that train one run together, what they say, and devices without enough memory."""

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import jax

from baselines.config import LanguageConfig, RunConfig
from sraven.core.errors import CapacityError, ConfigurationError

LAST_PORT = 65_535


def join(coordinator: str | None, processes: int | None, process_id: int | None) -> None:
    """Join the other processes, if there are any; before anything else of JAX is used.

    Args:
        coordinator: address and port of process 0, such as ``host0:1234``; ``auto`` lets JAX find
            everything out, as it can under Slurm, on a TPU pod or under Open MPI; None for a single
            process.
        processes: how many there are.
        process_id: which this is, from 0.

    Raises:
        ConfigurationError: if some of it is missing or doesn't fit together.
    """
    if coordinator is None:
        if processes is not None or process_id is not None:
            raise ConfigurationError("several processes need a coordinator, such as host0:1234, or auto")
        return
    if coordinator == "auto":
        try:
            jax.distributed.initialize()
        except ValueError as error:
            raise ConfigurationError(
                f"coordinator 'auto': JAX finds no others here ({error}); name it, such as host0:1234"
            ) from None
        return
    address = re.fullmatch(r"\S+:(\d{1,5})", coordinator)
    if not address or int(address[1]) > LAST_PORT:
        raise ConfigurationError(f"coordinator {coordinator!r}: expected one such as host0:1234, or auto")
    if processes is None or process_id is None or not 0 <= process_id < processes:
        raise ConfigurationError(
            f"coordinator {coordinator!r} with processes={processes}, process_id={process_id}: expected "
            f"their number, and which this is, from 0"
        )
    if os.environ.get("JAX_PLATFORMS", "").startswith("cpu"):
        jax.config.update("jax_cpu_collectives_implementation", "gloo")
    jax.distributed.initialize(coordinator, processes, process_id)


def note(text: str) -> None:
    """Say something on standard error, once for all processes."""
    if jax.process_index() == 0:
        sys.stderr.write(f"note: {text}\n")


@contextmanager
def within_memory(config: RunConfig, runs: int) -> Iterator[None]:
    """Compute; a line says what takes less memory if the device has too little.

    Args:
        config: of what is trained.
        runs: in the program.

    Raises:
        CapacityError: if it has.
    """
    try:
        yield
    except jax.errors.JaxRuntimeError as error:
        if "RESOURCE_EXHAUSTED" not in str(error):
            raise
        needed = f"{runs:,} runs in a program" if runs > 1 else f"batch_size={config.batch_size}"
    else:
        return
    if isinstance(config, LanguageConfig):
        less = (
            "--parts 8 (16, 32 …), then --rematerialise, and --tile 64 where it was 0, or a --mesh of several"
        )
    else:
        less = "fewer --seeds or points of --grid at once" if runs > 1 else "a --mesh of several devices"
    raise CapacityError(f"{needed}: more than the device has memory for; take {less}")
