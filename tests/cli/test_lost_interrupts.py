"""An interrupt that a library drops comes again, and ends the process while XLA may be at work."""

import subprocess
import sys

LOST = """
import signal, sys, time
import cli.main

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs begin with it ignored

class Careless:
    def __del__(self):
        raise KeyboardInterrupt  # as where a signal comes while a library calls back

def run(arguments):
    Careless()
    time.sleep(60)

cli.main.cli.main = lambda *_, **__: run(None)
cli.main.console()
"""

AT_WORK = """
import atexit, sys
import cli.main

def run(*_, **__):
    raise KeyboardInterrupt

sys.modules["jax"] = sys
atexit.register(print, "the interpreter was finalised")
cli.main.cli.main = run
cli.main.console()
"""


def python(code):
    """Return exit code, standard output and standard error of a program."""
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=50, check=False
    )
    return ran.returncode, ran.stdout, ran.stderr


def test_one_that_a_callback_swallows_comes_again():
    assert python(LOST) == (130, "", "error: interrupted\n")


def test_where_xla_may_be_at_work_the_process_ends_at_once():
    assert python(AT_WORK) == (130, "", "error: interrupted\n")
