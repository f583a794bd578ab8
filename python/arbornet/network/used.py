"""A search for networks in which every model uses all of its parents.

The score of a tree counts the trees that its parents allow, and that of a graph the parent sets of a size. In tables of
few columns, where all other columns together are one set as a single one is one of few, a set can score higher than
its parts though its best tree asks nothing of some parents. Such sets are taken from the candidates, those that a
search chose, until it chooses none.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence, Set
from typing import TypeAlias

from arbornet._core import ArbornetError, CandidatesHandle, ModelHandle, ScoreHandle
from arbornet.search.base import Found
from arbornet.step1.candidates import Candidates, scored_sets

#: Of more variables a set of all of them is one of so many that its prior does not favour it, and a search takes long.
MOST_VARIABLES = 20
#: So often is searched again at most.
MOST_AGAIN = 100

ParentSet: TypeAlias = tuple[int, tuple[int, ...]]
Arc: TypeAlias = tuple[str, str]


def found_used(
    search: Callable[[Candidates], Found], candidates: Candidates, scored: ScoreHandle, required: Set[Arc]
) -> tuple[Found, list[Arc]]:
    """What a search finds among the sets whose models use all their parents, and the arcs that it left out for it.

    Args:
        search: The search.
        candidates: The parent sets.
        scored: The score that made them, whose models are fitted.
        required: Arcs that stay, used or not.
    """
    names = candidates.names
    unused_in: dict[ParentSet, list[int]] = {}

    def unused(family: ParentSet) -> list[int]:
        if family not in unused_in:
            v = family[0]
            of_model = unused_parents(scored, names, family)
            unused_in[family] = [p for p in of_model if (names[p], names[v]) not in required]
        return unused_in[family]

    found = search(candidates)
    if len(names) > MOST_VARIABLES:
        return found, []
    gone: dict[ParentSet, list[int]] = {}
    for _ in range(MOST_AGAIN):
        chosen = [
            (v, tuple(sorted(names.index(p) for p in found.dag.predecessors(name)))) for v, name in enumerate(names)
        ]
        idle = {family: unused(family) for family in chosen if family[1] and unused(family)}
        if not idle or found.stopped != "proven":
            break
        candidates = without(candidates, idle.keys())
        again = search(candidates)
        if again.stopped not in ("proven", "interrupted"):
            break  # the time is over: the graph that was proved, less its unused arcs, is better
        gone |= idle
        found = again
    arcs = {(names[p], names[v]): (v, p) for (v, _), of in gone.items() for p in of}
    left_out = sorted((arc for arc in arcs if not found.dag.has_edge(*arc)), key=arcs.__getitem__)
    return found, left_out


def unused_parents(scored: ScoreHandle, names: Sequence[str], family: ParentSet) -> list[int]:
    """The parents that the best model of a family does not ask, by positions; none of a score that has no models."""
    v, of = family
    try:
        model = ModelHandle.fit(scored, v, list(of))
    except ArbornetError:
        return []
    return [names.index(name) for name in model.unused]


def without(candidates: Candidates, sets: Set[ParentSet]) -> Candidates:
    """The candidates without some sets, by positions."""
    children = [
        [(score, of) for score, of in scored_sets(candidates.handle, v) if (v, of) not in sets]
        for v in range(len(candidates.names))
    ]
    return dataclasses.replace(candidates, handle=CandidatesHandle.from_lists(candidates.names, children))
