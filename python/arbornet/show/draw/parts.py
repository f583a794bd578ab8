"""What a drawing is made of: plain data that stands between networks and pictures.

Whoever has something to draw turns it into these parts; whoever draws knows nothing else. A network comes in as a
`networkx.DiGraph` (`Graph.of`), a fitted local model as a nested dict (`Tree.of`):

    graph:  nodes carry `kind` ("continuous" | "categorical" | "ordinal", or anything whose text contains one of
            them) and `levels` (a sequence, optional); arcs carry `strength` (0 to 1, optional),
            `contribution` (how much removing the arc lowers the score, optional) and `either_way` (whether its
            direction is open; if it is not there, what the graph's own independences say)

    tree:   {"child": name, "kind": ..., "levels": [...], "root": node}        (and "values": "date" for dates)
    node:   {"variable": name, "branches": [{"label": "< 55", "node": node}, ...]}     a split
            {"n": rows, "probabilities": [...]}                                        a leaf of levels
            {"n": rows, "location": x, "scale": s, "df": d}                            a leaf of numbers, Student t
                                                                                       (no "df": normal)
            and on a logarithmic scale the tree has "log": a, and numbers at its leaves are those of ln(x + a)
            and by normal scores it has "scores": [[score, number], ...], and numbers at its leaves are scores
            and "point": {"value": x, "probability": p}          a number with a probability of its own
            or of counts "mean": m, "sd": s, "size": r           None for Poisson ones
            or of any shape "edges": [...], "shares": [...], "mean": m, "sd": s and "ranges": [{"probability": p,
            "low": x, "high": y, "is_whole": b}], where most numbers are
            and "line": {"along": {"variable": name, "points": [[x, location, scale], ...]}, "mean": m, "sd": s}
                                                                 where it follows a parent along a line; mean and
                                                                 standard deviation are those of its rows
            {"again": name}                                      the split or leaf of this "name", seen before: where
                                                                 branches of a decision graph merge
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import networkx as nx

from arbornet._core import ArbornetError, ParameterError
from arbornet.data.units import Bend, knots_of
from arbornet.graphs import cpdag
from arbornet.show import arrows

KindName = Literal["continuous", "categorical", "ordinal"]
KINDS: tuple[KindName, ...] = get_args(KindName)


def kind_name(kind: object) -> KindName:
    """The kind that a text or object names.

    Raises:
        ParameterError: If its text contains none of the three kinds.
    """
    text = str(kind).lower()
    for name in KINDS:
        if name in text:
            return name
    raise ParameterError(f"kind {text!r} is not one of continuous, categorical, ordinal")


@dataclass(frozen=True)
class Node:
    """A variable."""

    name: str
    kind: KindName
    levels: tuple[str, ...] = ()
    values: str = ""
    """What its numbers stand for, if not for themselves: "date", "datetime", "time" or "duration"."""
    bend: Bend | None = None
    """On a logarithmic scale what it adds, by normal scores their knots: it is drawn by logarithms or by scores."""

    @property
    def description(self) -> str:
        """The kind in words, with the levels: `ordinal: I < II < III`."""
        between = " < " if self.kind == "ordinal" else ", "
        scale = "" if self.bend is None else ", by normal scores" if isinstance(self.bend, tuple) else ", logarithmic"
        return self.kind + scale + (f": {between.join(self.levels)}" if self.levels else "")


@dataclass(frozen=True)
class Arc:
    """An arc from parent to child."""

    parent: str
    child: str
    strength: float | None = None
    contribution: float | None = None
    either_way: bool = False
    """Whether a network with the same independences, and the same constraints where they are known, has it the other
    way round."""

    @property
    def description(self) -> str:
        """The arc and its figures in words."""
        parts = [f"{self.parent} → {self.child}"]
        if self.contribution is not None and (word := arrows.strength(self.contribution)):
            parts.append(f"strength: {word} ({arrows.without(self.contribution)})")
        if self.strength is not None and not math.isnan(self.strength):
            parts.append(f"in {self.strength:.0%} of resampled networks")
        if self.either_way:
            parts.append(arrows.EITHER_WAY)
        return ", ".join(parts)


@dataclass(frozen=True)
class Graph:
    """A directed acyclic graph with what is drawn of it, in the order its maker gave."""

    nodes: tuple[Node, ...]
    arcs: tuple[Arc, ...]

    @classmethod
    def of(cls, graph: nx.DiGraph) -> Graph:
        """Reads the attributes named in the module's text; a node without a kind is categorical.

        Raises:
            ArbornetError: If the graph has a directed cycle.
        """
        if not nx.is_directed_acyclic_graph(graph):
            cycle = " → ".join(str(u) for u, _ in nx.find_cycle(graph))
            raise ArbornetError(f"the graph has a cycle ({cycle}); only acyclic graphs have layers to draw")
        nodes = tuple(
            Node(
                str(name),
                kind_name(data.get("kind", "categorical")),
                tuple(map(str, data.get("levels") or ())),
                str(data.get("values", "")),
                bend_in(data),
            )
            for name, data in graph.nodes(data=True)
        )
        place = {node.name: i for i, node in enumerate(nodes)}
        free = cpdag(graph)
        arcs = (
            Arc(
                str(u),
                str(v),
                data.get("strength"),
                data.get("contribution"),
                data.get("either_way", free.has_edge(v, u)),
            )
            for u, v, data in graph.edges(data=True)
        )
        return cls(nodes, tuple(sorted(arcs, key=lambda arc: (place[arc.parent], place[arc.child]))))


@dataclass(frozen=True)
class Along:
    """A line that a leaf follows."""

    variable: str
    points: tuple[tuple[float, float, float], ...]
    """The variable's value, the location there and its scale, from the least to the most that was seen."""
    mean: float
    """Of the rows of the leaf."""
    sd: float


