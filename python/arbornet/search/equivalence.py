"""Searches for an equivalence class: over classes of graphs, or over orders of the variables."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

from arbornet import _core
from arbornet.constraints import Constraints, resolved
from arbornet.graphs import class_graph
from arbornet.prepare import prepared
from arbornet.progress import shown
from arbornet.search.base import SEEDS, Found, count, dag_from_parents, total_of
from arbornet.search.greedy import Spec, limited, parents_by

if TYPE_CHECKING:
    import networkx as nx


def fges(
    table: Any,
    score: Spec,
    *,
    constraints: Constraints | None = None,
    max_parents: int | None = None,
    start: nx.DiGraph[str] | None = None,
    faithfulness: bool = False,
    time_limit: float | None = None,
    n_jobs: int = -1,
    progress: bool = False,
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
        progress: whether to show it.

    Returns:
        Found, with stopped "finished", "time" or "interrupted"; its `cpdag` is the class, narrowed by the constraints.

    Raises:
        ArbornetError: if the constraints contradict each other, or the required arcs cannot be scored.

    Example:
        >>> an.search.fges(table, an.BIC()).cpdag.edges
    """
    how = {"method": "fges", "faithfulness": bool(faithfulness)}
    return _searched(table, score, how, start, constraints, max_parents, time_limit, n_jobs, progress)


def boss(
    table: Any,
    score: Spec,
    *,
    constraints: Constraints | None = None,
    max_parents: int | None = None,
    start: nx.DiGraph[str] | None = None,
    restarts: int = 20,
    time_limit: float | None = None,
    seed: int = 0,
    n_jobs: int = -1,
    progress: bool = False,
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
        progress: whether to show it.

    Returns:
        Found, as for `fges`.

    Raises:
        ArbornetError: if the constraints contradict each other, or the required arcs cannot be scored.

    Example:
        >>> an.search.boss(table, an.BIC(), time_limit=60).dag.edges
    """
    how = {"method": "boss", "restarts": count("restarts", restarts), "seed": count("seed", seed, most=SEEDS)}
    return _searched(table, score, how, start, constraints, max_parents, time_limit, n_jobs, progress)


def grasp(
    table: Any,
    score: Spec,
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
    progress: bool = False,
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
        progress: whether to show it.

    Returns:
        Found, as for `fges`.

    Raises:
        ArbornetError: if the constraints contradict each other, or the required arcs cannot be scored.

    Example:
        >>> an.search.grasp(table, an.BIC()).score
    """
    how = {
        "method": "grasp",
        "depth": count("depth", depth, 1),
        "uncovered": count("uncovered", uncovered),
        "restarts": count("restarts", restarts),
        "seed": count("seed", seed, most=SEEDS),
    }
    return _searched(table, score, how, start, constraints, max_parents, time_limit, n_jobs, progress)


def _searched(
    table: Any,
    score: Spec,
    how: dict[str, Any],
    start: nx.DiGraph[str] | None,
    constraints: Constraints | None,
    max_parents: int | None,
    time_limit: float | None,
    n_jobs: int,
    progress: bool,
) -> Found:
    began = time.perf_counter()
    scored = prepared(table, score)
    names = scored.table.names
    rules = limited(resolved(constraints, names), max_parents)
    method = how["method"]
    begin = None if start is None else parents_by(start, names)
    settings = {"faithfulness": False, "depth": 1, "uncovered": 0, "restarts": 0, "seed": 0, "start": begin, **how}
    with shown(method, progress) as tell:
        parents, scores, (arcs, links), stop, counters = _core.search_classes(
            scored, rules.spec(), settings, time_limit, n_jobs, tell
        )
    return Found(
        dag_from_parents(names, parents),
        total_of(scores),
        math.inf,
        stop or "finished",
        time.perf_counter() - began,
        details={"search": method, **counters},
        equivalents=class_graph(names, arcs, links),
    )
