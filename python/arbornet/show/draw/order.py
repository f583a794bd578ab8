"""In which order the nodes of each layer stand, so that few arcs cross.

Sweeps down and up sort each layer by the weighted median of its neighbours (Gansner et al. 1993, section 3), then
neighbours change places while that undoes crossings. The best order over all sweeps is kept, from two starting orders,
with ties left as they are and now and then turned round, which leads out of many a dead end.
Everything is in node numbers, and ties keep the former order, so the result depends on nothing but the graph.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Sequence

Layers = list[list[int]]
SWEEPS = 40
MOST_WORK = 2_000_000
"""Pairs of neighbours that are compared, and arcs that are looked at in sweeps, at most: seconds. Graphs of a hundred
arcs need less; of larger ones the best order so far is taken."""


def ordered(layers: Sequence[Sequence[int]], edges: Sequence[tuple[int, int]]) -> Layers:
    """The layers, each in an order with few crossings; every arc joins neighbouring layers."""
    n = sum(len(layer) for layer in layers)
    above: Layers = [[] for _ in range(n)]
    below: Layers = [[] for _ in range(n)]
    for u, v in edges:
        below[u].append(v)
        above[v].append(u)
    best: Layers = [list(layer) for layer in layers]
    fewest, work = crossings(best, below), 0
    for backwards, turning in ((False, False), (True, False), (False, True), (True, True)):
        now, idle = _walked(layers, above, below, backwards), 0
        for sweep in range(SWEEPS):
            turned = turning and sweep % 4 >= 2
            _sweep(now, above, below, sweep % 2 == 0, turned)
            work += _transpose(now, above, below, MOST_WORK - work) + len(edges)
            count = crossings(now, below)
            idle += 1
            if count < fewest:
                best, fewest, idle = [list(layer) for layer in now], count, 0
            if work >= MOST_WORK:
                return best
            if idle > 12:
                break
    return best


def crossings(layers: Sequence[Sequence[int]], below: Sequence[Sequence[int]]) -> int:
    """Number of crossing pairs of arcs between neighbouring layers."""
    total = 0
    for lower, layer in zip(layers[1:], layers[:-1], strict=True):
        place = {v: i for i, v in enumerate(lower)}
        seen: list[int] = []
        for u in layer:
            ends = sorted(place[v] for v in below[u])
            total += sum(len(seen) - bisect_right(seen, end) for end in ends)
            for end in ends:
                insort(seen, end)
    return total


def _walked(layers: Sequence[Sequence[int]], above: Layers, below: Layers, backwards: bool) -> Layers:
    """The order in which a depth-first walk meets the nodes."""
    layer_of = {v: i for i, layer in enumerate(layers) for v in layer}
    out: Layers = [[] for _ in layers]
    seen = [False] * len(above)
    starts = [v for layer in layers for v in layer]
    for start in reversed(starts) if backwards else starts:
        waiting = [start]
        while waiting:
            v = waiting.pop()
            if seen[v]:
                continue
            seen[v] = True
            out[layer_of[v]].append(v)
            near = below[v] + above[v]
            waiting.extend(near if backwards else reversed(near))
    return out


def _sweep(layers: Layers, above: Layers, below: Layers, down: bool, turned: bool) -> None:
    steps = range(1, len(layers)) if down else range(len(layers) - 2, -1, -1)
    for i in steps:
        fixed = layers[i - 1 if down else i + 1]
        near = above if down else below
        place = {v: p for p, v in enumerate(fixed)}
        medians = {v: _median(sorted(place[u] for u in near[v])) for v in layers[i]}
        # Nodes without neighbours stay where they are; the others are sorted into the remaining places.
        ties = reversed(layers[i]) if turned else layers[i]
        movable = iter(sorted((v for v in ties if near[v]), key=lambda v: medians[v]))
        layers[i] = [next(movable) if near[v] else v for v in layers[i]]


def _median(places: Sequence[int]) -> float:
    count = len(places)
    middle = count // 2
    if not count:
        return -1.0
    if count % 2:
        return float(places[middle])
    if count == 2:
        return (places[0] + places[1]) / 2
    left = places[middle - 1] - places[0]
    right = places[-1] - places[middle]
    if left + right == 0:
        return (places[middle - 1] + places[middle]) / 2
    return (places[middle - 1] * right + places[middle] * left) / (left + right)


def _transpose(layers: Layers, above: Layers, below: Layers, most: int) -> int:
    """Neighbours in a layer change places while that undoes crossings; how many pairs were compared, at most so many.

    A pair is compared again only after something next to it has moved.
    """
    place = {v: p for layer in layers for p, v in enumerate(layer)}
    layer_of = {v: layer for layer in layers for v in layer}
    settled: dict[int, int] = {}
    """By node the one on its right with which it need not change places."""
    compared, improved = 0, True
    while improved and compared < most:
        improved = False
        for layer in layers:
            for i in range(len(layer) - 1):
                u, v = layer[i], layer[i + 1]
                if settled.get(u) == v:
                    continue
                compared += 1
                gain = 0
                for near in (above, below):
                    if near[u] and near[v]:
                        left, right = sorted(place[w] for w in near[u]), sorted(place[w] for w in near[v])
                        gain += _inversions(left, right) - _inversions(right, left)
                if gain <= 0:
                    settled[u] = v
                    continue
                layer[i], layer[i + 1] = v, u
                place[u], place[v] = i + 1, i
                improved = True
                for w in (*above[u], *above[v], *below[u], *below[v]):
                    settled.pop(w, None)
                    if place[w]:
                        settled.pop(layer_of[w][place[w] - 1], None)
    return compared


def _inversions(left: Sequence[int], right: Sequence[int]) -> int:
    """Pairs in the wrong order when `left`'s owner stands left of `right`'s; both ascending."""
    return sum(bisect_left(right, end) for end in left)
