"""Where the nodes and arcs of a network stand: layers from top to bottom, arcs pointing down.

Sugiyama's frame: layers (`ranks`), bends where long arcs pass a layer, an order in each layer (`order`), places along
it (`place`), then curves through the bends. Connected parts are laid out one by one and set side by side; nodes
without arcs follow below in rows. Uses no random numbers, so the same graph always looks the same.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from arbornet.show.draw.order import ordered
from arbornet.show.draw.place import places
from arbornet.show.draw.ranks import ranks
from arbornet.show.draw.scene import Point

NODE_HEIGHT = 34.0
LAYER_GAP = 46.0
NODE_GAP = 22.0
BEND_WIDTH = 10.0
PART_GAP = 48.0
STEEP = 0.6
SIDEWAYS = 1.2
SIDEWAYS_DEEP = 0.1
NEAR = 60.0


@dataclass(frozen=True)
class Layout:
    """Centres of the nodes and curves of the arcs (a start, then three control points a piece)."""

    width: float
    height: float
    centres: Mapping[str, Point]
    routes: Mapping[tuple[str, str], tuple[Point, ...]]


def layered(widths: Mapping[str, float], arcs: Sequence[tuple[str, str]]) -> Layout:
    """Lays out an acyclic graph.

    Args:
        widths: The width of each node, in the order in which ties are settled.
        arcs: Pairs (parent, child).
    """
    centres: dict[str, Point] = {}
    routes: dict[tuple[str, str], tuple[Point, ...]] = {}
    parts = connected(list(widths), arcs)
    alone = [part[0] for part in parts if len(part) == 1]
    right = bottom = 0.0
    for part in sorted((p for p in parts if len(p) > 1), key=len, reverse=True):
        members = set(part)
        inside = [arc for arc in arcs if arc[0] in members]
        width, height = _lay_out(part, inside, widths, right, centres, routes)
        right += width + PART_GAP
        bottom = max(bottom, height)
    right = max(right - PART_GAP, 0.0)
    if alone:
        right, bottom = _rows(alone, widths, right, bottom, centres)
    return Layout(right, bottom, centres, routes)


def connected(names: Sequence[str], arcs: Sequence[tuple[str, str]]) -> list[list[str]]:
    """The nodes of each connected part, in the order given."""
    part = {name: i for i, name in enumerate(names)}
    members = {i: [name] for i, name in enumerate(names)}
    for u, v in arcs:
        keep, gone = sorted((part[u], part[v]))
        if keep != gone:
            for name in members[gone]:
                part[name] = keep
            members[keep] += members.pop(gone)
    place = {name: i for i, name in enumerate(names)}
    return [sorted(m, key=place.__getitem__) for _, m in sorted(members.items())]


def _rows(
    names: Sequence[str], widths: Mapping[str, float], right: float, bottom: float, centres: dict[str, Point]
) -> tuple[float, float]:
    """Sets lone nodes in rows below the rest; returns the new right and bottom."""
    total = math.fsum(widths[name] + NODE_GAP for name in names)
    room = max(right, math.sqrt(total * 4 * NODE_HEIGHT), max(widths[name] for name in names))
    x, y = 0.0, bottom + (LAYER_GAP if bottom else 0.0)
    for name in names:
        if x and x + widths[name] > room:
            x, y = 0.0, y + NODE_HEIGHT + NODE_GAP
        centres[name] = (x + widths[name] / 2, y + NODE_HEIGHT / 2)
        x += widths[name] + NODE_GAP
        right = max(right, x - NODE_GAP)
    return right, y + NODE_HEIGHT


def _lay_out(
    names: Sequence[str],
    arcs: Sequence[tuple[str, str]],
    widths: Mapping[str, float],
    left: float,
    centres: dict[str, Point],
    routes: dict[tuple[str, str], tuple[Point, ...]],
) -> tuple[float, float]:
    """Lays out one connected part from `left` on; returns its width and height."""
    part = layered_part(names, arcs, max(6, math.ceil(1.7 * math.sqrt(len(names)))))
    laid = placed(part, [widths[name] for name in names], [NODE_HEIGHT] * len(names), NODE_GAP, LAYER_GAP)
    for name, (x, y) in zip(names, laid.centres, strict=False):
        centres[name] = (x + left, y)
    for i, arc in enumerate(arcs):
        routes[arc] = curve([(x + left, y) for x, y in laid.points(i)])
    return laid.breadth, laid.layers[-1][1]


@dataclass(frozen=True)
class Part:
    """A connected part in layers, each in its order; vertices from `len(names)` on are bends of long arcs.

    Attributes:
        names: The nodes.
        layers: The vertices of each layer.
        chains: Per arc, the vertices it passes.
        pieces: Steps of the chains, with how straight each wants to be.
    """

    names: tuple[str, ...]
    layers: tuple[tuple[int, ...], ...]
    chains: tuple[tuple[int, ...], ...]
    pieces: tuple[tuple[int, int, float], ...]


def layered_part(names: Sequence[str], arcs: Sequence[tuple[str, str]], most: int) -> Part:
    """The layers of a connected part, with no more than `most` nodes in any, and the order in each."""
    index = {name: i for i, name in enumerate(names)}
    edges = [(index[u], index[v]) for u, v in arcs]
    rank = ranks(len(names), edges, most=most)
    layers: list[list[int]] = [[] for _ in range(max(rank) + 1)]
    for v, r in enumerate(rank):
        layers[r].append(v)
    n = len(names)
    pieces: list[tuple[int, int, float]] = []
    chains: list[tuple[int, ...]] = []
    for u, v in edges:
        chain = [u]
        for r in range(rank[u] + 1, rank[v]):
            chain.append(n)
            layers[r].append(n)
            n += 1
        chain.append(v)
        chains.append(tuple(chain))
        for i, (a, b) in enumerate(itertools.pairwise(chain)):
            at_an_end = (i == 0) + (i == len(chain) - 2)
            pieces.append((a, b, (8.0, 2.0, 1.0)[at_an_end]))
    in_order = ordered(layers, [(a, b) for a, b, _ in pieces])
    return Part(tuple(names), tuple(map(tuple, in_order)), tuple(chains), tuple(pieces))


@dataclass(frozen=True)
class Laid:
    """A part with places: layers follow one another downwards.

    Attributes:
        part: What is laid out.
        centres: Of all vertices.
        sizes: Their extents along and across their layer.
        layers: The top and the bottom of each layer.
        ends: Where each arc leaves its tail and reaches its head, along the layer.
        room: How far the nearest nodes are to the left and right of each bend.
    """

    part: Part
    centres: tuple[Point, ...]
    sizes: tuple[Point, ...]
    layers: tuple[tuple[float, float], ...]
    ends: tuple[tuple[float, float], ...]
    room: Mapping[int, tuple[float, float]]

    @property
    def breadth(self) -> float:
        """The extent along the layers."""
        return max(x + width / 2 for (x, _), (width, _) in zip(self.centres, self.sizes, strict=True))

    def layer_of(self, vertex: int) -> tuple[float, float]:
        """The top and the bottom of a vertex' layer."""
        y = self.centres[vertex][1]
        return next(layer for layer in self.layers if layer[0] <= y <= layer[1])

    def points(self, arc: int) -> list[Point]:
        """Where an arc passes: its start, its bends, its end."""
        chain = self.part.chains[arc]
        tail, head = chain[0], chain[-1]
        start = (self.ends[arc][0], self.centres[tail][1] + self.sizes[tail][1] / 2)
        end = (self.ends[arc][1], self.centres[head][1] - self.sizes[head][1] / 2)
        bends = chain[1:-1]
        return _clear(
            [start, *(self.centres[v] for v in bends), end],
            [self.room[v] for v in bends],
            [self.layer_of(v) for v in bends],
        )


