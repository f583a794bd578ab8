"""Work on the workers of a Dask cluster: what all of them need is sent once; a task whose worker dies is sent again.

A scheduler that dies ends the work, even if another takes its place: that one knows nothing of what was scattered.
A stop here (Ctrl-C, an exception, results that nobody takes any more) reaches the tasks under way within a second: each
looks whether its result is still wanted.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from itertools import islice
from typing import Any, TypeVar

from arbornet._core import ArbornetError, ParameterError, Stop

# Dask's own types say too little to be checked against.
Client = Any
Future = Any
Queue = Any

Job = TypeVar("Job")
Result = TypeVar("Result")

log = logging.getLogger("arbornet")

#: Tasks under way per thread of the cluster, so that nobody waits for the next one.
AHEAD = 3
#: How often a task is sent again when what it needs was lost with its worker.
ATTEMPTS = 5
#: Seconds to wait for a worker where all have died.
PATIENCE = 120
#: How often, in seconds, a run that waits looks whether the scheduler is still there.
LOOK = 0.01
#: How often, in seconds, a task looks whether its result is still wanted.
WANTED = 0.2


class Cluster:
    """A client's workers.

    Raises:
        ParameterError: If it is no client.
    """

    def __init__(self, client: Client) -> None:
        if not all(hasattr(client, needed) for needed in ("nthreads", "scatter", "submit")):
            raise ParameterError(f"client={client!r}: give a dask.distributed.Client")
        self.client = client

    @property
    def threads(self) -> int:
        """Of all workers, at least one."""
        threads: int = sum(self.client.nthreads().values())
        return max(threads, 1)

    def check(self) -> None:
        """Raises `ConnectionError` if the scheduler is gone."""
        if not connected(self.client):
            raise ConnectionError(f"the client's connection is {self.client.status}")

    def everywhere(self, what: object) -> Future:
        """Sent to every worker once there is one; again if one dies over it, which Dask tells in several ways."""
        return self._scattered(what, broadcast=True)

    def somewhere(self, what: object) -> Future:
        """Sent to one worker, from which others fetch it when a task of theirs needs it."""
        return self._scattered(what, broadcast=False)

    def _scattered(self, what: object, broadcast: bool) -> Future:
        for attempt in range(1, ATTEMPTS + 1):
            self.check()
            try:
                self._wait()
                return self.client.scatter(what, broadcast=broadcast, hash=False)
            except (OSError, KeyError, CancelledError) as error:
                if attempt == ATTEMPTS or isinstance(error, ConnectionError):
                    raise
                time.sleep(attempt * 0.2)
        raise AssertionError("the last attempt returns or raises")

    def _wait(self) -> None:
        """Until there is a worker: those that died may be on their way back."""
        patient = time.monotonic() + PATIENCE
        while not self.client.nthreads():
            if time.monotonic() > patient:
                raise ConnectionError(f"it has had no worker for {PATIENCE} seconds")
            time.sleep(0.1)
            self.check()

    def arrived(self) -> Queue:
        """An empty queue of futures that are done, to which others can be added."""
        import distributed

        as_completed: Any = distributed.as_completed
        return as_completed([])

    def next(self, arrived: Queue) -> Future:
        """The next future that is done."""
        # A task sent while the connection broke is lost without a word, so nobody may wait for it for ever.
        while not arrived.has_ready():
            self.check()
            time.sleep(LOOK)
        return next(arrived)

    def cancel(self, futures: list[Future]) -> None:
        """Gives up on them: queued ones do not begin, those under way stop within a second."""
        if connected(self.client):
            with contextlib.suppress(OSError):
                self.client.cancel(futures, force=True)


def each(work: Callable[[Job, int], Result], jobs: Sequence[Job], client: Client) -> Iterator[tuple[int, Result]]:
    """Runs `work(job, 1)` for every job on the workers and yields (position, result) as they are ready.

    Args:
        work: Does one job; sent once to every worker, with what it refers to.
        jobs: The jobs, begun in their order.
        client: A `distributed.Client`.

    Raises:
        ArbornetError: If the scheduler is lost; an exception of a job is raised here.
        ParameterError: If it is no client.
    """
    cluster = Cluster(client)
    with told_if_lost(client, "what was finished is kept where resume= names a file"):
        yield from _each(cluster, work, jobs)


def _each(cluster: Cluster, work: Callable[[Job, int], Result], jobs: Sequence[Job]) -> Iterator[tuple[int, Result]]:
    held = cluster.everywhere(work)
    waiting = iter(range(len(jobs)))
    under_way: dict[Future, tuple[int, int]] = {}
    arrived = cluster.arrived()

    def send(at: int, attempt: int) -> None:
        future = cluster.client.submit(heeding, _done, held, jobs[at], pure=False)
        under_way[future] = at, attempt
        arrived.add(future)

    try:
        for at in islice(waiting, AHEAD * cluster.threads):
            send(at, 1)
        while under_way:
            future = cluster.next(arrived)
            at, attempt = under_way.pop(future)
            try:
                result = future.result()
            except Exception as error:
                if not lost(error) or cut_off(error) or attempt == ATTEMPTS:
                    raise
                log.warning("job %d was lost with its worker and is sent again", at)
                if attempt > 1 or held.status != "finished":
                    held = cluster.everywhere(work)
                send(at, attempt + 1)
                continue
            yield at, result
            for at in islice(waiting, 1):
                send(at, 1)
    finally:
        cluster.cancel(list(under_way))


def _done(work: Callable[[Job, int], Result], job: Job) -> Result:
    return work(job, 1)


@contextlib.contextmanager
def told_if_lost(client: Client, kept: str) -> Iterator[None]:
    """Tells of a scheduler that was lost as such, and what is kept."""
    try:
        yield
    except Exception as error:
        if isinstance(error, ArbornetError) or (connected(client) and not cut_off(error)):
            raise
        raise ArbornetError(f"the Dask cluster no longer answers ({error}); {kept}") from error


def heeding(work: Callable[..., Result], *given: object) -> Result:
    """Does a task's work on a worker, and stops it once nobody wants its result."""
    import distributed

    try:
        worker = distributed.get_worker()
    except ValueError:
        return work(*given)  # not on a worker: a test, or a client without a cluster
    key = worker.get_current_task()
    stop, over = Stop(), threading.Event()

    def watch() -> None:
        while not over.wait(WANTED):
            task = worker.state.tasks.get(key)
            if task is None or task.state in ("cancelled", "resumed", "released", "forgotten"):
                stop.set()
                return

    threading.Thread(target=watch, name="arbornet", daemon=True).start()
    stop.heed()
    try:
        return work(*given)
    except KeyboardInterrupt:
        # Dask lets this end the worker's thread; nobody looks at a task that was given up.
        raise CancelledError("given up") from None
    finally:
        over.set()
        Stop().heed()


def lost(error: Exception) -> bool:
    """Whether it says that a worker died with what the task needs."""
    from distributed.scheduler import KilledWorker

    return isinstance(error, CancelledError | KilledWorker)


def connected(client: Client) -> bool:
    """Whether the client still has its scheduler."""
    return getattr(client, "status", "running") == "running"


def cut_off(error: Exception) -> bool:
    """Whether it says that the scheduler is gone, though a client may have found another at its address since."""
    from distributed.comm.core import CommClosedError

    cancelled = getattr(error, "reason", None) == "scheduler-connection-lost"
    return cancelled or isinstance(error, CommClosedError | ConnectionError | TimeoutError)
