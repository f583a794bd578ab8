"""Independent jobs side by side. The core computes without the GIL, so threads suffice, and they share the tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from threading import Thread
from typing import TypeVar

from arbornet._core import Stop, threads
from arbornet.system.cluster import Client, each

Job = TypeVar("Job")
Result = TypeVar("Result")


def side_by_side(
    work: Callable[[Job, int], Result], jobs: Sequence[Job], n_jobs: int = -1, client: Client | None = None
) -> Iterator[tuple[int, Result]]:
    """Runs `work(job, n_threads)` for every job and yields (position, result) as they are ready.

    Jobs share the given threads: many jobs get one each, few jobs several. The first exception, Ctrl-C, or a
    consumer that stops taking results stops the work under way within a second.

    Args:
        work: Does one job, whose result must not depend on its number of threads.
        jobs: The jobs, begun in their order.
        n_jobs: Threads in all; -1 for all cores. More than four times the cores count as so many.
        client: A `distributed.Client`, whose workers' threads do the jobs instead.
    """
    if client is not None:
        yield from each(work, jobs, client)
        return
    total = threads(n_jobs)
    abreast = min(total, len(jobs))
    if abreast <= 1:
        for i, job in enumerate(jobs):
            yield i, work(job, total)
        return
    stop = Stop()
    pool = ThreadPoolExecutor(abreast, thread_name_prefix="arbornet", initializer=stop.heed)
    try:
        waiting = enumerate(jobs)
        position: dict[Future[Result], int] = {}

        def begin(n: int) -> None:
            position.update({pool.submit(work, job, total // abreast): i for i, job in islice(waiting, n)})

        # Two for every thread: very many jobs are not all queued before the first is done.
        begin(2 * abreast)
        while position:
            # In short waits: a signal that the system hands to another thread wakes no thread that waits for a lock.
            ready, _ = wait(position, timeout=0.1, return_when=FIRST_COMPLETED)
            begin(len(ready))
            for future in sorted(ready, key=position.__getitem__):
                yield position.pop(future), future.result()
    finally:
        # Ctrl-C reaches the main thread alone; the working threads see it through the stop.
        stop.set()
        pool.shutdown(wait=True, cancel_futures=True)


def left_behind(work: Callable[[], Result]) -> Result:
    """Does the work on a thread of its own, so that Ctrl-C returns at once; the thread is left to end by itself.

    For work of others that does not look for signals, and changes nothing but what it returns.
    """
    done: Future[Result] = Future()

    def run() -> None:
        try:
            done.set_result(work())
        except BaseException as error:
            done.set_exception(error)

    Thread(target=run, name="arbornet", daemon=True).start()
    while not wait([done], timeout=0.1).done:
        pass
    return done.result()
