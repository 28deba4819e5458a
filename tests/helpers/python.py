"""Python in a process of its own."""

import subprocess
import sys


def python(*arguments, **options):
    """Run Python with arguments; return the finished process with its output and errors as texts."""
    usual = {"capture_output": True, "text": True, "check": False}
    return subprocess.run([sys.executable, *map(str, arguments)], **{**usual, **options})
