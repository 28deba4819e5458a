"""Processes that begin with heavy libraries imported: JAX and the rest take each of them three seconds.

A process imports them once, and uses nothing of them: their threads start as they are used. Those that are
asked for are its forks. Each runs a program of its own, and ends as any other process does.
"""

import gc
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from importlib import import_module
from tempfile import TemporaryDirectory

from helpers.checkout import REPOSITORY

# What is installed comes first: that is where the entry points are.
START = """
import sys
sys.path += sys.argv[1:]
from helpers.forks import serve
serve()
"""

ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "JE_ARROW_MALLOC_CONF": "background_thread:false"}
"""Settings of the libraries that otherwise start threads when they are imported: a fork would lack them."""

SCRIPT = "import runpy, sys; del sys.argv[0]; runpy.run_path(sys.argv[0], run_name='__main__')"
"""Runs the script that is the first argument, as Python itself would."""


class Forks:
    """Starts processes; a context that ends those which still run.

    Args:
        folder: where the process that forks starts, and its forks where they aren't told otherwise.
        environment: that all share.
        imports: modules that each has from the start; one that isn't installed is left out.
    """

    def __init__(self, folder=REPOSITORY, environment=os.environ, imports=()):
        self._folder, self._imports = folder, imports
        self._environment = {**environment, **ONE_THREAD}

    def __enter__(self):
        self._server = subprocess.Popen(
            [sys.executable, "-c", START, str(REPOSITORY), str(REPOSITORY / "tests")],
            cwd=self._folder,
            env=self._environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return self

    def __exit__(self, *_):
        self._server.stdin.close()
        self._server.wait(timeout=60)
        self._server.stdout.close()

    def start(self, code, *arguments, imports=(), folder=None, stdout=os.devnull, stderr=None):
        """Start a process that runs some code, with arguments in `sys.argv`.

        Args:
            code: the code.
            arguments: of it.
            imports: more modules that it has from the start.
            folder: where it starts.
            stdout: a file that its output goes into.
            stderr: one for its errors; None for where the tests' own go.
        """
        order = {
            "code": code,
            "arguments": [str(each) for each in arguments],
            "imports": [*self._imports, *imports],
            "folder": str(folder or self._folder),
            "files": [str(stdout), stderr and str(stderr)],
        }
        return Fork(self, self.ask(order))

    def run(self, folder, script, *arguments, imports=()):
        """Run a script in a folder; return how it ended, and what it printed, once it has."""
        with TemporaryDirectory() as beside:
            out, err = f"{beside}/out", f"{beside}/err"
            fork = self.start(
                SCRIPT, script, *arguments, imports=imports, folder=folder, stdout=out, stderr=err
            )
            code = fork.wait()
            with open(out, encoding="utf-8") as printed, open(err, encoding="utf-8") as errors:
                return subprocess.CompletedProcess([script, *arguments], code, printed.read(), errors.read())

    def ask(self, what):
        """Return what the process that forks says."""
        self._server.stdin.write(json.dumps(what) + "\n")
        self._server.stdin.flush()
        return json.loads(self._server.stdout.readline())


class Fork:
    """A process, as `subprocess.Popen` has them."""

    def __init__(self, forks, pid):
        self._forks, self.pid, self.returncode = forks, pid, None

    def poll(self):
        if self.returncode is None:
            self.returncode = self._forks.ask({"poll": self.pid})
        return self.returncode

    def wait(self, timeout=600):
        end = time.monotonic() + timeout
        while self.poll() is None:
            assert time.monotonic() < end, f"process {self.pid} hangs"
            time.sleep(0.02)
        return self.returncode

    def send_signal(self, number):
        if self.returncode is None:  # else the number may be another process's
            os.kill(self.pid, number)


def serve():
    """Start processes, and tell how they ended, until nobody asks any more. A fork is what was asked for."""
    running = set()
    try:
        for line in sys.stdin:
            order = json.loads(line)
            if "poll" in order:
                pid, status = os.waitpid(order["poll"], os.WNOHANG)
                running.discard(pid)
                answer = os.waitstatus_to_exitcode(status) if pid else None
            else:
                for name in order["imports"]:
                    with suppress(ImportError):  # the program says what it lacks
                        import_module(name)
                gc.freeze()  # else a collection touches, and so copies, all that a fork shares
                answer = os.fork()
                if not answer:
                    running.clear()
                    break
                running.add(answer)
            print(json.dumps(answer), flush=True)  # noqa: T201
        else:
            return
    finally:
        for pid in running:
            os.kill(pid, signal.SIGKILL)
    be(order)


def be(order):
    """Be the process that was asked for."""
    for number, path in enumerate([os.devnull, *order["files"]]):
        if path is not None:
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC if number else os.O_RDONLY)
            os.dup2(file, number)
            os.close(file)
    os.chdir(order["folder"])
    sys.argv[:] = ["-c", *order["arguments"]]
    exec(compile(order["code"], "<code>", "exec"), {"__name__": "__main__"})
