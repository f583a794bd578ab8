"""The chart of a leaf that follows a parent along a line: the line, and about it the band that holds 68% of the rows.

The child runs from left to right, as in the charts of all leaves of a tree, so that these can still be compared by eye;
the parent runs upwards, from the least to the most that the leaf's rows held.
"""

from __future__ import annotations

from arbornet.show.draw.axis import Axis
from arbornet.show.draw.parts import Leaf
from arbornet.show.draw.scene import Area, Line, Mark, Point, Text, shortened

SMALL = 9.0


def spread(leaf: Leaf) -> float:
    """Half the width of the interval that holds 68% of a leaf of numbers; near its standard deviation."""
    return leaf.scale * _widening(leaf.df)


def _widening(df: float | None) -> float:
    if df is None or df > 30:
        return 1.0
    # Quantile 0.8413 of Student's t (Abramowitz and Stegun 26.7.5, at the normal quantile 1).
    return 1 + 1 / (2 * df) + 1 / (4 * df * df) + 1 / (16 * df**3)


def band(leaf: Leaf, kind: str, axis: Axis, origin: Point, size: tuple[float, float]) -> list[Mark]:
    """The line of a leaf with its band, and the name of what runs upwards; `origin` is the chart's lower left."""
    if leaf.along is None:
        return []
    (x, base), (width, height) = origin, size
    low, high = leaf.along.points[0][0], leaf.along.points[-1][0]
    wide = _widening(leaf.df)

    def at(value: float, number: float) -> Point:
        return x + width * min(1.0, max(0.0, axis.share(number))), base - height * (value - low) / ((high - low) or 1.0)

    points = leaf.along.points
    left = [at(value, location - wide * scale) for value, location, scale in points]
    right = [at(value, location + wide * scale) for value, location, scale in points]
    line = [at(value, location) for value, location, _ in points]
    name = shortened(f"↑ {leaf.along.variable}", width / 2, SMALL)
    # Where the line does not end.
    free = line[-1][0] > x + width / 2
    return [
        Area((*left, *reversed(right)), f"{kind}-line", 0.3),
        Line(tuple(line), f"{kind}-line", 1.5),
        Line(((x, base), (x + width, base)), "line"),
        Text(x + 2 if free else x + width - 2, base - height + SMALL, name, SMALL, "start" if free else "end", "muted"),
    ]
