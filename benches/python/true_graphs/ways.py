"""Ways to the arcs that trees may take: all, those of the hybrid, and besides these the ones that other trees have."""

from __future__ import annotations

import warnings
from typing import Any

import arbornet as an

#: Wall seconds for one proof.
PROOF = 60.0
#: The most parents of trees among arcs that are given.
MOST = 3
#: The most parents of trees over all sets.
AMONG_ALL = 2


def everywhere(table: an.Table) -> Any:
    """The best trees over all sets, as `learn` proves them (it takes up to 4 parents where that is quick)."""
    candidates = an.score_parents(table, an.PCART(), AMONG_ALL, n_jobs=1)
    return an.search.exact(candidates, time_limit=PROOF, n_jobs=1)


def inside(table: an.Table) -> Any:
    """The best trees inside the class that the hybrid found, as `learn(search="hybrid")`."""
    return an.search.hybrid(table, an.PCART(), time_limit=PROOF, n_jobs=1)


def inside_or_among_levels(table: an.Table) -> Any:
    """The best trees inside that class and the arcs that the best trees over the columns of levels alone have."""
    levels = [column.name for column in table.schema.used if column.word != "continuous"]
    alone = {name: [p for p in levels if p != name] if name in levels else [] for name in table.names}
    candidates = an.score_parents(table, an.PCART(), AMONG_ALL, an.Constraints(allowed_parents=alone), n_jobs=1)
    return _inside_and(table, an.search.exact(candidates, time_limit=PROOF, n_jobs=1))


def inside_or_everywhere(table: an.Table) -> Any:
    """The best trees inside that class and the arcs that the best trees over all sets have."""
    return _inside_and(table, everywhere(table))


def _inside_and(table: an.Table, more: Any) -> Any:
    class_ = an.search.hybrid(table, n_jobs=1).cpdag
    allowed = {name: sorted({*class_.predecessors(name), *more.dag.predecessors(name)}) for name in table.names}
    candidates = an.score_parents(table, an.PCART(), MOST, an.Constraints(allowed_parents=allowed), n_jobs=1)
    return an.search.exact(candidates, time_limit=PROOF, n_jobs=1)


WAYS = {
    "all arcs": everywhere,
    "the hybrid's": inside,
    "the hybrid's or among levels": inside_or_among_levels,
    "the hybrid's or the best trees'": inside_or_everywhere,
}


def quietly(way: Any, table: an.Table) -> Any:
    """What a way finds, without warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", an.ArbornetWarning)
        return way(table)