def placed(
    part: Part,
    across: Sequence[float],
    along: Sequence[float],
    node_gap: float,
    layer_gap: float,
    bend_width: float = BEND_WIDTH,
) -> Laid:
    """Gives a part its places.

    Args:
        part: The part.
        across: The extent of each node along its layer.
        along: Its extent in the direction of the arcs.
        node_gap: Least space between neighbours in a layer.
        layer_gap: Least space between layers.
        bend_width: What a bend takes of its layer; less than nothing sets bends nearer together than nodes.
    """
    n = len(part.names)
    count = sum(map(len, part.layers))
    size = [*across, *[bend_width] * (count - n)]
    thick = [*along, *[0.0] * (count - n)]
    x = places(part.layers, part.pieces, size, node_gap)
    size = [max(extent, 0.0) for extent in size]
    shift = min(x[v] - size[v] / 2 for v in range(count))
    x = [at - shift for at in x]
    y = [0.0] * count
    top = 0.0
    ends: list[tuple[float, float]] = []
    for i, layer in enumerate(part.layers):
        deep = max((thick[v] for v in layer), default=0.0)
        for v in layer:
            y[v] = top + deep / 2
        ends.append((top, top + deep))
        if i + 1 < len(part.layers):
            top += deep + _gap_below(layer, part.pieces, x, part.layers[i + 1], layer_gap)
    room = {v: sides for layer in part.layers for v, sides in _room(layer, x, size, n).items()}
    ports = _ports(part.chains, x, size)
    return Laid(
        part,
        tuple(zip(x, y, strict=True)),
        tuple(zip(size, thick, strict=True)),
        tuple(ends),
        tuple(ports),
        room,
    )


