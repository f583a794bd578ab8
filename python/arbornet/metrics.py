"""How close a learned graph is to the true one: adjacencies, arrowheads, structural Hamming distance."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

import networkx as nx

from arbornet._core import ParameterError
from arbornet.alike import ByContent
from arbornet.given import GraphLike
from arbornet.graphs import cpdag
from arbornet.network import BayesNet
from arbornet.search.base import Found
from arbornet.text import notebook

__all__ = ["Comparison", "compare", "shd"]


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(ByContent):
    """A learned graph against the true one.

    Every figure but the distance lies between 0 and 1, and is NaN where it would be a share of nothing.

    Attributes:
        ap: Adjacency precision: the learned adjacencies that are true.
        ar: Adjacency recall: the true adjacencies that were learned.
        f1: The harmonic mean of the two.
        ahp: Arrowhead precision: the arrowheads of the learned class that are in the true graph.
        ahr: Arrowhead recall: the true graph's arrowheads that were learned, among the adjacencies that were found.
        ahp_cpdag: As `ahp`, against the true graph's class.
        ahr_cpdag: As `ahr`, against the true graph's class.
        shd: Structural Hamming distance of the two classes.
    """

    ap: float
    ar: float
    f1: float
    ahp: float
    ahr: float
    ahp_cpdag: float
    ahr_cpdag: float
    shd: int

    def to_dict(self) -> dict[str, float]:
        """The figures by name."""
        return dataclasses.asdict(self)

    def __repr__(self) -> str:
        return f"Comparison({', '.join(f'{name}={value:.4g}' for name, value in self.to_dict().items())})"

    def _repr_html_(self) -> str:
        rows = ((name, MEANINGS[name], f"{value:.4g}") for name, value in self.to_dict().items())
        return notebook.table(("figure", "learned graph against the true one", "value"), rows)


MEANINGS = {
    "ap": "adjacency precision: learned adjacencies that are true",
    "ar": "adjacency recall: true adjacencies that were learned",
    "f1": "harmonic mean of the two",
    "ahp": "arrowhead precision: learned arrowheads that are true",
    "ahr": "arrowhead recall: true arrowheads that were learned",
    "ahp_cpdag": "arrowhead precision, against the true equivalence class",
    "ahr_cpdag": "arrowhead recall, against the true equivalence class",
    "shd": "structural Hamming distance of the equivalence classes",
}


def compare(true: GraphLike, learned: GraphLike) -> Comparison:
    """How much of the true graph was learned, and how much of what was learned is true.

    The learned graph is compared by its equivalence class, because data determine no more: an arc that may point either
    way has no arrowhead. The true graph counts both as itself (`ahp`, `ahr`) and by its class.

    Args:
        true: a network, what a search found, or a networkx graph: a DAG, or a class, in which an arc that may point
            either way is a pair of edges. Variables without arcs may be left out.
        learned: likewise. Without the arcs' directions (an undirected graph), no arrowheads are learned.

    Raises:
        ParameterError: if one is no such graph, or they have no variable in common.

    Example:
        >>> an.metrics.compare(true_dag, an.search.boss(table, score)).ap
    """
    dag, true_class = _read("true", true)
    _, learned_class = _read("learned", learned)
    _check_variables(true_class, learned_class)
    is_, was = _adjacencies(true_class), _adjacencies(learned_class)
    both = len(is_ & was)
    # A class given as the truth has no arrowheads beyond its own.
    ahp, ahr = _arrowheads(true_class if dag is None else dag, learned_class)
    ahp_cpdag, ahr_cpdag = _arrowheads(true_class, learned_class)
    return Comparison(
        ap=_share(both, len(was)),
        ar=_share(both, len(is_)),
        f1=_share(2 * both, len(is_) + len(was)),
        ahp=ahp,
        ahr=ahr,
        ahp_cpdag=ahp_cpdag,
        ahr_cpdag=ahr_cpdag,
        shd=differing(true_class, learned_class),
    )


def shd(true: GraphLike, learned: GraphLike) -> int:
    """Structural Hamming distance (Tsamardinos, Brown, Aliferis 2006) of two classes: pairs of variables that differ.

    A pair differs if only one class joins it, or they join it in different ways. Graphs are given as for `compare`.

    Example:
        >>> an.metrics.shd(nx.DiGraph([("a", "b")]), nx.DiGraph([("b", "a")]))
        0
    """
    (_, first), (_, second) = _read("true", true), _read("learned", learned)
    _check_variables(first, second)
    return differing(first, second)


def differing(first: nx.DiGraph[Any], second: nx.DiGraph[Any]) -> int:
    """In how many pairs of variables two graphs differ, as directed graphs."""
    pairs = _adjacencies(first) | _adjacencies(second)
    return sum(_mark(first, pair) != _mark(second, pair) for pair in pairs)


def _read(name: str, given: Any) -> tuple[nx.DiGraph[Any] | None, nx.DiGraph[Any]]:
    """The DAG, if one is given, and the class."""
    if isinstance(given, Found):
        return given.dag, given.cpdag
    if isinstance(given, BayesNet):
        return given.graph, given.cpdag()
    if not isinstance(given, nx.Graph):
        raise ParameterError(
            f"{name} is a {type(given).__name__}: give a network, what a search found, or a networkx graph"
        )
    loop = next(iter(nx.selfloop_edges(given)), None)
    if loop is not None:
        raise ParameterError(f"{name} has an arc from '{loop[0]}' to itself")
    graph: nx.DiGraph[Any] = nx.DiGraph()
    graph.add_nodes_from(given)
    graph.add_edges_from(given.edges if given.is_directed() else given.to_directed().edges)
    if any(graph.has_edge(b, a) for a, b in graph.edges):
        return None, graph
    if not nx.is_directed_acyclic_graph(graph):
        cycle = " -> ".join(f"'{a}'" for a, _ in nx.find_cycle(graph))
        raise ParameterError(f"{name} has a cycle ({cycle}): give a DAG, or a class with pairs of edges for links")
    return graph, cpdag(graph)


def _check_variables(first: nx.DiGraph[Any], second: nx.DiGraph[Any]) -> None:
    if len(first) and len(second) and not set(first) & set(second):
        names = [", ".join(repr(v) for v in list(graph)[:3]) for graph in (first, second)]
        raise ParameterError(f"the graphs have no variable in common: {names[0]}, ... and {names[1]}, ...")


def _adjacencies(graph: nx.DiGraph[Any]) -> set[frozenset[Any]]:
    return {frozenset(edge) for edge in graph.edges}


def _mark(graph: nx.DiGraph[Any], pair: frozenset[Any]) -> tuple[bool, bool]:
    a, b = pair
    return graph.has_edge(a, b), graph.has_edge(b, a)


def _arrowheads(true: nx.DiGraph[Any], learned: nx.DiGraph[Any]) -> tuple[float, float]:
    """Precision and recall; an arrowhead is an edge without its opposite."""
    is_, was = ({(a, b) for a, b in g.edges if not g.has_edge(b, a)} for g in (true, learned))
    right = len(is_ & was)
    among = sum(learned.has_edge(a, b) or learned.has_edge(b, a) for a, b in is_)
    return _share(right, len(was)), _share(right, among)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else math.nan


def __dir__() -> list[str]:
    return sorted(__all__)
