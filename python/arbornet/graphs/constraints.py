"""Constraints on the graph, in the user's names: required and forbidden arcs, tiers, roots, leaves, limits.

Everything is resolved to one rule per child (required parents, allowed parents, most parents) before any scoring. All
contradictions are found there, and reported with the names of the arcs and rules that clash.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import networkx as nx

from arbornet._core import ParameterError
from arbornet.text.brief import Brief
from arbornet.text.terminal import several
from arbornet.text.wrong_calls import helpful_class

Arc = tuple[str, str]


@dataclass(frozen=True, repr=False)
class Rules:
    """Constraints resolved for named variables: one entry per child, parents by position, ascending."""

    names: tuple[str, ...]
    required: tuple[tuple[int, ...], ...]
    allowed: tuple[tuple[int, ...], ...]
    max_parents: tuple[int, ...]

    def __repr__(self) -> str:
        n = len(self.names)
        required, allowed = (sum(map(len, of)) for of in (self.required, self.allowed))
        arcs = f"arcs: {required:,} required, {n * (n - 1) - allowed:,} forbidden"
        most = f"; up to {several(max(self.max_parents), 'parent')}" if n else ""
        return f"Rules({n:,} variables; {arcs}{most})"

    def spec(self) -> str:
        """The JSON the core reads."""
        columns = zip(self.required, self.allowed, self.max_parents, strict=True)
        rules = [{"required": list(r), "allowed": list(a), "max_parents": m} for r, a, m in columns]
        return json.dumps(rules, separators=(",", ":"))

    def permits(self, child: str, parents: Iterable[str]) -> bool:
        """Whether a child may have exactly these parents."""
        v = self.names.index(child)
        positions = {self.names.index(p) for p in parents}
        within = positions <= set(self.allowed[v]) and len(positions) <= self.max_parents[v]
        return within and set(self.required[v]) <= positions


@helpful_class
@dataclass(frozen=True, repr=False)
class Constraints(Brief):
    """Constraints on the graph (background knowledge).

    Args:
        required: arcs ``(parent, child)`` that must be there.
        forbidden: arcs ``(parent, child)`` that must not.
        tiers: groups of variables in temporal order; no arc points from a later group to an earlier one.
            Variables in no group are free.
        roots: variables without parents.
        leaves: variables without children.
        max_parents: the most parents of any variable, or of each named one.
        allowed_parents: for a named child, the only parents it may have.

    Example:
        >>> an.Constraints(required=[("age", "stage")], tiers=[["age", "sex"], ["stage"], ["outcome"]])
    """

    required: Sequence[Arc] = ()
    forbidden: Sequence[Arc] = ()
    tiers: Sequence[Sequence[str]] = ()
    roots: Sequence[str] = ()
    leaves: Sequence[str] = ()
    max_parents: int | Mapping[str, int] | None = None
    allowed_parents: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("required", "forbidden"):
            object.__setattr__(self, name, tuple(_arc(name, arc) for arc in _listed(name, getattr(self, name))))
        object.__setattr__(self, "tiers", tuple(_listed("tiers", tier) for tier in _listed("tiers", self.tiers)))
        for name in ("roots", "leaves"):
            object.__setattr__(self, name, _listed(name, getattr(self, name)))
        allowed = {child: _listed("allowed_parents", parents) for child, parents in dict(self.allowed_parents).items()}
        object.__setattr__(self, "allowed_parents", allowed)
        limits = self.max_parents
        if isinstance(limits, Mapping):
            object.__setattr__(self, "max_parents", dict(limits))
        for limit in [] if limits is None else limits.values() if isinstance(limits, Mapping) else [limits]:
            if isinstance(limit, bool) or not isinstance(limit, int) or limit < 0:
                raise ParameterError(f"max_parents={limits!r}: each limit is an integer from 0 up")

    def resolve(self, names: Sequence[str]) -> Rules:
        """One rule per child, for variables of these names.

        Raises:
            ParameterError: if a name is unknown, or constraints contradict each other; every contradiction is named.
        """
        names = tuple(names)
        unknown = sorted({name for name in self._mentioned() if name not in set(names)}, key=str)
        if unknown:
            known = ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
            raise ParameterError(f"constraints name {_quoted(unknown)}, not among the variables ({known})")
        clashes = list(self._clashes(names))
        if clashes:
            raise ParameterError("the constraints contradict each other: " + "; ".join(clashes))
        position = {name: i for i, name in enumerate(names)}
        tier = {name: i for i, group in enumerate(self.tiers) for name in group}
        forbidden: dict[str, set[str]] = {}
        for parent, child in self.forbidden:
            forbidden.setdefault(child, set()).add(parent)
        leaves, roots = set(self.leaves), set(self.roots)

        def allowed(child: str) -> Iterable[str]:
            """Their names; sets first, as a thousand variables have a million pairs."""
            if child in roots:
                return ()
            own = self.allowed_parents.get(child)
            within = names if own is None else [p for p in names if p in set(own)]
            out = leaves | forbidden.get(child, set()) | {child}
            latest = tier.get(child, len(self.tiers))
            return (p for p in within if p not in out and tier.get(p, 0) <= latest)

        required: list[set[int]] = [set() for _ in names]
        for parent, child in self.required:
            required[position[child]].add(position[parent])
        most = [min(self._limit(child, len(names) - 1), len(names) - 1) for child in names]
        needed = tuple(tuple(sorted(r)) for r in required)
        return Rules(names, needed, tuple(tuple(position[p] for p in allowed(c)) for c in names), tuple(most))

    def _mentioned(self) -> Iterable[str]:
        for arc in (*self.required, *self.forbidden):
            yield from arc
        for group in (*self.tiers, self.roots, self.leaves, *self.allowed_parents.values()):
            yield from group
        yield from self.allowed_parents
        if isinstance(self.max_parents, Mapping):
            yield from self.max_parents

    def _limit(self, child: str, default: int) -> int:
        if isinstance(self.max_parents, Mapping):
            return self.max_parents.get(child, default)
        return default if self.max_parents is None else self.max_parents

    def _why_not(self, arc: Arc) -> list[str]:
        """The rules that exclude an arc."""
        parent, child = arc
        tier = {name: i for i, group in enumerate(self.tiers) for name in group}
        out = []
        if arc in self.forbidden:
            out.append("it is forbidden")
        if child in self.roots:
            out.append(f"'{child}' is a root, which has no parents")
        if parent in self.leaves:
            out.append(f"'{parent}' is a leaf, which has no children")
        if tier.get(parent, 0) > tier.get(child, len(self.tiers)):
            places = tier[parent] + 1, tier[child] + 1
            out.append(f"'{parent}' is in tier {places[0]} and '{child}' in the earlier tier {places[1]}")
        if parent not in self.allowed_parents.get(child, (parent,)):
            out.append(f"allowed_parents of '{child}' are {_quoted(self.allowed_parents[child]) or 'none'}")
        return out

    def _clashes(self, names: Sequence[str]) -> Iterator[str]:
        first: dict[str, int] = {}
        for i, tier in enumerate(self.tiers, 1):
            for name in tier:
                if first.setdefault(name, i) != i:
                    yield f"'{name}' is in tier {first[name]} and in tier {i}"
        for arc in dict.fromkeys(self.required):
            if reasons := self._why_not(arc):
                yield f"the arc {_drawn(arc)} is required, but {' and '.join(reasons)}"
        for child in names:
            needed = list(dict.fromkeys(p for p, c in self.required if c == child))
            limit = self._limit(child, len(names))
            if len(needed) > limit:
                arcs = f"{len(needed)} required parents ({_quoted(needed)})"
                yield f"'{child}' has {arcs}, but max_parents allows {limit}"
        try:
            cycle = nx.find_cycle(nx.DiGraph(self.required))
            yield "the required arcs form a cycle: " + " -> ".join(f"'{a}'" for a, _ in [*cycle, cycle[0]])
        except nx.NetworkXNoCycle:
            pass


def _listed(name: str, given: Any) -> tuple[Any, ...]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ParameterError(f"{name}={given!r}: give a list, even of one")
    return tuple(given)


def _arc(name: str, given: Any) -> Arc:
    if isinstance(given, str) or not isinstance(given, Sequence) or len(given) != 2:
        raise ParameterError(f"{name}: {given!r} is not an arc; give pairs (parent, child)")
    parent, child = given
    if parent == child:
        raise ParameterError(f"{name}: the arc {_drawn((parent, child))} goes from a variable to itself")
    return parent, child


def _drawn(arc: Arc) -> str:
    return f"'{arc[0]}' -> '{arc[1]}'"


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


def resolved(constraints: Constraints | Rules | None, names: Sequence[str]) -> Rules:
    """The rules of given constraints, or of none; rules that were resolved before are returned as they are."""
    if isinstance(constraints, Rules):
        return constraints
    check_constraints(constraints)
    return (Constraints() if constraints is None else constraints).resolve(names)


def check_constraints(constraints: object) -> None:
    """Raises ParameterError if these are no constraints."""
    if not isinstance(constraints, Constraints | Rules | None):
        way = "an.Constraints(**constraints)" if isinstance(constraints, dict) else "an.Constraints(...), or nothing"
        raise ParameterError(f"constraints={constraints!r}: give {way}")
