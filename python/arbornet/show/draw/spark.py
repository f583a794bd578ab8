"""Charts of a tree's leaves, as small as a word, all on one scale: for lists that have the answers beside them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from arbornet.show.draw.band import band, spread
from arbornet.show.draw.parts import Cell, Leaf, Tree
from arbornet.show.draw.scene import Area, Box, Group, Line, Mark, Scene, Text, text_width
from arbornet.show.draw.tree import heights, leaf_axis, tallest

WIDTH, HEIGHT = 120.0, 26.0
POINTS = 37


def pooled(leaves: Sequence[Leaf]) -> Leaf:
    """What some leaves say together: the mean of their shares, or the mean and the spread of their mixture."""
    n = math.fsum(leaf.n for leaf in leaves)
    weights = [leaf.n / n if n else 1 / len(leaves) for leaf in leaves]
    if leaves[0].probabilities:
        shares = zip(*(leaf.probabilities for leaf in leaves), strict=True)
        return Leaf(n, tuple(math.fsum(w * p for w, p in zip(weights, share, strict=True)) for share in shares))
    # Of a line, its rows as a whole.
    told = [(of.along.mean, of.along.sd) if of.along else (of.location, spread(of)) for of in leaves]
    mean = math.fsum(w * middle for w, (middle, _) in zip(weights, told, strict=True))
    # A root of a sum of squares that no size of numbers overflows.
    parts = [
        math.sqrt(w) * part for w, (middle, wide) in zip(weights, told, strict=True) for part in (wide, middle - mean)
    ]
    return Leaf(n, (), mean, math.hypot(*parts), cells=_pooled_cells(leaves, weights))


def _pooled_cells(leaves: Sequence[Leaf], weights: Sequence[float]) -> tuple[Cell, ...]:
    """Of histograms, which have the same cells."""
    together = zip(*(leaf.cells for leaf in leaves), strict=True)
    return tuple(
        replace(of[0], density=math.fsum(w * cell.density for w, cell in zip(weights, of, strict=True)))
        for of in together
    )


def sparks(tree: Tree, shown: Sequence[Leaf]) -> list[Scene]:
    """A chart for each of some leaves (or pools of them), on the scale of all leaves of the tree."""
    leaves = list(tree.leaves())
    child = tree.child
    if child.levels:
        peak = max((p for leaf in leaves for p in leaf.probabilities), default=1.0) or 1.0
        return [_scene(_bars(leaf, child.kind, peak)) for leaf in shown]
    axis, top = leaf_axis(tree, leaves), tallest(leaves)

    def curve(leaf: Leaf) -> list[Mark]:
        if leaf.along:
            return band(leaf, child.kind, axis, (0.0, HEIGHT - 1), (WIDTH, HEIGHT - 2))
        values = sorted({*(axis.low + (axis.high - axis.low) * i / (POINTS - 1) for i in range(POINTS)), leaf.location})
        drawn = heights(leaf, values)
        points = [(WIDTH * axis.share(v), HEIGHT - 1 - (HEIGHT - 2) * min(1.0, height / top)) for v, height in drawn]
        middle = WIDTH * axis.share(leaf.location)
        return [
            Area(((0.0, HEIGHT - 1), *points, (WIDTH, HEIGHT - 1)), f"{child.kind}-line", 0.45),
            Line(((0.0, HEIGHT - 1), (WIDTH, HEIGHT - 1)), "line"),
            Line(((middle, HEIGHT - 1), (middle, HEIGHT - 5)), "ink", 1.5),
        ]

    return [_scene(curve(leaf)) for leaf in shown]


def spark_axis(tree: Tree) -> Scene:
    """What stands above the charts: a few ticks of their common axis, or the first and last level."""
    marks: list[Mark] = []
    if tree.child.levels:
        first, last = tree.child.levels[0], tree.child.levels[-1]
        if text_width(first, 11) + text_width(last, 11) + 8 <= WIDTH and first != last:
            marks = [Text(0, 11, first, 11, "start", "muted"), Text(WIDTH, 11, last, 11, "end", "muted")]
        return Scene(WIDTH, 16.0, "Scale of the charts", "", (Group(tuple(marks)),))
    axis = leaf_axis(tree, list(tree.leaves()))
    end = -1e9
    for at, label in axis.ticks():
        wide = text_width(label, 11)
        middle = min(max(WIDTH * axis.share(at), wide / 2), WIDTH - wide / 2)
        if middle - wide / 2 < end + 5:
            continue
        end = middle + wide / 2
        x = WIDTH * axis.share(at)
        marks += [Text(middle, 10, label, 11, paint="muted"), Line(((x, 12.5), (x, 16)), "line")]
    return Scene(WIDTH, 16.0, "Scale of the charts", "", (Group(tuple(marks)),))


def _scene(marks: list[Mark]) -> Scene:
    return Scene(WIDTH, HEIGHT, "", "", (Group(tuple(marks)),))


def _bars(leaf: Leaf, kind: str, peak: float) -> list[Mark]:
    step = WIDTH / max(1, len(leaf.probabilities))
    marks: list[Mark] = [Line(((0.0, HEIGHT - 1), (WIDTH, HEIGHT - 1)), "line")]
    gap = min(3.0, step * 0.15)
    for i, p in enumerate(leaf.probabilities):
        tall = (HEIGHT - 2) * p / peak
        marks.append(Box(i * step + gap, HEIGHT - 1 - tall, step - 2 * gap, tall, f"{kind}-line"))
    return marks
