"""Jobs in threads of this process, for work that runs without the interpreter's lock."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from sraven.core.parallel import check_threads
from sraven.data.engines.call import Call


def map_in_threads(call: Call) -> None:
    """Do jobs in threads; an error, or an interrupt, ends all of them soon."""
    one_by_one, stop = threading.Lock(), threading.Event()

    def on_progress(items: int, size: int) -> None:
        call.on_progress(items, size)
        if stop.is_set():
            raise InterruptedError

    def handle(number: int, job: Any) -> None:
        if not stop.is_set():
            result = call.work(job, on_progress)
            with one_by_one:
                call.done(number, result)

    with ThreadPoolExecutor(check_threads(call.workers)) as pool:
        futures = [pool.submit(handle, number, job) for number, job in enumerate(call.jobs)]
        try:
            for future in futures:
                future.result()
        except BaseException:  # an interrupt, too: the threads end after the piece at hand
            stop.set()
            pool.shutdown(cancel_futures=True)
            raise