@dataclass(frozen=True)
class Cell:
    """Numbers that are equally probable."""

    low: float
    high: float
    density: float


@dataclass(frozen=True)
class Range:
    """Numbers that are said together; of whole ones the lowest and the highest."""

    probability: float
    low: float
    high: float
    is_whole: bool


@dataclass(frozen=True)
class Leaf:
    """The distribution at a leaf, of levels (`probabilities`) or of numbers (the next three).

    Where the child follows a `formula`, it is that at the means of the parents in it.
    """

    n: float
    probabilities: tuple[float, ...] = ()
    location: float = 0.0
    scale: float = 0.0
    df: float | None = None
    name: str = ""
    formula: str = ""
    along: Along | None = None
    point: tuple[float, float] | None = None
    """A number with a probability of its own, and this; the distribution is that of all others."""
    counted: bool = False
    """Whether the numbers are counts, with their mean as location and their standard deviation as scale."""
    size: float | None = None
    """Of counts, that of a negative binomial distribution; None for Poisson ones."""
    cells: tuple[Cell, ...] = ()
    """Of numbers of any shape; location and scale are their mean and standard deviation."""
    ranges: tuple[Range, ...] = ()
    """Where most of these are."""
    deciles: tuple[float, ...] = ()
    """By normal scores the numbers below which 10%, 50% and 90% are."""

    @property
    def reach(self) -> tuple[float, float]:
        """The ends of what it is drawn on: of its cells, or three scales to both sides, wherever its line leads."""
        if self.cells:
            return self.cells[0].low, self.cells[-1].high
        points = self.along.points if self.along else ((0.0, self.location, self.scale),)
        ends = [location + side * scale for _, location, scale in points for side in (-3, 3)]
        return max(min(ends), 0.0) if self.counted else min(ends), max(ends)


@dataclass(frozen=True)
class Again:
    """A branch that leads to a split or a leaf seen before."""

    name: str


@dataclass(frozen=True)
class Split:
    """An inner node: the variable it splits on, and a labelled subtree per branch."""

    variable: str
    branches: tuple[tuple[str, Split | Leaf | Again], ...]
    name: str = ""


@dataclass(frozen=True)
class Tree:
    """The decision tree of a child, or a decision graph: a tree whose branches may merge."""

    child: Node
    root: Split | Leaf

    @classmethod
    def of(cls, tree: Mapping[str, Any]) -> Tree:
        """Reads the nested dict described in the module's text."""
        levels = tuple(map(str, tree.get("levels") or ()))
        child = Node(str(tree["child"]), kind_name(tree["kind"]), levels, str(tree.get("values", "")), bend_in(tree))
        root = _subtree(tree["root"])
        if isinstance(root, Again):
            raise ArbornetError(f"the root refers to {root.name!r}, which does not exist")
        return cls(child, root)

    def leaves(self) -> Iterator[Leaf]:
        """All leaves, first branch first, each once."""
        waiting: list[Split | Leaf | Again] = [self.root]
        while waiting:
            node = waiting.pop()
            if isinstance(node, Leaf):
                yield node
            elif isinstance(node, Split):
                waiting.extend(below for _, below in reversed(node.branches))


def bend_in(told: Mapping[str, Any]) -> Bend | None:
    """What a variable's numbers are taken by, of what is told of it."""
    return knots_of(told["scores"]) if told.get("scores") is not None else told.get("log")


