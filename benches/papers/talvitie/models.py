"""The paper's four models, as scores and as ways from a table to a graph."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import arbornet as an
from arbornet import _core
from arbornet.evaluate import Method
from arbornet.search.base import Found

SCORES: dict[str, Callable[..., Any]] = {
    "FT": lambda **more: an.FullTable(penalised=False, **more),
    "FTp": lambda **more: an.FullTable(**more),
    "PCART": lambda **more: an.PCART(penalised=False, **more),
    "PCARTp": lambda **more: an.PCART(**more),
}


class Learners:
    """The four models, learned by exact search. A model and its penalised form share step 1.

    Args:
        max_parents: The most parents.
        published: As the authors' program scores.
        time_limit: Wall seconds of each search.

    Attributes:
        cut_short: How many searches ended without a proof.
        seconds: CPU seconds of step 1 and of step 2 by method and number of rows, the latest; those of everything that
            ran at the time, so run one at a time to read them.
    """

    def __init__(self, max_parents: int, published: bool = False, time_limit: float | None = None):
        self._max_parents, self._time_limit = max_parents, time_limit
        self._more = {"published": True} if published else {}
        self._lock = threading.Lock()
        self._latest: dict[str, an.Candidates] = {}
        self.cut_short = 0
        self.seconds: dict[tuple[str, int], tuple[float, float]] = {}

    def methods(self) -> dict[str, Method]:
        """By name, to be handed to what evaluates them."""
        return {name: Method(make(**self._more), learner=self._learner(name)) for name, make in SCORES.items()}

    def _learner(self, name: str) -> Callable[[an.Table], Found]:
        def learn(table: an.Table) -> Found:
            model = name.removesuffix("p")
            began = time.process_time()
            with self._lock:
                candidates = self._candidates(table, model)
            between = time.process_time()
            if name != model:
                candidates = penalised(candidates)
            found = an.search.exact(candidates, time_limit=self._time_limit)
            self.seconds[name, table.n_rows] = (between - began, time.process_time() - between)
            self.cut_short += found.stopped != "proven"
            return found

        learn.__qualname__ = f"{name}, exact, D={self._max_parents}, within {self._time_limit} s"
        return learn

    def _candidates(self, table: an.Table, model: str) -> an.Candidates:
        """Those of the last table are kept: its penalised form asks for them next."""
        known = self._latest.get(model)
        mark = _core.table_fingerprint(table.handle)
        if known is None or known.table != mark:
            score = SCORES[model](**self._more)
            known = an.score_parents(table, score, max_parents=self._max_parents, n_jobs=1)
            assert known.table == mark
            self._latest[model] = known
        return known


def penalised(candidates: an.Candidates) -> an.Candidates:
    """Those of the model's penalised form."""
    return candidates.with_prior(an.priors.ParentCount())
