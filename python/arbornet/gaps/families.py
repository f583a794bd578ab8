"""Parent sets of an earlier graph put among candidates, so that a search finds a graph that scores as high at least."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from arbornet._core import CandidatesHandle
from arbornet.data.table import Table
from arbornet.scores.prepare import Score, prepared
from arbornet.step1.candidates import Candidates, scored_sets


def with_families(candidates: Candidates, table: Table, score: Score, families: Sequence[Sequence[int]]) -> Candidates:
    """The candidates and the families of a graph, scored for the same table.

    What scores lower than a subset stays out: the graph with that subset has no cycle either, and scores higher.

    Args:
        candidates: What was scored within a budget.
        table: The table.
        score: The score.
        families: The parents of every variable in the graph.
    """
    scored = prepared(table, score)
    children, more = [], False
    for v, parents in enumerate(families):
        kept = scored_sets(candidates.handle, v)
        family = tuple(sorted(parents))
        if all(of != family for _, of in kept):
            own = scored.score(v, family)
            if not any(other >= own and set(of) <= set(family) for other, of in kept):
                beaten = [(other, of) for other, of in kept if other <= own and set(of) > set(family)]
                kept = sorted([*(each for each in kept if each not in beaten), (own, family)], key=_order)
                more = True
        children.append(kept)
    if not more:
        return candidates
    return dataclasses.replace(candidates, handle=CandidatesHandle.from_lists(candidates.names, children))


def _order(each: tuple[float, tuple[int, ...]]) -> tuple[float, int, tuple[int, ...]]:
    return -each[0], len(each[1]), each[1]
