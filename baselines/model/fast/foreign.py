"""Numba's functions in XLA's programs, on XLA's threads: handlers of its foreign function interface.

A handler gets the address of a call frame (``xla/ffi/api/c_api.h``, of which JAX brings a copy). It writes
what the work needs into the call's last result, the job, puts as many tasks as there are threads into XLA's
pool, and returns a future. Each task takes one block of the work after the other; the last one completes the
future. Which thread takes a block changes nothing in the results. Structures are read as words of 8 bytes, at
the places of version 0 of the interface.
"""

from functools import cache
from pathlib import Path
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np
from llvmlite import ir

from baselines.model.fast.vectors import LANES, intrinsic_of
from sraven.core.jit import kernel, numba

types = numba.types

_NEXT, _BLOCKS, _TASKS, _FUTURE, _COMPLETE = range(5)
_SIZES, _ARGUMENTS, _RESULTS, _WORDS = 5, 7, 15, 23
"""Words of a job: the next block, how many there are, tasks that aren't over, the future, what completes it,
A and T, and from where on the addresses of buffers stand, in order."""

JOB = jax.ShapeDtypeStruct((2 * _WORDS,), jnp.int32)
"""Shape of a call's last result, which nobody else reads."""

_pointer = intrinsic_of(lambda builder, at: builder.inttoptr(at, ir.IntType(8).as_pointer()), types.voidptr)

_call = intrinsic_of(
    lambda builder, function, argument: builder.call(
        builder.inttoptr(function, ir.FunctionType(argument.type, [argument.type]).as_pointer()), [argument]
    )
)
"""Call a C function that takes an address and returns one."""

_fetch_add = intrinsic_of(
    lambda builder, at, number: builder.atomic_rmw(
        "add", builder.inttoptr(at, number.type.as_pointer()), number, "seq_cst"
    )
)
"""Add to a word that several threads change; return what it was."""


@kernel
def _words(address, count):
    """Return the words at an address, int64."""
    return numba.carray(_pointer(address), (count,), np.int64)


@kernel
def floats(address, count, block):
    """Return the numbers of a block, float32, ``count`` in each, the first of which is at an address."""
    return numba.carray(_pointer(address + 4 * count * block), (count,), np.float32)


@kernel
def next_block(job):
    """Return the number of a block that no other task has; -1 if none is left."""
    block = _fetch_add(job, 1)
    return block if block < _words(job, _WORDS)[_BLOCKS] else -1


@kernel
def _is_question(frame):
    """If the frame asks which version of the interface the handler has, answer with the caller's own."""
    extension = _words(frame, 2)[1]
    if extension != 0:
        _words(_words(extension, 4)[3], 4)[3] = _words(_words(frame, 3)[2], 5)[4]
    return extension != 0


@kernel
def _start(frame, task):
    """Write the job, and put tasks into XLA's pool and a future into the frame; with one thread, do the work.

    A frame is gone when its handler has returned.
    """
    call = _words(frame, 22)
    arguments, results, api = _words(call[9], call[7]), _words(call[14], call[12]), _words(call[2], 21)
    address = _words(results[-1], 4)[3]
    job = _words(address, _WORDS)
    for at in range(call[7]):
        job[_ARGUMENTS + at] = _words(arguments[at], 4)[3]
    for at in range(call[12]):
        job[_RESULTS + at] = _words(results[at], 4)[3]
    job[_NEXT], job[_BLOCKS], job[_FUTURE] = 0, _words(_words(arguments[0], 6)[5], 1)[0] // LANES, 0
    sizes = _words(_words(arguments[4], 6)[5], 2)
    job[_SIZES], job[_SIZES + 1] = sizes[0], sizes[1]
    threads, given = np.ones(1, np.int64), np.zeros(5, np.int64)
    given[0], given[2], given[3] = 32, call[3], threads.ctypes.data
    _call(api[18], given.ctypes.data)
    tasks = job[_TASKS] = min(threads[0], job[_BLOCKS])
    if tasks > 1:
        given[0], given[2] = 16, 0
        _call(api[19], given.ctypes.data)
        call[21] = job[_FUTURE] = given[2]
        job[_COMPLETE] = api[20]
    given[0], given[2], given[3], given[4] = 40, call[3], task, address
    for _ in range(tasks):  # after the last one, the job may be another's memory
        if tasks > 1:
            _call(api[17], given.ctypes.data)
        else:
            _call(task, address)


def register(name: str, work: Any) -> None:
    """Let programs on CPUs call a function of Numba's by a name; the last result of a call is a `JOB`.

    Args:
        name: any that isn't taken.
        work: does one `next_block` of a job after the other, given its address, A and T, and the addresses
            of arguments and of results. The first argument's first axis is that of instances, a multiple of
            `LANES`; the fifth argument is of shape ``[A, T]``.
    """
    work = numba.njit(nogil=True, error_model="numpy")(work)

    @numba.cfunc(types.int64(types.int64), nogil=True)
    def task(address):
        job = _words(address, _WORDS)
        work(address, job[_SIZES], job[_SIZES + 1], job[_ARGUMENTS:], job[_RESULTS:])
        future, complete = job[_FUTURE], job[_COMPLETE]
        if _fetch_add(address + 8 * _TASKS, -1) == 1 and future != 0:
            given = np.zeros(3, np.int64)
            given[0], given[2] = 24, future
            _call(complete, given.ctypes.data)
        return 0

    # A plain int would be a literal to Numba, which compiles the start for each.
    run = np.int64(cast(int, task.address))

    @numba.cfunc(types.int64(types.int64), nogil=True)
    def handler(frame):
        if not _is_question(frame):
            _start(frame, run)
        return 0

    _kept.extend((task, handler))
    jax.ffi.register_ffi_target(name, jax.ffi.pycapsule(handler.ctypes), platform="cpu")


_kept: list[Any] = []
"""Functions whose machine code programs call."""


@cache
def is_known() -> bool:
    """Return whether this JAX has the version of the interface whose places are written here."""
    header = Path(jax.ffi.include_dir(), "xla", "ffi", "api", "c_api.h")
    return "#define XLA_FFI_API_MAJOR 0\n" in header.read_text("utf-8")
