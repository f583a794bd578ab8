"""Leaf priors chosen from the data: empirical Bayes, by climbing the total score of the best graph found so far.

The total score is the logarithm of how probable the data are, so the priors that raise it are those the data support.
Graph and priors are improved in turn: hill climbing finds a graph with the current priors, then the priors are moved,
one coordinate at a time, as long as the score of that graph rises. Every move raises the same total, so it ends.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

from arbornet._core import ParameterError, ScoreHandle, TableHandle
from arbornet.scores.leaves import LEAF_PARAMETERS, Leaves, tune
from arbornet.scores.prepare import table_handle
from arbornet.search.base import uninterrupted
from arbornet.search.greedy import hill_climb
from arbornet.system.parallel import side_by_side

if TYPE_CHECKING:
    from arbornet.data.table import Table

log = logging.getLogger("arbornet")

S = TypeVar("S", bound=Leaves)
Families = list[tuple[int, list[int]]]

#: A parameter moves by these factors (the mean by these parts of a standard deviation), coarse ones first.
FACTORS = (4.0, 2.0, math.sqrt(2.0))
SHIFTS = (0.5, 0.25, 0.1)
#: Data that lie on one point have no best prior; moves end here.
LARGEST = 2.0**12
FARTHEST = 4.0
#: Turns of graph and priors; the second rarely changes anything.
ROUNDS = 5

_USED_BY = {
    "alpha": ("categorical", "ordinal"),
    "kappa": ("ordinal",),
    "mean": ("continuous",),
    "a": ("continuous",),
    "nu": ("continuous",),
    "lam": ("continuous",),
}
_made: WeakKeyDictionary[Any, dict[str, Leaves]] = WeakKeyDictionary()


def tuned(table: Table, score: S, max_parents: int = 2, n_jobs: int = -1) -> S:
    """A score whose priors marked `"auto"` or `"each"` are chosen from a table.

    Args:
        table: The data.
        score: `PCART` or `FullTable`, with priors set to `"auto"` (one value for all variables) or `"each"` (a value
            for each variable that reads it; `per_variable` of the result has them).
        max_parents: The most parents in the graphs whose score is raised.
        n_jobs: Threads, -1 for all cores. The result does not depend on it.

    Returns:
        The score with numbers in their place; the score itself if nothing is marked.

    Example:
        >>> score = an.evaluate.tuned(table, an.PCART(nu="auto", lam="auto"))
        >>> score.lam
    """
    if not isinstance(score, Leaves):
        raise ParameterError(f"score is {score!r}: give an.PCART(...) or an.FullTable(...)")
    if not score.chosen():
        return score
    known = _made.setdefault(table, {}) if not isinstance(table, TableHandle) else {}
    key = f"{score!r} {max_parents}"
    if key not in known:
        known[key] = _tuned(table, score, max_parents, n_jobs)
    return known[key]  # type: ignore[return-value]


tune.provide(tuned)


def _tuned(table: Table, score: S, max_parents: int, n_jobs: int) -> S:
    handle = table_handle(table)
    kinds = [handle.kind(v) for v in range(len(handle.names))]
    current = score.replace(**{f.name: f.default for f in fields(score) if f.name in score.chosen()})
    graph, best = None, -math.inf
    for _ in range(ROUNDS):
        found = uninterrupted(hill_climb(table, current, max_parents=max_parents, start=graph, n_jobs=n_jobs))
        graph = found.dag
        place = {name: v for v, name in enumerate(handle.names)}
        families = [(v, sorted(place[p] for p in graph.predecessors(name))) for name, v in place.items()]
        for name in LEAF_PARAMETERS:
            readers = [family for family in families if kinds[family[0]] in _USED_BY[name]]
            mode = score.chosen().get(name)
            if mode == "auto" and readers:
                current = _moved(handle, current, name, None, readers, n_jobs)
            elif mode == "each":
                for at, changed in side_by_side(
                    lambda family, _, base=current, name=name: _moved(handle, base, name, family[0], [family], 1),  # type: ignore[misc]
                    readers,
                    n_jobs,
                ):
                    variable = handle.names[readers[at][0]]
                    own = {**current.per_variable.get(variable, {}), name: changed.per_variable[variable][name]}
                    current = current.replace(per_variable={**current.per_variable, variable: own})
        total = _total(handle, current, families, n_jobs)
        log.info("priors chosen: %r, total score %.6f", current, total)
        if total <= best + 1e-9 * abs(total):
            break
        best = total
    order = {name: v for v, name in enumerate(handle.names)}
    by_place = dict(sorted(current.per_variable.items(), key=lambda item: order.get(item[0], -1)))
    return current.replace(per_variable=by_place)


def _moved(handle: TableHandle, score: S, name: str, variable: int | None, families: Families, n_jobs: int) -> S:
    """The score with one parameter where the total of some families is highest, near where it was."""
    of = None if variable is None else handle.names[variable]

    def at(value: float) -> S:
        if of is None:
            return score.replace(**{name: value})
        return score.replace(per_variable={**score.per_variable, of: {**score.per_variable.get(of, {}), name: value}})

    value = getattr(score, name) if of is None else score.per_variable.get(of, {}).get(name, getattr(score, name))
    best = _total(handle, at(value), families, n_jobs)
    for step in _steps(name):
        for move in step:
            while (tried := move(value)) is not None:
                total = _total(handle, at(tried), families, n_jobs)
                if not total > best:
                    break
                value, best = tried, total
    return at(value)


def _steps(name: str) -> Iterator[tuple[Callable[[float], float | None], ...]]:
    """Up and down, ever finer; None beyond the end."""
    if name == "mean":
        for shift in SHIFTS:
            yield tuple(
                lambda x, by=by: x + by if abs(x + by) <= FARTHEST else None  # type: ignore[misc]
                for by in (shift, -shift)
            )
    else:
        for factor in FACTORS:
            yield tuple(
                lambda x, by=by: x * by if 1 / LARGEST <= x * by <= LARGEST else None  # type: ignore[misc]
                for by in (factor, 1 / factor)
            )


def _total(handle: TableHandle, score: Leaves, families: Families, n_jobs: int) -> float:
    scored = ScoreHandle(handle, score.spec())
    done = dict(side_by_side(lambda family, _: scored.score(*family), families, n_jobs))
    return math.fsum(done[i] for i in range(len(families)))
