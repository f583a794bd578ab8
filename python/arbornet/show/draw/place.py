"""Where along its layer each node stands: short arcs, long ones straight, no overlaps.

Minimises the sum of weight * (x_u - x_v)^2 over the arcs, with neighbours in a layer kept apart by a given distance.
The constraints concern one layer each, so solving layer after layer, each exactly by pooling adjacent violators,
walks to the common minimum. The pieces of a long arc weigh more, which keeps it straight (the weights are those of
Gansner et al. 1993, section 4).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

SWEEPS = 80


def places(
    layers: Sequence[Sequence[int]],
    edges: Sequence[tuple[int, int, float]],
    widths: Sequence[float],
    gap: float,
) -> list[float]:
    """The centre of each node.

    Args:
        layers: The nodes of each layer, from left to right.
        edges: Triples (u, v, weight).
        widths: The width of each node.
        gap: Least space between neighbours.
    """
    near: list[list[tuple[int, float]]] = [[] for _ in widths]
    for u, v, weight in edges:
        near[u].append((v, weight))
        near[v].append((u, weight))
    x = [0.0] * len(widths)
    offsets: list[list[float]] = []
    for layer in layers:
        offset, at = [], 0.0
        for before, v in zip([None, *layer[:-1]], layer, strict=True):
            if before is not None:
                at += (widths[before] + widths[v]) / 2 + gap
            offset.append(at)
        offsets.append(offset)
        for v, o in zip(layer, offset, strict=True):
            x[v] = o - at / 2
    order = list(range(len(layers)))
    for sweep in range(SWEEPS):
        for i in order if sweep % 2 == 0 else reversed(order):
            layer, offset = layers[i], offsets[i]
            wishes, weights = [], []
            for v, o in zip(layer, offset, strict=True):
                weight = math.fsum(w for _, w in near[v])
                target = math.fsum(w * x[u] for u, w in near[v]) / weight if weight else x[v]
                wishes.append(target - o)
                weights.append(weight or 1e-3)
            for v, o, z in zip(layer, offset, isotonic(wishes, weights), strict=True):
                x[v] = z + o
    return x


def isotonic(wishes: Sequence[float], weights: Sequence[float]) -> list[float]:
    """The ascending sequence nearest to the wishes in weighted squares."""
    blocks: list[tuple[float, float, int]] = []  # mean, weight, length
    for wish, weight in zip(wishes, weights, strict=True):
        mean, total, length = wish, weight, 1
        while blocks and blocks[-1][0] > mean:
            m, w, k = blocks.pop()
            mean, total, length = (m * w + mean * total) / (w + total), w + total, k + length
        blocks.append((mean, total, length))
    return [mean for mean, _, length in blocks for _ in range(length)]
