"""Python in a process of its own."""

import os
import subprocess
import sys

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
