"""What every search returns."""

from __future__ import annotations

import dataclasses
import html
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import add, index
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

import networkx as nx

from arbornet._core import ParameterError
from arbornet.alike import ByContent
from arbornet.graphs import cpdag, with_directions
from arbornet.show.draw import network_svg
from arbornet.show.draw.network import MOST_DRAWN, NOTEBOOK
from arbornet.show.draw.svg import in_cell
from arbornet.text.elsewhere import OF_FOUND, of_name
from arbornet.text.terminal import several

if TYPE_CHECKING:
    from pathlib import Path

SEEDS = 2**64 - 1
"""The largest random seed."""

Stopped = Literal["proven", "time", "memory", "interrupted", "finished"]


def count(name: str, value: object, least: int = 0, most: int = 2**63 - 1) -> int:
    """A whole number within what the core counts with.

    Raises:
        ParameterError: If it is not.
    """
    try:
        number = least - 1 if isinstance(value, bool) else index(value)  # type: ignore[arg-type]
    except TypeError:
        number = least - 1
    if number > most:
        raise ParameterError(f"{name}={value!r}: give an integer from {least} to {most}")
    if number < least:
        raise ParameterError(f"{name}={value!r}: give an integer from {least} up")
    return number


class Incumbent(NamedTuple):
    """The best score and the bound at some moment of a search."""

    seconds: float
    score: float
    bound: float


class Certificate(Protocol):
    """Evidence for a bound that can be checked apart from the search."""

    def check(self, candidates: Any | str | Path) -> bool:
        """Recomputes the bound from the candidates in exact arithmetic; True if it holds."""
        ...


@dataclass(frozen=True, eq=False, repr=False)
class Found(ByContent):
    """A graph, its score and what is known about better ones. Equal if everything in it is.

    Attributes:
        dag: The graph over all variables, an edge from parent to child; names "0".."n-1" for numbered files.
        score: Its total score, summed over the variables in their order.
        bound: Upper bound: no graph scores more than this, up to the rounding of sums; for a search over candidates, no
            graph made of them.
        stopped: Why the search ended: "proven", "time", "memory" or "interrupted"; "finished" if it was complete, but
            proves nothing.
        seconds: Wall seconds the search took.
        incumbents: Score and bound over time, as they improved.
        certificate: Evidence for the bound where the search gives any.
        details: Counters of the search, for people who tune it; of `exact` also the `tiers` that proved its parts. Of
            candidates that were partly searched by groups in order, `n_in_order` of `n_scored` scores are lower bounds;
            of candidates that a budget did not suffice for, what was `left_out`.
        equivalents: The class the search found, where constraints or tests make it another than the graph's own.
    """

    dag: nx.DiGraph[str]
    score: float
    bound: float
    stopped: Stopped
    seconds: float
    incumbents: tuple[Incumbent, ...] = ()
    certificate: Certificate | None = None
    details: dict[str, Any] = field(default_factory=dict)
    equivalents: nx.DiGraph[str] | None = None

    @property
    def gap(self) -> float:
        """How much higher any other graph could score at most: bound - score, never negative; infinite if unknown."""
        return math.inf if math.isnan(self.score) else max(0.0, self.bound - self.score)

    @property
    def cpdag(self) -> nx.DiGraph[str]:
        """The graph's equivalence class: an arc that may point either way is a pair of edges, one each way.

        For a search over classes, an arc that constraints direct is one edge.
        """
        return cpdag(self.dag) if self.equivalents is None else self.equivalents.copy()

    if not TYPE_CHECKING:  # for a type checker a name that there is not is an error

        def __getattr__(self, name: str) -> object:
            told = of_name(name, OF_FOUND, dir(type(self)))
            raise AttributeError(f"what a search found has no {name!r}{told}")

    def __repr__(self) -> str:
        size = f"{several(self.dag.number_of_nodes(), 'variable')}, {several(self.dag.number_of_edges(), 'arc')}"
        proven = f"proved best within {self.gap:.2g}" if self.gap else "proved best"
        if self.details.get("left_out"):
            proven += " of the parent sets looked at"
        if n := self.details.get("n_in_order"):
            proven += f" by its scores, {n:,} of them lower bounds,"
        ending = {"proven": proven, "finished": f"gap {self.gap:.6g}"}
        known = ending.get(self.stopped, f"gap {self.gap:.6g}, stopped by {self.stopped}")
        return f"{type(self).__name__}({size}, score {self.score:.4f}, {known}, {self.seconds:.2f} s)"

    def _repr_html_(self) -> str:
        line = f"<p>{html.escape(str(self))}</p>"
        if len(self.dag) > MOST_DRAWN:
            return line
        drawn = with_directions(self.dag, self.cpdag)
        return in_cell(network_svg(drawn, kinds=False, room=NOTEBOOK)) + line


def with_limits(found: Found, candidates: object) -> Found:
    """What a search found, with what limits a proof of it: scores that are lower bounds, sets that were left out."""
    limits: dict[str, Any] = {}
    if n := getattr(candidates, "n_in_order", 0):
        limits = {"n_in_order": n, "n_scored": getattr(candidates, "n_evaluated", None)}
    if left_out := getattr(candidates, "given_up", ()):
        limits["left_out"] = list(left_out)
    return dataclasses.replace(found, details={**found.details, **limits}) if limits else found


def uninterrupted(found: Found) -> Found:
    """What a search found, for work that continues with it.

    An interrupted search returns what it has, but later work would take that for the search's result.

    Raises:
        KeyboardInterrupt: If the search was interrupted.
    """
    if found.stopped == "interrupted":
        raise KeyboardInterrupt
    return found


def total_of(scores: Iterable[float]) -> float:
    """The sum of families' scores, added one after the other as the core adds.

    Python's own `sum` rounds otherwise from 3.12 on, and a result is to be the same bytes on any Python.
    """
    return reduce(add, scores, 0.0)


def dag_from_parents(names: Sequence[str], parents: Iterable[Iterable[int]]) -> nx.DiGraph[str]:
    """The graph in which each variable has the given parents (positions)."""
    dag: nx.DiGraph[str] = nx.DiGraph()
    dag.add_nodes_from(names)
    dag.add_edges_from((names[p], names[v]) for v, of_v in enumerate(parents) for p in of_v)
    return dag
