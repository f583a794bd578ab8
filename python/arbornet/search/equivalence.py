"""Searches for an equivalence class: over classes of graphs, or over orders of the variables."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

from arbornet.given import Progress, ScoreLike, TableLike
from arbornet.graphs import class_graph
from arbornet.graphs.constraints import Constraints, resolved
from arbornet.scores.prepare import prepared
from arbornet.search.base import SEEDS, Found, count, dag_from_parents, total_of
from arbornet.search.greedy import limited, parents_by
from arbornet.search.registry import registered, run

if TYPE_CHECKING:
    import networkx as nx

    from arbornet._core import SearchResult


@registered("table", "scores parent sets on demand and suits hundreds of variables")
def fges(
    table: TableLike,
    score: ScoreLike,
    *,
    constraints: Constraints | None = None,
    max_parents: int | None = None,
    start: nx.DiGraph[str] | None = None,
    faithfulness: bool = False,
    time_limit: float | None = None,
    n_jobs: int = -1,
    progress: Progress = None,
) -> Found:
    """A graph by greedy equivalence search (fGES): arcs are added as long as one helps, then removed.

    With more and more rows it finds the true class, if the score is consistent and the data are faithful to a graph.
    Scores that are not score equivalent may be used, without this guarantee. The result depends on the data and the
    parameters, not on the number of threads.

    Args:
        table: a Table.
        score: the local score.
        constraints: constraints on the graph.
        max_parents: the most parents of any variable.
        start: the graph to start from; without it, the required arcs alone.
        faithfulness: join only pairs of which one helps the other without further parents: faster, but misses parents
            that only help together.
        time_limit: wall seconds.
        n_jobs: threads; -1 for all cores.
        progress: True to show it: a bar on a terminal, log lines elsewhere.

    Returns:
        Found, with stopped "finished", "time" or "interrupted"; its `cpdag` is the class, narrowed by the constraints.

    Raises:
        ArbornetError: if the constraints contradict each other, or the required arcs cannot be scored.

    Example:
        >>> an.search.fges(table, an.BIC()).cpdag.edges
    """
    how = {"faithfulness": bool(faithfulness)}
    return _searched("fges", table, score, how, start, constraints, max_parents, time_limit, n_jobs, progress)


@registered(
    "table", "scores parent sets on demand: slower than fges, and as a rule more accurate", in_rounds={"restarts": 3}
)
def boss(
    table: TableLike,
    score: ScoreLike,
    *,
    constraints: Constraints | None = None,
    max_parents: int | None = None,
    start: nx.DiGraph[str] | None = None,
    restarts: int = 20,
    time_limit: float | None = None,
    seed: int = 0,
    n_jobs: int = -1,
    progress: Progress = None,
) -> Found:
    """A graph by best order score search (BOSS): variables move to their best places in an order.

    Each variable's parents within an order come from its grow-shrink tree; when no move helps, superfluous arcs are
    removed by a backward search over the equivalence class. Slower than `fges` and usually more accurate. The result
    depends on the data, the parameters and the seed, not on the number of threads.

    Args:
        table: a Table.
        score: the local score.
        constraints: constraints on the graph.
        max_parents: the most parents of any variable.
        start: a graph whose order to start from; without it, what `fges` finds.
        restarts: how many random orders to start from after the first. They share scores: twenty of them take one to
            three times as long as the first alone. With hundreds of variables, fewer are enough.
        time_limit: wall seconds.
        seed: random seed of the orders.
        n_jobs: threads; -1 for all cores.
        progress: True to show it: a bar on a terminal, log lines elsewhere.

    Returns:
        Found, as for `fges`.

    Raises:
        ArbornetError: if the constraints contradict each other, or the required arcs cannot be scored.

    Example:
        >>> an.search.boss(table, an.BIC(), time_limit=60).dag.edges
    """
    how = {"restarts": count("restarts", restarts), "seed": count("seed", seed, most=SEEDS)}
    return _searched("boss", table, score, how, start, constraints, max_parents, time_limit, n_jobs, progress)


@registered("table", "scores parent sets on demand, by small changes of an order")
def grasp(
    table: TableLike,
    score: ScoreLike,
    *,
    constraints: Constraints | None = None,
    max_parents: int | None = None,
    start: nx.DiGraph[str] | None = None,
    depth: int = 3,
    uncovered: int = 1,
    restarts: int = 0,
    time_limit: float | None = None,
    seed: int = 0,
    n_jobs: int = -1,
    progress: Progress = None,
) -> Found:
    """A graph by greedy relaxations of the sparsest permutation (GRaSP).

    An order of the variables is changed by moving variables forward ("tucks"), searched depth first.

    Args:
        table: a Table.
        score: the local score.
        constraints: constraints on the graph.
        max_parents: the most parents of any variable.
        start: a graph whose order to start from; without it, what `fges` finds.
        depth: how many tucks in a row may leave the score unchanged before one must improve it.
        uncovered: how many of them may be of arcs that are not covered.
        restarts: how many random orders to start from after the first.
        time_limit: wall seconds.
        seed: random seed of the orders.
        n_jobs: threads; -1 for all cores.
        progress: True to show it: a bar on a terminal, log lines elsewhere.

    Returns:
        Found, as for `fges`.

    Raises:
        ArbornetError: if the constraints contradict each other, or the required arcs cannot be scored.

    Example:
        >>> an.search.grasp(table, an.BIC()).score
    """
    how = {
        "depth": count("depth", depth, 1),
        "uncovered": count("uncovered", uncovered),
        "restarts": count("restarts", restarts),
        "seed": count("seed", seed, most=SEEDS),
    }
    return _searched("grasp", table, score, how, start, constraints, max_parents, time_limit, n_jobs, progress)


def _searched(
    method: str,
    table: Any,
    score: ScoreLike,
    how: dict[str, Any],
    start: nx.DiGraph[str] | None,
    constraints: Constraints | None,
    max_parents: int | None,
    time_limit: float | None,
    n_jobs: int,
    progress: Progress,
) -> Found:
    began = time.perf_counter()
    scored = prepared(table, score)
    names = scored.table.names
    rules = limited(resolved(constraints, names), max_parents)
    begin = None if start is None else parents_by(start, names)
    found = run(
        method, scored, rules, method, start=begin, time_limit=time_limit, n_jobs=n_jobs, progress=progress, **how
    )
    return with_class(names, found, {"search": method, **found.details}, began)


def with_class(names: list[str], found: SearchResult, details: dict[str, Any], began: float) -> Found:
    """The result of a search that ends with an equivalence class and a member of it, and proves nothing."""
    assert found.class_ is not None
    return Found(
        dag_from_parents(names, found.parents),
        total_of(found.scores),
        math.inf,
        found.stopped or "finished",
        time.perf_counter() - began,
        details=details,
        equivalents=class_graph(names, *found.class_),
    )
