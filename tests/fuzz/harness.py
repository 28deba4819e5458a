"""Runs a target on inputs, in processes of its own, and says what may not happen."""

import os
import re
import resource
import signal
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from random import Random

CPU_SECONDS, SECONDS = 10, 120
"""Processor time of an input, and time of all kinds, after which it counts as endless."""

MEMORY = 1 << 30
"""Bytes that a batch may take beyond what its process has at the beginning."""

_HOMES = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), os.environ.get("NUMBA_CACHE_DIR")
_CACHES = tuple(os.path.realpath(os.path.join(home, "sraven")) for home in _HOMES if home)
"""Where machine code is kept from run to run, whatever the input."""

_ROOT = str(Path(__file__).resolve().parents[2])


class FindingError(Exception):
    """Something that may not happen."""


@dataclass(frozen=True)
class Target:
    """What is attacked.

    Attributes:
        seeds: makes the inputs to begin with; it may prepare what `run` needs.
        change: makes another input of one.
        run: takes an input and a folder, the only place where it may write; returns what kind of answer
            came, or raises `FindingError`.
        may_abort: whether a process of its own protects from aborts here.
    """

    seeds: Callable[[], list[bytes]]
    change: Callable[[bytes, Random], bytes]
    run: Callable[[bytes, Path], str]
    may_abort: bool = False


_FORBIDDEN = re.compile(
    r"os\.(?!listdir|scandir|walk|fwalk|getxattr|listxattr|putenv|unsetenv)|subprocess\.|socket\.(?!__new__)"
    r"|pickle\.|ctypes\.dlopen|exec|pty\.|webbrowser\.|urllib\.|ftplib\.|smtplib\."
)
"""Events of the audit hook that change something, run something or talk to someone."""


class _Guard:
    """Notes what an input does beyond reading, outside of its folder; armed while one runs."""

    def __init__(self):
        self.folder: str | None = None
        self.seen: list[str] = []
        self.started = False
        sys.addaudithook(self._hook)

    def _hook(self, event, arguments):
        if self.folder is None:
            return
        writes = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
        if event == "open":
            changes = bool((arguments[2] or 0) & writes)
        else:
            changes = _FORBIDDEN.match(event) is not None
        if not changes or (event == "exec" and _is_ours(arguments[0])):
            return
        if event == "subprocess.Popen" and _is_our_script(arguments[1]):
            self.started = True
            return
        if event == "os.kill" and self.started:  # what it started, it may end
            return
        paths = [os.fsdecode(part) for part in arguments if isinstance(part, str | bytes | os.PathLike)]
        inside = [path for path in paths if os.path.realpath(path).startswith((self.folder, *_CACHES))]
        descriptors = event in ("open", "os.truncate") and isinstance(arguments[0], int)
        if not descriptors and (not paths or len(inside) < len(paths) - (event == "open")):
            self.seen.append(f"{event}{tuple(paths)!r:.200}")


def _is_ours(code):
    """Return whether code that is run is that of a module: lazy imports are no finding."""
    name = getattr(code, "co_filename", "")
    return name.startswith("<") or os.path.isfile(name)


def _is_our_script(command):
    """Return whether a process is one of the project's own, which take nothing from where they run."""
    return list(command[:2]) == [sys.executable, "-I"] and os.path.realpath(command[2]).startswith(_ROOT)


def kind_of(message):
    """Return a message without what is particular to an input."""
    anywhere = re.sub(r"/\S*sraven-fuzz-[^/\s]*/", "", message)
    return re.sub(r"'.*'|\d[\d,.]*|U\+\w+ \([^)]*\)", "N", anywhere)[:60]


def _answer(target, data, folder, guard):
    """Return the kind of an answer, and what is wrong with it, if anything is."""
    guard.folder, guard.seen, guard.started = str(folder), [], False
    signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        kind = target.run(data, folder)
    except FindingError as error:
        return "finding", str(error)
    except BaseException as error:  # whatever is no answer of ours
        return "finding", f"{type(error).__name__}: {error!s:.300}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        guard.folder = None
    return ("finding", f"did {guard.seen[0]}") if guard.seen else (kind_of(kind), "")


def _work(target, inputs, pipe, folder):
    """Answer inputs, one by one, in bounded memory; a crash leaves no core, a signal ends it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # what C++ says before it aborts
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * os.sysconf("SC_PAGE_SIZE") + MEMORY,) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for number in (signal.SIGPROF, signal.SIGALRM):
        signal.signal(number, signal.SIG_DFL)
    sys.dont_write_bytecode = True
    guard = _Guard()
    for data in inputs:
        pipe.send(_answer(target, data, folder, guard))


def _next_answers(target, inputs, folder):
    """Answer inputs in a process of its own; return the answers, and how it ended if not by itself."""
    fork, found = get_context("fork"), []
    source, goal = fork.Pipe(duplex=False)
    child = fork.Process(target=_work, args=(target, inputs, goal, folder))
    child.start()
    goal.close()
    with suppress(EOFError, OSError):  # the latter if it died within an answer
        while True:
            found.append(source.recv())
    child.join()
    code = child.exitcode
    return found, signal.Signals(-code).name if code < 0 else f"exit {code}" if code else ""


def run_inputs(target, inputs):
    """Run a target on inputs; yield each with its kind of answer, and what is wrong with that."""
    answers = []
    with tempfile.TemporaryDirectory(prefix="sraven-fuzz-") as name:
        folder = Path(os.path.realpath(name))
        while len(answers) < len(inputs):
            found, ended = _next_answers(target, inputs[len(answers) :], folder)
            answers += found
            if ended:
                harmless = target.may_abort and ended == "SIGABRT"
                answers.append((ended, "" if harmless else f"ended the process: {ended}"))
    for data, (kind, fault) in zip(inputs, answers, strict=True):
        yield data, kind, fault
