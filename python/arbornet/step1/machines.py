"""Scoring parent sets (step 1) on many machines: blocks of parent sets as tasks of a Dask cluster.

The score with its table is scattered once to all workers; the layer below a block (best scores by number of the set) is
scattered when a child comes to it. Records stream back as they are made, are entered in one ledger and thrown away, so
the result is the one a single thread would have found. A worker that dies costs its tasks, which run again elsewhere. A
scheduler that dies ends the run, even if another takes its place: that one knows nothing of what was scattered.
"""

from __future__ import annotations

import contextlib
import logging
import time
from concurrent.futures import CancelledError
from os import PathLike
from typing import Any

from arbornet._core import ArbornetError, ParameterError, Step1, Step1Run
from arbornet.step1.candidates import Step1Result
from arbornet.text.progress import Tell

# Dask's own types say too little to be checked against.
Client = Any
Future = Any

log = logging.getLogger("arbornet")

#: Blocks to a task: a task should cost much more than its journey.
BLOCKS = 8
#: Tasks under way per thread of the cluster, so that nobody waits for the next one.
AHEAD = 3
#: How often a task is sent again when what it needs was lost with its worker.
ATTEMPTS = 5
#: Seconds to wait for a worker where all have died.
PATIENCE = 120
#: How often, in seconds, a run that waits looks whether the scheduler is still there.
LOOK = 0.01


def run(step: Step1, client: Client, checkpoint: str | PathLike[str] | None, tell: Tell | None) -> Step1Result:
    """Scores everything on a client's workers.

    Raises:
        ArbornetError: as on one machine, or if the scheduler is lost; an exception of a task is raised here.
        ParameterError: if it is no client.
    """
    if not all(hasattr(client, needed) for needed in ("nthreads", "scatter", "submit")):
        raise ParameterError(f"client={client!r}: give a dask.distributed.Client")
    try:
        return _Spread(step, client, checkpoint).run(tell)
    except Exception as error:
        if isinstance(error, ArbornetError) or (_connected(client) and not _cut_off(error)):
            raise
        kept = "give checkpoint=, and a run that ends like this can be continued"
        if checkpoint is not None:
            kept = f"what was finished is in {str(checkpoint)!r}: call again with a client that is connected"
        raise ArbornetError(f"the Dask cluster no longer answers ({error}); {kept}") from error


class _Spread:
    """Tasks under way, and what they share."""

    def __init__(self, step: Step1, client: Client, checkpoint: str | PathLike[str] | None) -> None:
        self.step, self.client = step, client
        threads = sum(client.nthreads().values())
        self.most = AHEAD * max(threads, 1)
        self.book = Step1Run(step, self.most, checkpoint)
        self.everywhere = self._scatter(step)
        self.layers: dict[tuple[int, int], tuple[bytes, Future]] = {}
        self.sent: dict[Future, tuple[list[tuple[int, int, int, int]], int]] = {}

    def run(self, tell: Tell | None) -> Step1Result:
        import distributed

        as_completed: Any = distributed.as_completed
        arrived = as_completed([])
        try:
            self._send(arrived)
            while not arrived.is_empty():
                # A task sent while the connection broke is lost without a word, so nobody may wait for it for ever.
                while not arrived.has_ready():
                    self._check()
                    time.sleep(LOOK)
                self._receive(next(arrived), arrived)
                self._send(arrived)
                if tell is not None:
                    tell(*self.book.progress)
        finally:
            if _connected(self.client):
                with contextlib.suppress(OSError):
                    self.client.cancel(list(self.sent), force=True)
        return self.book.finish()

    def _check(self) -> None:
        if not _connected(self.client):
            raise ConnectionError(f"the client's connection is {self.client.status}")

    def _scatter(self, what: Any) -> Future:
        """Sent to every worker once there is one; again if one dies over it, which Dask tells in several ways."""
        for attempt in range(1, ATTEMPTS + 1):
            self._check()
            try:
                self._wait()
                return self.client.scatter(what, broadcast=True, hash=False)
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
            self._check()

    def _send(self, arrived: Any) -> None:
        while len(self.sent) < self.most and (work := self.book.next(BLOCKS)) is not None:
            blocks, below = work
            key = blocks[0][:2]
            if below is not None:
                self.layers = {other: layer for other, layer in self.layers.items() if other[0] != key[0]}
                self.layers[key] = below, self._scatter(below)
            self._submit(blocks, 1, arrived)

    def _submit(self, blocks: list[tuple[int, int, int, int]], attempt: int, arrived: Any) -> None:
        below = self.layers[blocks[0][:2]][1]
        future = self.client.submit(_score, self.everywhere, blocks, below, pure=False)
        self.sent[future] = blocks, attempt
        arrived.add(future)

    def _receive(self, future: Future, arrived: Any) -> None:
        blocks, attempt = self.sent.pop(future)
        try:
            records = future.result()
        except Exception as error:
            # What was scattered is lost if every worker that held it has died; so is what was computed there.
            if not _lost(error) or _cut_off(error) or attempt == ATTEMPTS:
                raise
            log.warning("blocks %s were lost with their worker and are sent again", blocks)
            key = blocks[0][:2]
            below, held = self.layers[key]
            if attempt > 1 or self.everywhere.status != "finished":
                self.everywhere = self._scatter(self.step)
            if attempt > 1 or held.status != "finished":
                self.layers[key] = below, self._scatter(below)
            self._submit(blocks, attempt + 1, arrived)
            return
        for record in records:
            self.book.accept(record)


def _lost(error: Exception) -> bool:
    from distributed.scheduler import KilledWorker

    return isinstance(error, CancelledError | KilledWorker)


def _connected(client: Client) -> bool:
    return getattr(client, "status", "running") == "running"


def _cut_off(error: Exception) -> bool:
    """Whether it says that the scheduler is gone, though a client may have found another at its address since."""
    from distributed.comm.core import CommClosedError

    cancelled = getattr(error, "reason", None) == "scheduler-connection-lost"
    return cancelled or isinstance(error, CommClosedError | ConnectionError | TimeoutError)


def _score(step: Step1, blocks: list[tuple[int, int, int, int]], below: bytes) -> list[bytes]:
    return step.score_blocks(blocks, below)
