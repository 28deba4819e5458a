"""Long commands end soon after an interrupt: exit code 130, one line, nothing half-written.

The work itself sends the signal, from whichever thread it is in, so no clock is read: what is counted is how
many blocks of it are still done. `test_verify_commands` interrupts a process from outside.
"""

import os
import signal
import time
from pkgutil import resolve_name

import pytest

from helpers.submissions import SRAVEN_BOARD

GENERATE = "sraven.task:generate"
COMMANDS = {
    "generate": (GENERATE, "generate --M 3 --train 3000000 --threads 2 --out raven"),
    "ambiguity": (GENERATE, "ambiguity --M 3 -n 3000000 --threads 2"),
    "text generate": (GENERATE, "text generate --M 3 -n 1000000 --out prompts.jsonl"),
    "text score": ("sraven.text.completions:score_completions", "text score done.jsonl --out verdicts.jsonl"),
    "score": ("sraven.core.submissions.submission:score_runs", "score {submission} --out scores.json"),
    "leaderboard": ("sraven.core.leaderboard.evidence:gather_evidence", "leaderboard --html page"),
}
"""By command: a block of its work, as module:NAME, and its line."""

RESUMED = {"generate"}
"""Those that go on from what is there. Here that is nothing yet, so nothing is left."""

BLOCKS = 50
"""That may be done after the signal; the lines above are many hundreds, or a single one."""


@pytest.fixture(autouse=True)
def _heard():
    """Let this process hear interrupts: what a shell starts in the background ignores them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("command", COMMANDS)
def test_interrupt_ends_it_soon(run, tmp_path, monkeypatch, small_boards, original, filed, command):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "done.jsonl").touch()
    (tmp_path / "docs").mkdir()
    filed.parent.parent.parent.rename(tmp_path / "docs" / "leaderboard")
    assert (tmp_path / "docs" / "leaderboard" / "submissions" / SRAVEN_BOARD).is_dir()
    before = set(os.listdir())
    place, line = COMMANDS[command]
    module, name = place.split(":")
    function, calls = getattr(resolve_name(module), name), []

    def interrupting(*arguments, **options):
        calls.append(1)
        if len(calls) == 1:
            os.kill(os.getpid(), signal.SIGINT)  # Python hears it in the main thread
        time.sleep(0.02)
        return function(*arguments, **options)

    monkeypatch.setattr(resolve_name(module), name, interrupting)
    code, _, err = run(*line.format(submission=original).split())
    goes_on = "; the same command goes on from here" if command in RESUMED else ""
    assert (code, err) == (130, f"error: interrupted{goes_on}\n")
    assert 1 <= len(calls) <= BLOCKS
    assert set(os.listdir()) == before
