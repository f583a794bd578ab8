"""The order of nodes in layers: as a literal implementation finds it, and found in bounded work."""

from __future__ import annotations

import random
from itertools import pairwise

import networkx as nx
import pytest

from arbornet.show.draw import order


def transposed_literally(layers: order.Layers, above: order.Layers, below: order.Layers) -> None:
    """Every pair of neighbours is compared again and again."""
    place = {v: p for layer in layers for p, v in enumerate(layer)}
    improved = True
    while improved:
        improved = False
        for layer in layers:
            for i in range(len(layer) - 1):
                u, v = layer[i], layer[i + 1]
                wrong = sum(place[a] > place[b] for near in (above, below) for a in near[u] for b in near[v])
                right = sum(place[a] > place[b] for near in (above, below) for a in near[v] for b in near[u])
                if wrong > right:
                    layer[i], layer[i + 1] = v, u
                    place[u], place[v] = i + 1, i
                    improved = True


def layered(n_layers: int, width: int, seed: int) -> tuple[order.Layers, list[tuple[int, int]]]:
    draw = random.Random(seed)
    layers = [list(range(i * width, (i + 1) * width)) for i in range(n_layers)]
    edges = {(draw.choice(a), draw.choice(b)) for a, b in pairwise(layers) for _ in range(2 * width)}
    return layers, sorted(edges)


@pytest.mark.parametrize("seed", range(12))
def test_neighbours_change_places_as_if_every_pair_were_compared_each_time(seed: int) -> None:
    layers, edges = layered(4, 7, seed)
    graph = nx.DiGraph(edges)
    graph.add_nodes_from(range(28))
    above = [list(graph.predecessors(v)) for v in range(28)]
    below = [list(graph.successors(v)) for v in range(28)]
    ours, literal = [list(layer) for layer in layers], [list(layer) for layer in layers]
    compared = order._transpose(ours, above, below, 10**9)
    transposed_literally(literal, above, below)
    assert ours == literal and compared >= 4 * 6


def test_the_work_for_a_large_graph_is_bounded_and_crossings_still_fall(monkeypatch) -> None:
    layers, edges = layered(8, 60, 1)
    below: order.Layers = [[] for _ in range(480)]
    for u, v in edges:
        below[u].append(v)
    compared = []
    plain = order._transpose
    monkeypatch.setattr(order, "_transpose", lambda *given: compared.append(plain(*given)) or compared[-1])
    monkeypatch.setattr(order, "MOST_WORK", 20_000)
    found = order.ordered(layers, edges)
    assert sorted(map(sorted, found)) == layers
    assert order.crossings(found, below) < order.crossings(layers, below) / 2
    assert sum(compared) < 20_000 + 480 * 10