def _subtree(node: Mapping[str, Any]) -> Split | Leaf | Again:
    if "again" in node:
        return Again(str(node["again"]))
    name = str(node.get("name", ""))
    if "branches" in node:
        branches = [(_label(b["label"], b.get("levels")), _subtree(b["node"])) for b in node["branches"]]
        return _joined(Split(str(node["variable"]), tuple(branches), name))
    formula = str(node.get("formula") or "")
    if "probabilities" in node:
        return Leaf(node["n"], tuple(map(float, node["probabilities"])), name=name, formula=formula)
    along = _along(node.get("line") or {})
    shared = node.get("point")
    point = (float(shared["value"]), float(shared["probability"])) if shared else None
    if "edges" in node:
        edges = list(map(float, node["edges"]))
        cells = zip(edges, edges[1:], node["shares"], strict=False)
        return Leaf(
            node["n"],
            location=float(node["mean"]),
            scale=float(node["sd"]),
            name=name,
            formula=formula,
            point=point,
            cells=tuple(Cell(low, high, share / (high - low)) for low, high, share in cells),
            ranges=tuple(Range(**of) for of in node["ranges"]),
        )
    if "size" in node:
        middle = float(node["mean"]), float(node["sd"]), None
        return Leaf(node["n"], (), *middle, name, formula, along, point, True, node["size"])
    place = float(node["location"]), float(node["scale"]), node.get("df")
    deciles = tuple(map(float, node.get("deciles", ())))
    return Leaf(node["n"], (), *place, name, formula, along, point, deciles=deciles)


def _along(line: Mapping[str, Any]) -> Along | None:
    if (along := line.get("along")) is None:
        return None
    points = tuple((float(x), float(location), float(scale)) for x, location, scale in along["points"])
    return Along(str(along["variable"]), points, float(line["mean"]), float(line["sd"]))


def whole_range(levels: Sequence[object]) -> str | None:
    """Whole numbers that follow one another as `2 to 5`; None for two or fewer, and for others."""
    numbers = [level for level in levels if isinstance(level, int) and not isinstance(level, bool)]
    if len(numbers) < max(3, len(levels)) or any(b != a + 1 for a, b in itertools.pairwise(numbers)):
        return None
    return f"{numbers[0]} to {numbers[-1]}"


def plain_ranges(text: str) -> str:
    """A model's text with `is 2 to 5` for `in {2, 3, 4, 5}`."""

    def said(found: re.Match[str]) -> str:
        levels = whole_range([int(level) for level in found[2].split(", ")])
        return found[0] if levels is None else f"{'is not' if found[1] else 'is'} {levels}"

    return re.sub(r"\b(not )?in \{(-?\d+(?:, -?\d+)+)\}", said, text)


def _label(text: object, levels: Sequence[object] | None = None) -> str:
    """The label of a branch.

    `= no` is `no`, `>= 9` is `≥ 9`, `in [2, 9)` is `2 to 9`, `in {2, 3, 4}` is `2 to 4`, `in {a, b}` is `a or b`.
    """
    if levels:
        if (numbers := whole_range(levels)) is not None:
            return numbers
        if str(text).startswith("in {") and len(levels) <= 12:
            return f"{', '.join(map(str, levels[:-1]))} or {levels[-1]}"
    plain = str(text).removeprefix("= ").replace(">= ", "≥ ").replace("<= ", "≤ ")
    if match := re.fullmatch(r"in \[(.+), (.+)\)", plain):
        return _range_label(match[1], match[2])
    return plain


def _joined(split: Split) -> Split:
    """Successive splits on one number as one split with several branches: `< 9`, `9 to 13`, `≥ 13`."""
    branches: list[tuple[str, Split | Leaf | Again]] = []
    for label, below in split.branches:
        ours = _range(label)
        theirs = [_range(inner) for inner, _ in below.branches] if isinstance(below, Split) else []
        apart = not isinstance(below, Split) or below.variable != split.variable or below.name != ""
        if ours is None or apart or not isinstance(below, Split) or None in theirs:
            branches.append((label, below))
            continue
        for inner, (_, node) in zip(theirs, below.branches, strict=True):
            low, high = inner or (None, None)
            branches.append((_range_label(low or ours[0], high or ours[1]), node))
    return Split(split.variable, tuple(branches), split.name)


def _range(label: str) -> tuple[str | None, str | None] | None:
    """The ends of a range of numbers, None without an end; None if the label is not a range."""
    if match := re.fullmatch(r"< (.+)", label):
        return None, match[1]
    if match := re.fullmatch(r"≥ (.+)", label):
        return match[1], None
    if match := re.fullmatch(r"(.+) to (.+)", label):
        return match[1], match[2]
    return None


def _range_label(low: str | None, high: str | None) -> str:
    if low is None or high is None:
        return f"< {high}" if high is not None else f"≥ {low}"
    return f"{low} to {high}"
