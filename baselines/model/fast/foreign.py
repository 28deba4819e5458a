"""Numba's functions in XLA's programs, on XLA's threads: handlers of its foreign function interface.

A handler gets the address of a call frame (``xla/ffi/api/c_api.h``, of which JAX brings a copy). It writes
what the work needs into a job, puts as many tasks as there are threads into XLA's pool, and returns a future.
Each task takes one block of the work after the other; the last task completes the future and frees the job.
Which thread takes a block changes nothing in the results. Structures are read as words of 8 bytes, at the
places of version 0 of the interface.
"""

import ctypes
from functools import cache
from pathlib import Path
from typing import Any

import jax
import numpy as np
from llvmlite import ir

from sraven.core.compute.jit import numba

types, njit = numba.types, numba.njit(nogil=True, error_model="numpy")

ARGUMENTS, RESULTS = 8, 16
"""Words of a job from which the addresses of buffers stand, in order."""

_NEXT, _BLOCKS, _TASKS, _FUTURE, _COMPLETE, _SIZES, _WORDS = 0, 1, 2, 3, 4, 5, 24
"""The next block, how many there are, tasks that aren't over, the future, what completes it, and B, A, T."""

_libc = ctypes.CDLL(None)
_malloc, _free = _libc.malloc, _libc.free
_malloc.argtypes, _malloc.restype = [ctypes.c_size_t], ctypes.c_void_p
_free.argtypes, _free.restype = [ctypes.c_void_p], None


@numba.extending.intrinsic
def _pointer(context: Any, address: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.inttoptr(values[0], context.get_value_type(signature.return_type))

    return types.voidptr(types.int64), build


@numba.extending.intrinsic
def _call(context: Any, function: Any, argument: Any) -> Any:
    """Call a C function that takes an address and returns one."""

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        word = values[1].type
        kind = ir.FunctionType(word, [word]).as_pointer()
        return builder.call(builder.inttoptr(values[0], kind), [values[1]])

    return types.int64(types.int64, types.int64), build


@numba.extending.intrinsic
def _fetch_add(context: Any, address: Any, number: Any) -> Any:
    """Add to a word that several threads change; return what it was."""

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        pointer = builder.inttoptr(values[0], values[1].type.as_pointer())
        return builder.atomic_rmw("add", pointer, values[1], "seq_cst")

    return types.int64(types.int64, types.int64), build


@njit
def words(address, count):
    """Return the words at an address, int64."""
    return numba.carray(_pointer(address), (count,), np.int64)


@njit
def floats(address, count):
    """Return the numbers at an address, float32."""
    return numba.carray(_pointer(address), (count,), np.float32)


@njit
def next_block(job):
    """Return the number of a block that no other task has; -1 if none is left."""
    block = _fetch_add(job, 1)
    return block if block < words(job, _WORDS)[_BLOCKS] else -1


@njit
def sizes(job):
    """Return B, A and T."""
    found = words(job, _WORDS)
    return found[_SIZES], found[_SIZES + 1], found[_SIZES + 2]


@njit
def _is_question(frame):
    """If the frame asks which version of the interface the handler has, answer with the caller's own."""
    extension = words(frame, 2)[1]
    if extension != 0:
        words(words(extension, 4)[3], 4)[3] = words(words(frame, 3)[2], 5)[4]
    return extension != 0


@njit
def _job_of(frame, lanes):
    """Return a job of its own memory: a frame is gone when its handler has returned."""
    call, address = words(frame, 22), _malloc(8 * _WORDS)
    job, arguments, results = words(address, _WORDS), words(call[9], call[7]), words(call[14], call[12])
    for at in range(call[7]):
        job[ARGUMENTS + at] = words(arguments[at], 4)[3]
    for at in range(call[12]):
        job[RESULTS + at] = words(results[at], 4)[3]
    query, key = words(words(arguments[0], 6)[5], 2), words(words(arguments[1], 6)[5], 2)
    job[_NEXT], job[_BLOCKS], job[_FUTURE] = 0, query[0] // lanes, 0
    job[_SIZES], job[_SIZES + 1], job[_SIZES + 2] = query[0], query[1], key[1]
    return address


@njit
def _start(frame, job, task):
    """Put tasks into XLA's pool and a future into the frame; with one thread, do the work at once."""
    call, found = words(frame, 22), words(job, _WORDS)
    api = words(call[2], 21)
    threads, given = np.ones(1, np.int64), np.zeros(5, np.int64)
    given[0], given[2], given[3] = 32, call[3], threads.ctypes.data
    _call(api[18], given.ctypes.data)
    tasks = found[_TASKS] = min(threads[0], found[_BLOCKS])
    if tasks > 1:
        given[0], given[2] = 16, 0
        _call(api[19], given.ctypes.data)
        call[21] = found[_FUTURE] = given[2]
        found[_COMPLETE] = api[20]
    given[0], given[2], given[3], given[4] = 40, call[3], task, job
    for _ in range(tasks):  # the last one may free the job
        if tasks > 1:
            _call(api[17], given.ctypes.data)
        else:
            _call(task, job)


def register(name: str, work: Any, lanes: int) -> None:
    """Let programs on CPUs call a function of Numba's by a name.

    Args:
        name: any that isn't taken.
        work: takes the address of a job, and does one `next_block` after the other.
        lanes: instances of a block; B is a multiple.
    """
    work = njit(work)

    @numba.cfunc(types.int64(types.int64), nogil=True)
    def task(job):
        work(job)
        if _fetch_add(job + 8 * _TASKS, -1) == 1:
            found, given = words(job, _WORDS), np.zeros(3, np.int64)
            if found[_FUTURE]:
                given[0], given[2] = 24, found[_FUTURE]
                _call(found[_COMPLETE], given.ctypes.data)
            _free(job)
        return 0

    address = task.address

    @numba.cfunc(types.int64(types.int64), nogil=True)
    def handler(frame):
        if not _is_question(frame):
            _start(frame, _job_of(frame, lanes), address)
        return 0

    _kept.extend((task, handler))
    jax.ffi.register_ffi_target(name, jax.ffi.pycapsule(handler.ctypes), platform="cpu")


_kept: list[Any] = []
"""Functions whose machine code programs call."""


@cache
def is_known() -> bool:
    """Tell whether this JAX has the version of the interface whose places are written here."""
    header = Path(jax.ffi.include_dir(), "xla", "ffi", "api", "c_api.h")
    return "#define XLA_FFI_API_MAJOR 0\n" in header.read_text("utf-8")
