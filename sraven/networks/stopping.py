"""Signals that ask long work to end: the first is heard at the next good moment, the second at once.

A handler of Python's waits until the main thread comes back from compiled code, which may take minutes. So
the system's own handler writes to a pipe, and a thread reads it.
"""

import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

ASKING = (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1)
"""Ctrl-C; what `kill` and job systems send; and what Slurm sends ahead of a time limit, if it is asked to."""


class Stop:
    """Whether work was asked to end.

    Attributes:
        received: the first signal; None before there is one.
    """

    received: signal.Signals | None = None

    def __call__(self) -> bool:
        """Return whether to end."""
        return self.received is not None

    @property
    def exit_code(self) -> int:
        """What a shell calls a process that a signal ended: 130 for Ctrl-C, 143 for SIGTERM."""
        return 128 + (self.received or signal.SIGINT)


@contextmanager
def stoppable(note: str) -> Iterator[Stop]:
    """Hear the signals of `ASKING` while work goes on; yield whether one has come.

    A second one ends the process at once. Those that the process ignores stay ignored. Elsewhere than in the
    main thread nothing is heard.

    Args:
        note: is written to standard error when the first has come.
    """
    stop = Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    heard = [each for each in ASKING if signal.getsignal(each) is not signal.SIG_IGN]
    readable, writable = os.pipe()
    os.set_blocking(writable, False)
    listener = threading.Thread(target=_listen, args=(readable, stop, heard, note), daemon=True)
    wakeup = signal.set_wakeup_fd(writable, warn_on_full_buffer=False)
    before = {each: signal.signal(each, lambda *_: None) for each in heard}
    listener.start()
    try:
        yield stop
    finally:
        for each, handler in before.items():
            signal.signal(each, handler if handler is not None else signal.SIG_DFL)
        signal.set_wakeup_fd(wakeup)
        os.close(writable)  # ends the thread
        listener.join()
        os.close(readable)


def _listen(readable: int, stop: Stop, signals: Sequence[signal.Signals], note: str) -> None:
    while data := os.read(readable, 1):
        if data[0] not in signals:
            continue
        if stop.received is not None:
            with suppress(OSError):
                os.write(2, b"\x1b[?25h" * sys.stderr.isatty())  # a progress bar has hidden the cursor
            os._exit(128 + data[0])
        stop.received = signal.Signals(data[0])
        with suppress(OSError):
            os.write(2, f"{stop.received.name}: {note}\n".encode())
