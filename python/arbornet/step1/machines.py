"""Scoring parent sets (step 1) on many machines: blocks of parent sets as tasks of a Dask cluster.

The score with its table is scattered once to all workers; the layer below a block (best scores by number of the set)
goes with the block, or is left with one worker for the others to fetch where it is large. Records stream back as they
are made, are entered in one ledger and thrown away, so the result is the one a single thread would have found.
"""

from __future__ import annotations

import logging
import math
from os import PathLike
from typing import Any

from arbornet._core import Step1, Step1Run
from arbornet.step1.candidates import Step1Result
from arbornet.system.cluster import AHEAD, ATTEMPTS, Client, Cluster, Future, cut_off, heeding, lost, told_if_lost
from arbornet.text.progress import Tell

log = logging.getLogger("arbornet")

#: Blocks to a task: a task should cost much more than its journey, and what a child's rows are prepared for.
FEWEST, MOST = 8, 64
#: Tasks that what is left to do is divided into, per thread: the last ones should not keep others waiting.
SHARE = 4
#: Bytes of a layer that is sent with each of its blocks.
SMALL = 1 << 16


def run(step: Step1, client: Client, checkpoint: str | PathLike[str] | None, tell: Tell | None) -> Step1Result:
    """Scores everything on a client's workers.

    Raises:
        ArbornetError: as on one machine, or if the scheduler is lost; an exception of a task is raised here.
        ParameterError: if it is no client.
    """
    cluster = Cluster(client)
    kept = "give checkpoint=, and a run that ends like this can be continued"
    if checkpoint is not None:
        kept = f"what was finished is in {str(checkpoint)!r}: call again with a client that is connected"
    with told_if_lost(client, kept):
        return _Spread(step, cluster, checkpoint).run(tell)


class _Spread:
    """Tasks under way, and what they share."""

    def __init__(self, step: Step1, cluster: Cluster, checkpoint: str | PathLike[str] | None) -> None:
        self.step, self.cluster = step, cluster
        self.threads = cluster.threads
        self.most = AHEAD * self.threads
        self.book = Step1Run(step, self.most, checkpoint)
        self.everywhere = cluster.everywhere(step)
        self.layers: dict[tuple[int, int], tuple[bytes, bytes | Future]] = {}
        self.sent: dict[Future, tuple[list[tuple[int, int, int, int]], int]] = {}

    def run(self, tell: Tell | None) -> Step1Result:
        arrived = self.cluster.arrived()
        try:
            self._send(arrived)
            while not arrived.is_empty():
                self._receive(self.cluster.next(arrived), arrived)
                self._send(arrived)
                if tell is not None:
                    tell(*self.book.progress)
        finally:
            self.cluster.cancel(list(self.sent))
        return self.book.finish()

    def _blocks(self) -> int:
        """Blocks to the next task: a share of what is left."""
        done, total = self.book.progress
        left = math.ceil((total - done) / self.step.block_sets)
        return min(max(left // (SHARE * self.threads), FEWEST), MOST)

    def _send(self, arrived: Any) -> None:
        while len(self.sent) < self.most and (work := self.book.next(self._blocks())) is not None:
            blocks, below = work
            key = blocks[0][:2]
            if below is not None:
                self.layers = {other: layer for other, layer in self.layers.items() if other[0] != key[0]}
                self.layers[key] = below, self._placed(below)
            self._submit(blocks, 1, arrived)

    def _placed(self, below: bytes) -> bytes | Future:
        """A layer as it goes with its blocks."""
        return below if len(below) <= SMALL else self.cluster.somewhere(below)

    def _submit(self, blocks: list[tuple[int, int, int, int]], attempt: int, arrived: Any) -> None:
        below = self.layers[blocks[0][:2]][1]
        future = self.cluster.client.submit(heeding, _score, self.everywhere, blocks, below, pure=False)
        self.sent[future] = blocks, attempt
        arrived.add(future)

    def _receive(self, future: Future, arrived: Any) -> None:
        blocks, attempt = self.sent.pop(future)
        try:
            records = future.result()
        except Exception as error:
            # What was scattered is lost if every worker that held it has died; so is what was computed there.
            if not lost(error) or cut_off(error) or attempt == ATTEMPTS:
                raise
            log.warning("blocks %s were lost with their worker and are sent again", blocks)
            key = blocks[0][:2]
            below, held = self.layers[key]
            if attempt > 1 or self.everywhere.status != "finished":
                self.everywhere = self.cluster.everywhere(self.step)
            if not isinstance(held, bytes) and (attempt > 1 or held.status != "finished"):
                self.layers[key] = below, self._placed(below)
            self._submit(blocks, attempt + 1, arrived)
            return
        for record in records:
            self.book.accept(record)


def _score(step: Step1, blocks: list[tuple[int, int, int, int]], below: bytes) -> list[bytes]:
    return step.score_blocks(blocks, below)
