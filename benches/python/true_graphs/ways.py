"""Three ways to the arcs that trees may take: all, those of the hybrid, and besides these the ones among levels."""

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
    names = table.names
    levels = [column.name for column in table.schema.used if column.word != "continuous"]
    class_ = an.search.hybrid(table, n_jobs=1).cpdag
    allowed = {name: set(class_.predecessors(name)) for name in names}
    if len(levels) > 1:
        alone = an.Constraints(
            allowed_parents={name: [p for p in levels if p != name] if name in levels else [] for name in names}
        )
        candidates = an.score_parents(table, an.PCART(), AMONG_ALL, alone, n_jobs=1)
        for parent, child in an.search.exact(candidates, time_limit=PROOF, n_jobs=1).dag.edges:
            allowed[child].add(parent)
    rules = an.Constraints(allowed_parents={name: sorted(of) for name, of in allowed.items()})
    candidates = an.score_parents(table, an.PCART(), MOST, rules, n_jobs=1)
    return an.search.exact(candidates, time_limit=PROOF, n_jobs=1)


WAYS = {"all arcs": everywhere, "the hybrid's": inside, "the hybrid's or among levels": inside_or_among_levels}


def quietly(way: Any, table: an.Table) -> Any:
    """What a way finds, without warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", an.ArbornetWarning)
        return way(table)
