"""Equivalence classes: all graphs that imply the same independences, so that no data can distinguish them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import networkx as nx

from arbornet import _core

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

Pair = tuple[int, int]


def cpdag(dag: nx.DiGraph[Hashable]) -> nx.DiGraph[Hashable]:
    """The equivalence class of a graph (CPDAG).

    An arc that all graphs of the class share is one edge; an arc that may point either way is a pair of edges, one
    each way. Variables keep their order and their names.

    Raises:
        ArbornetError: if the graph has a cycle.

    Example:
        >>> sorted(cpdag(nx.DiGraph([("a", "b"), ("b", "c")])).edges)
        [('a', 'b'), ('b', 'a'), ('b', 'c'), ('c', 'b')]
    """
    out = class_graph(list(dag.nodes), *_core.cpdag(parents_of(dag)))
    out.add_nodes_from(dag.nodes(data=True))
    return out


def class_graph(names: Sequence[Any], arcs: Iterable[Pair], links: Iterable[Pair]) -> nx.DiGraph[Any]:
    """A class of graphs: arcs as one edge, links as a pair of edges, one each way; given by position."""
    out: nx.DiGraph[Any] = nx.DiGraph()
    out.add_nodes_from(names)
    out.add_edges_from((names[a], names[b]) for a, b in arcs)
    out.add_edges_from((names[x], names[y]) for a, b in links for x, y in ((a, b), (b, a)))
    return out


def with_directions(dag: nx.DiGraph[Any], class_: nx.DiGraph[Any]) -> nx.DiGraph[Any]:
    """A copy of a graph whose arcs say, as `either_way`, whether a class of graphs leaves their direction open."""
    out = dag.copy()
    for parent, child, told in out.edges(data=True):
        told["either_way"] = class_.has_edge(child, parent)
    return out


def parents_of(dag: nx.DiGraph[Hashable]) -> list[list[int]]:
    """The parents of each variable by position, ascending."""
    position = {name: i for i, name in enumerate(dag.nodes)}
    return [sorted(position[p] for p in dag.predecessors(name)) for name in dag.nodes]
