"""Devices without enough memory, said in one line."""

from collections.abc import Iterator
from contextlib import contextmanager

import jax

from baselines.config import LanguageConfig, RunConfig
from sraven.core.errors import CapacityError


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
