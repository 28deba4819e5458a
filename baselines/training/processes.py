"""Several processes that train one run together."""

import os
import re
import sys

import jax

from sraven.core.errors import ConfigurationError

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
