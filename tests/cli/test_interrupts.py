"""Long commands end soon after an interrupt: exit code 130, one line, nothing half-written.

The work itself sends the signal, from whichever thread it is in, so no clock is read: what is counted is how
many blocks of it are still done.
"""

import os
import signal
import time
from pkgutil import resolve_name

import pytest

from helpers.python import python
from sraven import SRAVEN
from sraven.data.write import write_dataset

GENERATE = "sraven.task.generate"
COMMANDS = {
    "generate": (GENERATE, "generate --M 3 --train 3000000 --threads 2 --out raven"),
    "verify": (GENERATE, "verify many --threads 1"),
    "text score": ("sraven.text.scores.score_completions", "text score done.jsonl"),
    "score": ("sraven.leaderboard.submissions.submission.score_runs", "score {submission} --out scores.json"),
}
"""By command: a block of its work, and its line."""

ENDS = {"generate": "; the same command goes on from here", "verify": "; nothing was changed"}
"""The rest of the message. There is nothing to go on from yet, so nothing is left."""

BLOCKS = 50
"""That may be done after the signal; the lines above are many hundreds, or a single one."""


@pytest.fixture(autouse=True)
def _heard():
    """Let this process hear interrupts: what a shell starts in the background ignores them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("command", COMMANDS)
def test_interrupt_ends_it_soon(run, tmp_path, monkeypatch, small_boards, original, command):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "done.jsonl").touch()
    if command == "verify":
        monkeypatch.setattr("sraven.core.digests.MOST_INSTANCES", 8)
        write_dataset(SRAVEN(M=3, K=7, holdout=0.3), {"train": 1600}, "many")
    before = set(os.listdir())
    place, line = COMMANDS[command]
    function, calls = resolve_name(place), []

    def interrupting(*arguments, **options):
        calls.append(1)
        if len(calls) == 1:
            os.kill(os.getpid(), signal.SIGINT)  # Python hears it in the main thread
        time.sleep(0.02)
        return function(*arguments, **options)

    monkeypatch.setattr(place, interrupting)
    code, _, err = run(*line.format(submission=original).split())
    assert (code, err) == (130, f"error: interrupted{ENDS.get(command, '')}\n")
    assert 1 <= len(calls) <= BLOCKS
    assert set(os.listdir()) == before


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


def test_where_xla_may_be_at_work_it_ends_at_once():
    ended = python("-c", AT_WORK, timeout=50)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "error: interrupted\n")
