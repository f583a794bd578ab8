"""`fit`: a model for every variable of a given graph."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

import networkx as nx

from arbornet._core import ArbornetError, NetworkHandle, ParameterError, ScoreHandle
from arbornet.data.incomplete import Incomplete
from arbornet.data.table import Table
from arbornet.given import ScoreLike
from arbornet.graphs import cpdag
from arbornet.graphs.constraints import Constraints
from arbornet.network import BayesNet, Origin
from arbornet.network.spread import InOrder, spread
from arbornet.scores.prepare import prepared
from arbornet.search.base import Found
from arbornet.search.decision_graphs import FoundGraphs, network_of_graphs
from arbornet.system.cluster import Client
from arbornet.text.wrong_calls import helpful


@helpful
def fit(
    table: Table,
    dag: nx.DiGraph[str] | Found,
    score: ScoreLike,
    *,
    arc_scores: bool = True,
    n_jobs: int = -1,
    client: Client | None = None,
) -> BayesNet:
    """Fits the local model of a score to every variable of a graph.

    Args:
        table: The data.
        dag: A graph over the table's variables (those it does not name have no arcs), or what a search found.
        score: The score whose models are fitted. The decision graphs that `search.decision_graphs` found with this
            score are kept as they are.
        arc_scores: Also score every family, with and without each of its arcs.
        n_jobs: Threads, -1 for all cores.
        client: A `distributed.Client` whose workers fit the families; `n_jobs` counts no longer then. The network
            is the same.

    Raises:
        ArbornetError: If the graph names a variable the table does not have, has a cycle, or a family has no model.

    Example:
        >>> net = an.fit(table, found, an.PCART())
    """
    if not isinstance(table, Table):
        raise ParameterError(f"table is a {type(table).__name__}: make it a Table first, an.Table(frame)")
    if isinstance(dag, FoundGraphs) and prepared(table, score).spec == dag.spec and table.handle is dag.table.handle:
        return of_graphs(dag, arc_scores=arc_scores, n_jobs=n_jobs)
    parents = parents_in(dag.dag if isinstance(dag, Found) else dag, table.names)
    scored = prepared(table, score)
    made = _fitted(scored, parents, arc_scores, n_jobs, client)
    return _network(table, dag if isinstance(dag, Found) else None, scored, made)


def fit_used(
    table: Table,
    found: Found,
    score: ScoreLike,
    constraints: Constraints | None = None,
    *,
    n_jobs: int = -1,
    client: Client | None = None,
) -> tuple[BayesNet, list[tuple[str, str]], list[tuple[str, str]]]:
    """As `fit`, without the arcs that no model uses; these arcs, and those without which the rest scores higher.

    The score of a tree counts the trees that its parents allow. So in small tables a parent set may score a little
    higher than one of its parts although its best tree asks nothing of the others: such an arc says nothing. Of the
    parents that are left, one may have been worth it beside those others only.
    """
    if isinstance(found, FoundGraphs):
        return fit(table, found, score, n_jobs=n_jobs, client=client), [], []
    names, scored = table.names, prepared(table, score)
    required = set() if constraints is None else set(constraints.required)
    parents = parents_in(found.dag, names)
    dropped: list[tuple[str, str]] = []
    while True:
        # Arc scores are dearer than models: workers send both at once, here they follow at the end.
        made = _fitted(scored, parents, client is not None, n_jobs, client)
        # With fewer parents the best tree may be another, so the next is looked at too.
        unused = {(p, child) for v, child in enumerate(names) for p in made.handle.model(v).unused} - required
        if not unused:
            break
        dropped += sorted(unused, key=lambda arc: (names.index(arc[1]), names.index(arc[0])))
        parents = [[p for p in of if (names[p], names[v]) not in unused] for v, of in enumerate(parents)]
    worse = _lower(scored, parents, {child for _, child in dropped}, names, required) if dropped else []
    if worse:
        parents = [[p for p in of if (names[p], names[v]) not in worse] for v, of in enumerate(parents)]
        made = _fitted(scored, parents, client is not None, n_jobs, client)
    if not made.scores:
        made = dataclasses.replace(made, scores=NetworkHandle.contributions(scored, parents, n_jobs))
    if dropped:
        gone = [*dropped, *worse]
        dag, equivalents = found.dag.copy(), found.equivalents
        dag.remove_edges_from(gone)
        # Without rules the class is that of the graph, in which fewer arcs may have fewer directions.
        equivalents = None if constraints is None or equivalents is None else equivalents.copy()
        if equivalents is not None:
            equivalents.remove_edges_from([*gone, *((child, parent) for parent, child in gone)])
        found = dataclasses.replace(found, dag=dag, equivalents=equivalents)
    return _network(table, found, scored, made), dropped, worse


def _lower(
    scored: ScoreHandle, parents: list[list[int]], children: set[str], names: list[str], required: set[tuple[str, str]]
) -> list[tuple[str, str]]:
    """Of these children the arcs without which the score is higher, the worst one first."""
    worse = []
    for v in sorted(map(names.index, children)):
        of = parents[v]
        while free := [p for p in of if (names[p], names[v]) not in required]:
            without = {p: scored.score(v, [other for other in of if other != p]) for p in free}
            best = max(free, key=lambda p: (without[p], -p))
            if without[best] <= scored.score(v, of):
                break
            worse.append((names[best], names[v]))
            of = [p for p in of if p != best]
    return worse


@dataclass(frozen=True)
class _Fitted:
    """Models with what is known of their families, by variable."""

    handle: NetworkHandle
    in_order: list[list[InOrder] | None]
    scores: list[tuple[float, list[float]]]
    """Of a family, and what is lost without each parent; empty if not asked for."""


def _fitted(
    scored: ScoreHandle, parents: list[list[int]], arc_scores: bool, n_jobs: int, client: Client | None
) -> _Fitted:
    if client is not None and _has_no_cycle(parents):
        handle, fitted = spread(scored, parents, arc_scores, client)
        scores = [(of.score, list(of.without)) for of in fitted if of.score is not None]
        return _Fitted(handle, [of.in_order for of in fitted], scores)
    handle = NetworkHandle.fit(scored, parents, n_jobs)
    in_order = [scored.in_order(child, of) for child, of in enumerate(parents)]
    return _Fitted(handle, in_order, NetworkHandle.contributions(scored, parents, n_jobs) if arc_scores else [])


def _has_no_cycle(parents: list[list[int]]) -> bool:
    return bool(nx.is_directed_acyclic_graph(nx.DiGraph([(p, v) for v, of in enumerate(parents) for p in of])))


def _network(table: Table, found: Found | None, scored: ScoreHandle, made: _Fitted) -> BayesNet:
    """The network of fitted models, with where it comes from."""
    origin = dataclasses.replace(origin_of(table, scored.spec), in_order=_in_order(table.names, made.in_order))
    if found is not None:
        origin = dataclasses.replace(origin, search=_search(found), directed=_directed(found))
    if made.scores:
        origin = dataclasses.replace(
            origin,
            family_scores=tuple(whole for whole, _ in made.scores),
            contributions=tuple(tuple(without) for _, without in made.scores),
        )
    return BayesNet(made.handle, table.schema, origin)


def of_graphs(found: FoundGraphs, *, arc_scores: bool = True, n_jobs: int = -1) -> BayesNet:
    """The network of exactly the decision graphs that were found."""
    table, names = found.table, found.table.names
    origin = dataclasses.replace(origin_of(table, found.spec), search=_search(found))
    if arc_scores:
        parents = parents_in(found.dag, names)
        own = [found.models[name].log_marginal or 0.0 for name in names]
        scores = NetworkHandle.contributions(ScoreHandle(table.handle, found.spec), parents, n_jobs)
        # A graph grown without an arc is compared with the graph as it was found, not with one grown again.
        lost = [tuple(o - whole + each for each in without) for o, (whole, without) in zip(own, scores, strict=True)]
        origin = dataclasses.replace(origin, family_scores=tuple(own), contributions=tuple(lost))
    return BayesNet(found.handle, table.schema, origin)


network_of_graphs.provide(of_graphs)


def _in_order(names: list[str], groups: list[list[InOrder] | None]) -> dict[str, dict[str, tuple[int, int]]]:
    """The families that the score searched by groups in order."""
    return {
        names[child]: {names[p]: (levels, n_groups) for p, levels, n_groups in of}
        for child, of in enumerate(groups)
        if of
    }


def origin_of(rows: Table | Incomplete, score: str) -> Origin:
    """Where a network comes from that was fitted to these rows by a score, given as JSON."""
    return Origin(score=score, n_rows=rows.n_rows, weights=rows.weights.spec() if rows.weights else {})


def parents_in(graph: nx.DiGraph[Any], names: list[str]) -> list[list[int]]:
    """The positions of every variable's parents in a graph.

    Raises:
        ArbornetError: If the graph names a variable that is not there.
        ParameterError: If it is no graph.
    """
    if not isinstance(graph, nx.DiGraph):
        raise ParameterError(f"dag is a {type(graph).__name__}: give a networkx.DiGraph, or what a search found")
    position = {name: v for v, name in enumerate(names)}
    unknown = [name for name in graph.nodes if str(name) not in position]
    if unknown:
        raise ArbornetError(f"the graph has the node {unknown[0]!r}, which is not a variable of the table")
    parents: list[list[int]] = [[] for _ in names]
    for parent, child in graph.edges:
        parents[position[str(child)]].append(position[str(parent)])
    return [sorted(of) for of in parents]


def _directed(found: Found) -> tuple[tuple[str, str], ...] | None:
    """The arcs that a search says are directed, if these are others than the graph alone says."""
    if found.equivalents is None:
        return None
    told, own = (
        tuple(sorted((a, b) for a, b in found.dag.edges if not class_.has_edge(b, a)))
        for class_ in (found.equivalents, cpdag(found.dag))
    )
    return None if told == own else told


def _search(found: Found) -> dict[str, Any]:
    told = {"score": found.score, "stopped": found.stopped, "seconds": found.seconds}
    told |= {key: found.details[key] for key in ("n_in_order", "n_scored") if found.details.get("n_in_order")}
    told |= {"left_out": found.details["left_out"]} if found.details.get("left_out") else {}
    return told | ({"bound": found.bound} if math.isfinite(found.bound) else {})
