"""Processes that begin with all imported: JAX and the rest take each of them three seconds of a processor.

A process imports all, and uses nothing of it. Those that are asked for are its forks: each runs a program
of its own, with devices of its own, and ends as any other process does.
"""

import json
import os
import signal
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).parents[2]

_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "JE_ARROW_MALLOC_CONF": "background_thread:false"}
"""Settings of the libraries that otherwise start threads when they are imported: a fork would lack them."""


class Forks:
    """Starts processes; a context that ends those which still run."""

    def __enter__(self):
        path = os.pathsep.join(map(str, (ROOT, ROOT / "tests")))
        self._parent = subprocess.Popen(
            [sys.executable, "-m", "helpers.forks"],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": path, "JAX_PLATFORMS": "cpu", **_ONE_THREAD},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return self

    def __exit__(self, *_):
        self._parent.stdin.close()
        self._parent.wait(timeout=60)
        self._parent.stdout.close()

    def start(self, code, *arguments, stdout=os.devnull):
        """Start a process that runs some code, with arguments in `sys.argv`; its output goes into a file."""
        texts = [str(each) for each in arguments]
        return _Fork(self, self.ask({"code": code, "arguments": texts, "stdout": str(stdout)}))

    def ask(self, what):
        """Return what the parent says."""
        self._parent.stdin.write(json.dumps(what) + "\n")
        self._parent.stdin.flush()
        return json.loads(self._parent.stdout.readline())


class _Fork:
    """A process, as `subprocess.Popen` has them."""

    def __init__(self, forks, pid):
        self._forks, self.pid, self.returncode = forks, pid, None

    def poll(self):
        if self.returncode is None:
            self.returncode = self._forks.ask({"poll": self.pid})
        return self.returncode

    def wait(self, timeout=300):
        end = time.monotonic() + timeout
        while self.poll() is None:
            assert time.monotonic() < end, f"process {self.pid} hangs"
            time.sleep(0.02)
        return self.returncode

    def send_signal(self, number):
        if self.returncode is None:  # else the number may be another process's
            os.kill(self.pid, number)


def _serve():
    """Start processes, and tell how they ended, until nobody asks any more."""
    running = set()
    try:
        for line in sys.stdin:
            asked = json.loads(line)
            if "poll" in asked:
                pid, status = os.waitpid(asked["poll"], os.WNOHANG)
                running.discard(pid)
                answer = os.waitstatus_to_exitcode(status) if pid else None
            else:
                answer = os.fork()
                if not answer:
                    running.clear()
                    return asked
                running.add(answer)
            print(json.dumps(answer), flush=True)  # noqa: T201
    finally:
        for pid in running:
            os.kill(pid, signal.SIGKILL)
    return None


def _run(code, arguments, stdout):
    """Be the process that was asked for."""
    for path, mode, number in (
        (os.devnull, os.O_RDONLY, 0),
        (stdout, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 1),
    ):
        file = os.open(path, mode)
        os.dup2(file, number)
        os.close(file)
    sys.argv = ["-c", *arguments]
    exec(compile(code, "<code>", "exec"), {"__name__": "__main__"})


if __name__ == "__main__":
    for name in ("baselines.lm.evaluate", "baselines.train", "helpers.quick_sraven", "helpers.tiny_language"):
        import_module(name)

    asked = _serve()
    if asked is not None:
        _run(**asked)