def _gap_below(
    layer: Sequence[int],
    pieces: Sequence[tuple[int, int, float]],
    x: Sequence[float],
    below: Sequence[int],
    gap: float,
) -> float:
    """Layers between which arcs run far sideways stand further apart, so that these stay steep enough to follow."""
    here, there = set(layer), set(below)
    longest = max((abs(x[a] - x[b]) for a, b, _ in pieces if a in here and b in there), default=0.0)
    return min(gap * 2.2, max(gap, longest * 0.22))


def _ports(chains: Sequence[Sequence[int]], x: Sequence[float], size: Sequence[float]) -> list[tuple[float, float]]:
    """Where arcs leave and reach their nodes: spread along the side, in the order of where they go."""
    out: list[list[float]] = [[x[chain[0]], x[chain[-1]]] for chain in chains]
    for side in (0, 1):
        at: dict[int, list[tuple[float, int]]] = {}
        for i, chain in enumerate(chains):
            node, neighbour = (chain[0], chain[1]) if side == 0 else (chain[-1], chain[-2])
            at.setdefault(node, []).append((x[neighbour], i))
        for node, arrivals in at.items():
            arrivals.sort()
            step = min(14.0, 0.7 * size[node] / len(arrivals))
            for place, (_, i) in enumerate(arrivals):
                out[i][side] = x[node] + (place - (len(arrivals) - 1) / 2) * step
    return [(start, end) for start, end in out]


def _room(layer: Sequence[int], x: Sequence[float], size: Sequence[float], n: int) -> dict[int, tuple[float, float]]:
    """How far the nearest nodes are to the left and to the right of every bend of a layer; bends count from n on."""
    nodes = [v for v in layer if v < n]
    out = {}
    for bend in (v for v in layer if v >= n):
        left = [x[bend] - x[v] - size[v] / 2 for v in nodes if x[v] < x[bend]]
        right = [x[v] - size[v] / 2 - x[bend] for v in nodes if x[v] >= x[bend]]
        out[bend] = (min(left, default=math.inf), min(right, default=math.inf))
    return out


def _clear(
    points: Sequence[Point], rooms: Sequence[tuple[float, float]], layers: Sequence[tuple[float, float]]
) -> list[Point]:
    """A bend to which an arc comes from far aside over a near node is met at the edge of its layer, clear of the node.

    Args:
        points: The start, the bends and the end.
        rooms: How far the nearest nodes are to the left and right of each bend.
        layers: The top and the bottom of the layer of each bend.
    """
    out = [points[0]]
    passes = zip(points[:-2], points[1:-1], points[2:], rooms, layers, strict=True)
    for before, (x, y), after, (left, right), (top, bottom) in passes:
        steep = SIDEWAYS if bottom - top <= NODE_HEIGHT else SIDEWAYS_DEEP
        above, below = (
            abs((x - u) / (y - v)) > steep and (left if u < x else right) < NEAR for u, v in (before, after)
        )
        out += [(x, top)] * above + [(x, y)] + [(x, bottom)] * below
    return [*out, points[-1]]


def curve(points: Sequence[Point]) -> tuple[Point, ...]:
    """A smooth curve downwards through the points; it never turns back up."""
    if len(points) == 2:
        (x0, y0), (x1, y1) = points
        third = (y1 - y0) * 0.4
        return (x0, y0), (x0 + (x1 - x0) * 0.1, y0 + third), (x1 - (x1 - x0) * 0.1, y1 - third), (x1, y1)
    slopes = [(b[0] - a[0]) / (b[1] - a[1]) for a, b in itertools.pairwise(points)]
    tangents = [slopes[0] * 0.2]
    for before, after in itertools.pairwise(slopes):
        # The harmonic mean, zero at a turn: no overshooting (Fritsch and Butland 1984). Steep where it passes a layer,
        # so that it keeps clear of the nodes beside it.
        tangent = 2 * before * after / (before + after) if before * after > 0 else 0.0
        tangents.append(min(max(tangent, -STEEP), STEEP))
    tangents.append(slopes[-1] * 0.2)
    out = [points[0]]
    for (x0, y0), (x1, y1), t0, t1 in zip(points[:-1], points[1:], tangents[:-1], tangents[1:], strict=True):
        third = (y1 - y0) / 3
        out += [(x0 + t0 * third, y0 + third), (x1 - t1 * third, y1 - third), (x1, y1)]
    return tuple(out)
