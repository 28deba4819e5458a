"""Jobs in threads of this process, for work that runs without the interpreter's lock."""

import threading
from typing import Any

from sraven.core.compute.parallel import check_threads, for_each_item
from sraven.core.engines.call import Call


def map_in_threads(call: Call) -> None:
    """Do jobs in threads; an error, or an interrupt, ends all of them soon."""
    one_by_one = threading.Lock()

    def handle(numbered: tuple[int, Any], stop: threading.Event) -> None:
        def on_progress(items: int, size: int) -> None:
            call.on_progress(items, size)
            if stop.is_set():
                raise InterruptedError

        number, job = numbered
        if not stop.is_set():
            result = call.work(job, on_progress)
            with one_by_one:
                call.done(number, result)

    for_each_item(handle, enumerate(call.jobs), check_threads(call.workers))
