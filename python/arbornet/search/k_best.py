"""How sure is the structure: the k best graphs, and the probability of every arc among them."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import polars as pl

from arbornet import _core
from arbornet._core import ParameterError
from arbornet.constraints import Constraints, resolved
from arbornet.search.anytime import candidates_handle
from arbornet.search.base import Found, dag_from_parents
from arbornet.search.greedy import limited

#: Bytes that the tables may take where nothing else is said: 25 variables that can all be each other's ancestors.
MEMORY = 2e9


@dataclass(frozen=True, repr=False)
class KBest(Sequence[Found]):
    """Graphs by falling score.

    Attributes:
        graphs: the graphs; each one's `gap` is its distance from the best.
        complete: true if there are no further graphs within the margin (without a margin: no further graphs at all).
    """

    graphs: tuple[Found, ...]
    complete: bool

    def __len__(self) -> int:
        return len(self.graphs)

    @overload
    def __getitem__(self, index: int) -> Found: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Found, ...]: ...
    def __getitem__(self, index: int | slice) -> Found | tuple[Found, ...]:
        return self.graphs[index]

    def __iter__(self) -> Iterator[Found]:
        return iter(self.graphs)

    @property
    def weights(self) -> list[float]:
        """Each graph's share, proportional to exp(score): its posterior probability, were there no other graphs."""
        best = max(found.score for found in self.graphs)
        shares = [math.exp(found.score - best) for found in self.graphs]
        total = math.fsum(shares)
        return [share / total for share in shares]

    def arc_probabilities(self) -> pl.DataFrame:
        """The weight of the graphs that have an arc, for every arc that any of them has; most probable first.

        Returns:
            A frame with the columns parent, child and probability.
        """
        arcs: dict[tuple[str, str], list[float]] = {}
        for found, weight in zip(self.graphs, self.weights, strict=True):
            for arc in found.dag.edges:
                arcs.setdefault(arc, []).append(weight)
        place = {name: i for i, name in enumerate(self.graphs[0].dag.nodes)}
        summed = [(parent, child, min(1.0, math.fsum(weights))) for (parent, child), weights in arcs.items()]
        summed.sort(key=lambda arc: (-arc[2], place[arc[1]], place[arc[0]]))
        schema = {"parent": pl.String, "child": pl.String, "probability": pl.Float64}
        return pl.DataFrame(summed, schema=schema, orient="row")

    def __repr__(self) -> str:
        scores = f"{self.graphs[0].score:.6f} to {self.graphs[-1].score:.6f}"
        return f"KBest({len(self)} graphs, scores {scores}{', all there are' if self.complete else ''})"


def k_best(
    candidates: Any,
    k: int,
    margin: float | None = None,
    *,
    constraints: Constraints | None = None,
    max_parents: int | None = None,
    memory_limit: float | None = None,
) -> KBest:
    """The k best graphs, proved; or all within a margin of the best, up to k.

    The graphs are made of the given candidates: a set that was pruned because a subset scores at least as much is in
    none of them. For every graph there is, score the parents without pruning.

    Args:
        candidates: what score_parents gave, or Candidates.load.
        k: at most so many graphs.
        margin: only graphs whose score is no more than this below the best.
        constraints: what the graphs must obey.
        max_parents: the most parents of any variable.
        memory_limit: bytes that the tables may take; 2e9 without it.

    Returns:
        The graphs by falling score (ties: fewer arcs first), with their weights and the probabilities of the arcs.

    Raises:
        MemoryError: if too many variables can all be each other's ancestors (about 25 in 2 GB); the message says how
            many fit.
        ArbornetError: if there is no graph, or a parameter is outside its range.

    Example:
        >>> an.search.k_best(candidates, 100).arc_probabilities()
    """
    began = time.perf_counter()
    handle = candidates_handle(candidates)
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise ParameterError(f"k={k!r}: give how many graphs, from 1 up")
    rules = limited(resolved(constraints, handle.names), max_parents)
    within = math.inf if margin is None else float(margin)
    limit = MEMORY if memory_limit is None else float(memory_limit)
    # One more than asked for, to know whether the list is complete.
    ranked = _core.k_best(handle, rules.spec(), k + 1, within, limit, None)
    seconds = time.perf_counter() - began
    best = sum(ranked[0][1])
    graphs = tuple(
        Found(dag_from_parents(handle.names, parents), sum(scores), best, "proven", seconds)
        for parents, scores in ranked[:k]
    )
    return KBest(graphs, complete=len(ranked) <= k)
