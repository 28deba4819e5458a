"""Programs compiled in a fraction of the time: most of the time of many tests is the compiler's."""

from contextlib import contextmanager
from functools import cache, partial
from unittest.mock import patch

import jax

_QUICK = {
    "xla_backend_optimization_level": 0,
    "xla_llvm_disable_expensive_passes": True,
    "xla_cpu_use_fusion_emitters": False,
    # Else a program is cut into up to 32, each of them with a compiler of its own: twice the time.
    "xla_cpu_parallel_codegen_split_count": 1,
}


@cache
def _quick_options():
    """Return those of the options that the installed compiler has."""
    return {name: value for name, value in _QUICK.items() if _knows(name, value)}


def _knows(name, value):
    try:
        jax.jit(lambda x: x, compiler_options={name: value})(0)
    except jax.errors.JaxRuntimeError:
        return False
    return True


def quick_flags():
    """Return the same options as ``XLA_FLAGS`` has them, for processes that tests start."""
    return " ".join(f"--{name}={value}".lower() for name, value in _quick_options().items())


@contextmanager
def quick_compilation():
    """Let what is compiled by `jax.jit` do without the compiler's costly passes."""
    with patch.object(jax, "jit", partial(jax.jit, compiler_options=_quick_options())):
        yield
