"""The structure of a network: its graph, its families, the model of each variable."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import networkx as nx

from arbornet._core import ArbornetError, NetworkHandle
from arbornet.data import calendar
from arbornet.data.looks.findings import marked
from arbornet.data.units import log_of, scores_of
from arbornet.graphs import class_graph, cpdag
from arbornet.io.origin import Origin
from arbornet.models.local import LocalModel
from arbornet.network import evidence
from arbornet.show import arrows
from arbornet.text.notebook import Text
from arbornet.text.visible import visible_name, written
from arbornet.text.wrong_calls import helpful

if TYPE_CHECKING:
    from arbornet.data.schema import Schema


class Structure:
    """The part of `BayesNet` that answers without looking at data."""

    def __init__(self, handle: NetworkHandle, schema: Schema, origin: Origin | None = None) -> None:
        if handle.names != schema.names:
            raise ArbornetError(
                f"the network's variables {evidence.some(handle.names)} are not those of the schema, "
                f"{evidence.some(schema.names)}"
            )
        self.handle = handle
        self.schema = schema
        self.origin = origin or Origin()

    @property
    def names(self) -> list[str]:
        """The variables in column order."""
        return self.schema.names

    @cached_property
    def graph(self) -> nx.DiGraph[str]:
        """The graph, a copy to keep.

        Nodes carry `kind`, `levels` and `n_parameters` (and `score`, `values` where numbers stand for dates or times,
        `log` on a logarithmic scale: what it adds, and `scores` by normal scores: the knots of their curve); arcs
        carry, where known, `contribution` (how much removing them lowers the score) and `strength` (their share of
        bootstrap networks) and `either_way` (whether the search left their direction open).
        """
        graph: nx.DiGraph[str] = nx.DiGraph()
        names = self.names
        for v, name in enumerate(names):
            graph.add_node(
                name, kind=self.handle.kind(v), levels=self.handle.levels(v), n_parameters=self.handle.n_parameters(v)
            )
            if (held := calendar.values(self._classes, name)) is not None:
                graph.nodes[name]["values"] = held
            if (log := log_of(self.handle.scale(v))) is not None:
                graph.nodes[name]["log"] = log
            if (knots := scores_of(self.handle.scale(v))) is not None:
                graph.nodes[name]["scores"] = knots
            if self.origin.family_scores is not None:
                graph.nodes[name]["score"] = self.origin.family_scores[v]
        for v, name in enumerate(names):
            for i, p in enumerate(self.handle.parents(v)):
                told: dict[str, float | bool] = {}
                if self.origin.contributions is not None:
                    told["contribution"] = self.origin.contributions[v][i]
                strength = self.origin.strengths.get(names[p], {}).get(name)
                if strength is not None:
                    told["strength"] = strength
                if self.origin.directed is not None:
                    told["either_way"] = (names[p], name) not in self.origin.directed
                graph.add_edge(names[p], name, **told)
        return graph

    def to_networkx(self) -> nx.DiGraph[str]:
        """A copy of `graph`."""
        return self.graph.copy()

    def cpdag(self) -> nx.DiGraph[str]:
        """The graph's equivalence class: an arc that may point either way is a pair of edges, one each way.

        An arc is one edge where the search that found the graph, or a constraint, directs it.
        """
        if self.origin.directed is None:
            return cpdag(self.graph)
        place = {name: v for v, name in enumerate(self.names)}
        either = [(place[a], place[b]) for a, b, told in self.graph.edges(data=True) if told["either_way"]]
        class_ = class_graph(self.names, [(place[a], place[b]) for a, b in self.origin.directed], either)
        class_.add_nodes_from(self.graph.nodes(data=True))
        return class_

    def __getitem__(self, variable: str) -> LocalModel:
        """The local model of a variable: `.text()`, `.rules()`, `.leaves`, `.draw()`."""
        return LocalModel(self.handle.model(self._position(variable)), self._classes)

    @cached_property
    def _classes(self) -> calendar.Classes:
        return calendar.classes(self.schema)

    @helpful
    def explain(self, variable: str) -> Text:
        """A variable in words: its kind, what it depends on and how much, what depends on it, and its model."""
        at = self._position(variable)
        levels = self.handle.levels(at)
        own = self.handle.scale(at)
        scale = ", logarithmic" if log_of(own) is not None else ", by normal scores" if scores_of(own) else ""
        told = (
            f"{self.handle.kind(at)}{scale}"
            if levels is None
            else f"{self.handle.kind(at)}: {', '.join(map(written, levels))}"
        )
        lines = [visible_name(f"{variable} ({told})")]
        arcs = [(p, self.graph.edges[p, variable]) for p in self.parents(variable)]
        lines += [f"  depends on {visible_name(p)}{_figures(data)}" for p, data in arcs] or [
            "  depends on no other variable"
        ]
        children = [name for v, name in enumerate(self.names) if at in self.handle.parents(v)]
        lines += [f"  {visible_name(c)} depends on it{_figures(self.graph.edges[variable, c])}" for c in children]
        around = [arc for arc in self.graph.edges if variable in arc]
        little = [f"  The arc {u} -> {v} says little: {why}." for u, v, why in marked(self.schema.findings, around)]
        lines += map(visible_name, little)
        return Text("\n".join([*lines, *self._directions(variable), "", self[variable].text()]))

    def _directions(self, variable: str) -> list[str]:
        """What the arrows of a variable do not mean, as lines, if it has any."""
        free = self.cpdag()
        around = [*self.graph.predecessors(variable), *self.graph.successors(variable)]
        if not around:
            return []
        turned = [
            visible_name(name) for name in around if free.has_edge(variable, name) and free.has_edge(name, variable)
        ]
        between = f"{', '.join(turned[:-1])} and {turned[-1]}" if len(turned) > 1 else "".join(turned)
        open_ = [f"  Independence alone does not orient the arcs with {between}."] if turned else []
        return [f"  {arrows.NOT_CAUSES}", *open_]

    @helpful
    def parents(self, variable: str) -> list[str]:
        """The parents of a variable in column order."""
        names = self.names
        return [names[p] for p in self.handle.parents(self._position(variable))]

    @helpful
    def markov_blanket(self, variable: str) -> list[str]:
        """Parents, children and the children's other parents, in column order: given these, no others matter."""
        at = self._position(variable)
        names = self.names
        families = [self.handle.parents(v) for v in range(len(names))]
        around = set(families[at])
        for v, parents in enumerate(families):
            if at in parents:
                around |= {v, *parents}
        return [names[v] for v in sorted(around - {at})]

    def arc_score(self, parent: str, child: str) -> float:
        """How much removing an arc lowers the score.

        Raises:
            ArbornetError: If there is no such arc, or the network was not fitted with a score.
        """
        if parent not in self.names or child not in self.names or not self.graph.has_edge(parent, child):
            raise ArbornetError(f"there is no arc from {parent!r} to {child!r}")
        if self.origin.contributions is None:
            raise ArbornetError("this network was not fitted to a table with a score, so its arcs have no scores")
        contribution: float = self.graph.edges[parent, child]["contribution"]
        return contribution

    def __len__(self) -> int:
        return len(self.names)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def _position(self, name: str) -> int:
        return evidence.position(self.schema, name, "variable")


def _figures(data: Mapping[str, Any]) -> str:
    """An arc's figures in words."""
    told = []
    data = {key: figure for key, figure in data.items() if figure == figure}  # NaN is not known
    if "contribution" in data:
        word = arrows.strength(data["contribution"])
        told.append(f"{arrows.without(data['contribution'])}{word and f': {word}'}")
    if "strength" in data:
        told.append(f"in {data['strength']:.0%} of bootstrap networks")
    return f" ({', '.join(told)})" if told else ""
