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

from arbornet.draw.order import ordered
from arbornet.draw.place import places
from arbornet.draw.ranks import ranks
from arbornet.draw.scene import Point

NODE_HEIGHT = 34.0
LAYER_GAP = 46.0
NODE_GAP = 22.0
BEND_WIDTH = 10.0
PART_GAP = 48.0
STEEP = 0.6
SIDEWAYS = 1.2
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
    parts = _connected(list(widths), arcs)
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


def _connected(names: Sequence[str], arcs: Sequence[tuple[str, str]]) -> list[list[str]]:
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
    index = {name: i for i, name in enumerate(names)}
    edges = [(index[u], index[v]) for u, v in arcs]
    rank = ranks(len(names), edges, most=max(6, math.ceil(1.7 * math.sqrt(len(names)))))
    layers: list[list[int]] = [[] for _ in range(max(rank) + 1)]
    for v, r in enumerate(rank):
        layers[r].append(v)
    size = [widths[name] for name in names]
    pieces: list[tuple[int, int, float]] = []
    chains: list[list[int]] = []
    for u, v in edges:
        chain = [u]
        for r in range(rank[u] + 1, rank[v]):
            chain.append(len(size))
            layers[r].append(len(size))
            size.append(BEND_WIDTH)
        chain.append(v)
        chains.append(chain)
        for i, (a, b) in enumerate(itertools.pairwise(chain)):
            at_an_end = (i == 0) + (i == len(chain) - 2)
            pieces.append((a, b, (8.0, 2.0, 1.0)[at_an_end]))
    layers = ordered(layers, [(a, b) for a, b, _ in pieces])
    x = places(layers, pieces, size, NODE_GAP)
    shift = left - min(x[v] - size[v] / 2 for layer in layers for v in layer)
    x = [at + shift for at in x]
    y = [0.0] * len(size)
    top = 0.0
    for i, layer in enumerate(layers):
        for v in layer:
            y[v] = top + NODE_HEIGHT / 2
        if i + 1 < len(layers):
            top += NODE_HEIGHT + _gap_below(layer, pieces, x, layers[i + 1])
    for name, v in index.items():
        centres[name] = (x[v], y[v])
    ends = _ports(chains, x, size)
    room = {v: sides for layer in layers for v, sides in _room(layer, x, size, len(names)).items()}
    for arc, chain, (start, end) in zip(arcs, chains, ends, strict=True):
        half = NODE_HEIGHT / 2
        points = [(start, y[chain[0]] + half), *((x[v], y[v]) for v in chain[1:-1]), (end, y[chain[-1]] - half)]
        routes[arc] = curve(_clear(points, [room[v] for v in chain[1:-1]]))
    return max(x[v] + size[v] / 2 for v in range(len(size))) - left, top + NODE_HEIGHT


def _gap_below(
    layer: Sequence[int], pieces: Sequence[tuple[int, int, float]], x: Sequence[float], below: Sequence[int]
) -> float:
    """Layers between which arcs run far sideways stand further apart, so that these stay steep enough to follow."""
    here, there = set(layer), set(below)
    longest = max((abs(x[a] - x[b]) for a, b, _ in pieces if a in here and b in there), default=0.0)
    return min(LAYER_GAP * 2.2, max(LAYER_GAP, longest * 0.22))


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


def _clear(points: Sequence[Point], rooms: Sequence[tuple[float, float]]) -> list[Point]:
    """A bend to which an arc comes from far aside over a near node is met at the edge of its layer, clear of the node.

    Args:
        points: The start, the bends and the end.
        rooms: How far the nearest nodes are to the left and right of each bend.
    """
    out = [points[0]]
    half = NODE_HEIGHT / 2
    for before, (x, y), after, (left, right) in zip(points[:-2], points[1:-1], points[2:], rooms, strict=True):
        above, below = (
            abs((x - u) / (y - v)) > SIDEWAYS and (left if u < x else right) < NEAR for u, v in (before, after)
        )
        out += [(x, y - half)] * above + [(x, y)] + [(x, y + half)] * below
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
