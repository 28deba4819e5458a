"""`sraven verify` can be interrupted at any time."""

import signal
import subprocess
import sys

from helpers.checkout import REPOSITORY

INTERRUPTED = """
import signal, sys, time
from unittest.mock import patch
from sraven import SRAVEN
from sraven.core.dataset.write import write_dataset
from sraven.record import SRAVENRows
from cli.main import main

signal.signal(signal.SIGINT, signal.default_int_handler)
with patch("sraven.core.tasks.digests.MOST_INSTANCES", 8):
    task = SRAVEN(M=3, K=7, holdout=0.3)
    write_dataset(task, {"train": 1600, "ood": 8}, sys.argv[1])
    draw = SRAVENRows.encode

    def encode(*arguments):
        print("drawing", flush=True)
        time.sleep(1)
        return draw(*arguments)

    with patch.object(SRAVENRows, "encode", encode):
        main(["verify", "--threads", "1", sys.argv[1]])
"""


def test_interrupt_ends_it_between_two_blocks(tmp_path):
    command = [sys.executable, "-c", INTERRUPTED, str(tmp_path / "raven")]
    with subprocess.Popen(
        command, cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "drawing\n"
        process.send_signal(signal.SIGINT)
        try:  # all 201 blocks would take minutes
            _, errors = process.communicate(timeout=100)
        finally:
            process.kill()
    assert (process.returncode, errors) == (130, "error: interrupted; nothing was changed\n")
