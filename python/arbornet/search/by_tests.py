"""PC and conservative PC: graphs from tests of conditional independence."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from typing import Any

from arbornet._core import FamilyError, ParameterError, ScoreHandle
from arbornet.given import Progress, ScoreLike, TableLike
from arbornet.graphs import class_graph
from arbornet.graphs.constraints import Constraints, resolved
from arbornet.scores import ConditionalGaussian
from arbornet.scores.prepare import prepared, table_handle
from arbornet.search.base import Found, count, dag_from_parents, total_of
from arbornet.search.greedy import limited
from arbornet.search.registry import registered, run
from arbornet.text.notices import ArbornetWarning

#: A test: names of x and y and of what is given; returns a p-value.
Test = Callable[[str, str, list[str]], float]


@registered("tests", "uses tests of independence")
def pc(
    table: TableLike,
    score: ScoreLike | Test | None = None,
    *,
    alpha: float = 0.01,
    max_given: int | None = None,
    constraints: Constraints | None = None,
    max_parents: int | None = None,
    time_limit: float | None = None,
    n_jobs: int = -1,
    progress: Progress = None,
) -> Found:
    """A graph by the PC algorithm: pairs that no set separates are adjacent, triples give directions.

    The order of the columns does not matter (adjacencies of one size of separating sets are judged together; of the
    separating sets of one size the one of the greatest p-value counts; stronger colliders go before weaker ones).

    Args:
        table: a Table.
        score: a score whose test is used (see `independence.test`), or a callable `test(x, y, given) -> p-value` of
            names; without it, `ConditionalGaussian()`, which on levels alone is the G test.
        alpha: significance level: two variables are independent if p is above this.
        max_given: the most variables of a separating set; None for no limit.
        constraints: constraints on the graph.
        max_parents: the most parents of any variable; the weakest adjacencies beyond it are dropped.
        time_limit: wall seconds.
        n_jobs: threads; -1 for all cores.
        progress: True to show it: a bar on a terminal, log lines elsewhere.

    Returns:
        Found, with stopped "finished", "time" or "interrupted". Its `cpdag` is the result of the tests, its `dag` a
        graph of that class. Where tests contradict each other there may be none: then a warning says so, the graph is
        one with the same adjacencies and arcs that adds few colliders, and `details["consistent"]` is False. `score` is
        the graph's own, NaN for a callable test, if stopped early or if a family is too large for the score. Sets that
        are too large for a score (say, for its memory limit) count as separating nothing; a warning and
        `details["refused"]` say how many.

    Raises:
        ArbornetError: if the constraints contradict each other, or a test fails.

    Example:
        >>> an.search.pc(table, an.BIC(), alpha=0.001).cpdag.edges
    """
    how = {"conservative": False, "ambiguous_as_noncollider": False}
    return _judged("pc", table, score, how, alpha, max_given, constraints, max_parents, time_limit, n_jobs, progress)


@registered("tests", "uses tests of independence and is more cautious about directions than pc")
def cpc(
    table: TableLike,
    score: ScoreLike | Test | None = None,
    *,
    alpha: float = 0.01,
    ambiguous_as_noncollider: bool = False,
    max_given: int | None = None,
    constraints: Constraints | None = None,
    max_parents: int | None = None,
    time_limit: float | None = None,
    n_jobs: int = -1,
    progress: Progress = None,
) -> Found:
    """A graph by conservative PC: as `pc`, but triples are judged by all sets that separate their ends.

    A triple is a collider if none of them has its middle variable, and not a collider if all of them have it. Otherwise
    it is ambiguous: nothing is concluded from it, and `details["ambiguous"]` lists it.

    Args:
        table: a Table.
        score: as for `pc`.
        alpha: two variables are independent if p is above this.
        ambiguous_as_noncollider: count ambiguous triples as non-colliders.
        max_given: the most variables of a separating set; None for no limit.
        constraints: constraints on the graph.
        max_parents: as for `pc`.
        time_limit: wall seconds.
        n_jobs: threads; -1 for all cores.
        progress: True to show it: a bar on a terminal, log lines elsewhere.

    Returns:
        Found, as for `pc`.

    Raises:
        ArbornetError: if the constraints contradict each other, or a test fails.

    Example:
        >>> an.search.cpc(table, an.BIC()).details["ambiguous"]
    """
    how = {"conservative": True, "ambiguous_as_noncollider": bool(ambiguous_as_noncollider)}
    return _judged("cpc", table, score, how, alpha, max_given, constraints, max_parents, time_limit, n_jobs, progress)


def _judged(
    method: str,
    table: Any,
    score: ScoreLike | Test | None,
    how: dict[str, Any],
    alpha: float,
    max_given: int | None,
    constraints: Constraints | None,
    max_parents: int | None,
    time_limit: float | None,
    n_jobs: int,
    progress: Progress,
) -> Found:
    began = time.perf_counter()
    if not isinstance(alpha, int | float) or not 0 < alpha < 1:
        raise ParameterError(f"alpha={alpha!r}: give a probability between 0 and 1")
    max_given = None if max_given is None else count("max_given", max_given)
    names = table_handle(table).names
    rules = limited(resolved(constraints, names), max_parents)
    score = ConditionalGaussian() if score is None else score
    scored = None if callable(score) and not hasattr(score, "spec") else prepared(table, score)
    test = _by_position(score, names) if scored is None else scored
    found = run(
        "pc",
        test,
        rules,
        method,
        time_limit=time_limit,
        n_jobs=n_jobs,
        progress=progress,
        alpha=float(alpha),
        max_given=max_given,
        **how,
    )
    parents, stop, counters = found.parents, found.stopped, found.details
    consistent, ambiguous = counters.pop("consistent"), counters.pop("ambiguous")
    assert found.class_ is not None
    if not consistent and stop is None:
        warnings.warn(
            f"{method}: the tests contradict each other, so no graph has exactly the colliders they suggest; it has "
            "the same adjacencies and adds few colliders. Try cpc, another alpha, or a search by score.",
            ArbornetWarning,
            stacklevel=3,
        )
    if counters["refused"]:
        warnings.warn(
            f"{method}: {counters['refused']:,} tests were refused by the score, as their families are too large for "
            "it; these sets count as separating nothing. Give max_given, or a score that takes such families.",
            ArbornetWarning,
            stacklevel=3,
        )
    return Found(
        dag_from_parents(names, parents),
        math.nan if scored is None or stop is not None else _total(scored, parents),
        math.inf,
        stop or "finished",
        time.perf_counter() - began,
        details={
            "search": method,
            "consistent": consistent,
            "ambiguous": [(names[x], names[z], names[y]) for x, z, y in ambiguous],
            **counters,
        },
        equivalents=class_graph(names, *found.class_),
    )


def _total(score: ScoreHandle, parents: list[list[int]]) -> float:
    """The graph's score; unknown if a family is too large for the score, which the tests of pairs need not notice."""
    try:
        return total_of(score.score(v, of_v) for v, of_v in enumerate(parents))
    except (FamilyError, MemoryError):
        return math.nan


def _by_position(test: Any, names: list[str]) -> Callable[[int, int, list[int]], float]:
    def called(x: int, y: int, given: list[int]) -> float:
        return float(test(names[x], names[y], [names[v] for v in given]))

    return called
