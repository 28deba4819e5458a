"""Python in a process of its own."""

import os
import runpy
import subprocess
import sys
from multiprocessing import get_context

from helpers.checkout import REPOSITORY

MODULES = os.pathsep.join([str(REPOSITORY), str(REPOSITORY / "tests")])
"""Where the project's modules are, and those of the tests, as ``PYTHONPATH`` has it."""


def python(*arguments, **options):
    """Run Python with arguments; return the finished process with its output and errors as texts."""
    usual = {"capture_output": True, "text": True, "check": False}
    return subprocess.run([sys.executable, *map(str, arguments)], **{**usual, **options})


def start(code, *arguments, stdout=os.devnull):
    """Start Python on some code, which finds the tests' modules, its output in a file; return the process."""
    with open(stdout, "w", encoding="utf-8") as file:
        command = [sys.executable, "-c", code, *map(str, arguments)]
        return subprocess.Popen(command, env={**os.environ, "PYTHONPATH": MODULES}, stdout=file)


def run_prepared(script, **environment):
    """Run a script in its folder, in a copy of a process that has imported what takes longest.

    Returns:
        its exit code, and what it wrote to standard error.
    """
    context, errors = get_context("forkserver"), script.with_suffix(".errors")
    context.set_forkserver_preload(["datasets", "jax", "sraven.data.write", "sraven.task", "fuzzylogic.task"])
    process = context.Process(target=_run, args=(script, errors, environment))
    process.start()
    process.join()
    return process.exitcode, errors.read_text()


def _run(script, errors, environment):
    os.dup2(os.open(errors, os.O_WRONLY | os.O_CREAT), 2)
    os.environ.update(environment)
    os.chdir(script.parent)
    runpy.run_path(str(script), run_name="__main__")
