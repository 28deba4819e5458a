"""Signals that ask work to end: the first is said and heard, the second ends the process wherever it is."""

import os
import signal
import time

import pytest

from helpers.python import python
from sraven.networks.stopping import ASKING, stoppable


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGUSR1, 138)]
)
def test_the_first_signal_is_heard_and_handlers_come_back(number, code, capfd, monkeypatch):
    before = {each: signal.signal(each, signal.default_int_handler) for each in ASKING}
    try:
        with stoppable("soon") as stop:
            assert not stop()
            os.kill(os.getpid(), number)
            while not stop():
                time.sleep(0.01)
        assert (stop.received, stop.exit_code) == (number, code)
        assert capfd.readouterr().err == f"{number.name}: soon\n"
        assert {signal.getsignal(each) for each in ASKING} == {signal.default_int_handler}
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


TWICE = """
import hashlib, os, signal, threading
from sraven.networks.stopping import stoppable

signal.signal(signal.SIGINT, signal.SIG_IGN)
with stoppable("soon") as stop:
    os.kill(os.getpid(), signal.SIGINT)  # was ignored, and stays so
    os.kill(os.getpid(), signal.SIGTERM)
    while not stop():
        pass
    again = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGTERM))
    again.start()
    hashlib.pbkdf2_hmac("sha256", b"", b"", (1 << 31) - 1)  # compiled code, in which Python hears nothing
"""


def test_a_second_signal_ends_the_process_at_once():
    ended = python("-c", TWICE, timeout=50)
    assert (ended.returncode, ended.stderr) == (143, "SIGTERM: soon\n")
