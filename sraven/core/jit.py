"""The one way in which the project compiles a function."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile a function with Numba, on its first call.

    It runs without the interpreter's lock, so plain threads run it side by side; the machine code
    is kept on disk, so the next process compiles nothing; and divisions don't check for zero.
    """
    return cast(F, njit(nogil=True, cache=True, error_model="numpy")(function))


def inlined(function: F) -> F:
    """Compile a small function into each of its callers.

    Calls that the compiler leaves in a loop keep it from making vector code of the loop; whether
    it does so changes from one build to the next, so the loops that count ask for it.
    """
    return cast(F, njit(nogil=True, cache=True, error_model="numpy", inline="always")(function))
