"""The picture of a decision tree: it grows from left to right, every leaf a row with its distribution.

Leaves stand below one another in small charts of the same scale, so they can be compared by eye: bars for levels and
for cells of numbers, a density curve for other numbers (a line with its band where a leaf follows a parent), the axis
once at the bottom. Left to right, because rows of text stay readable however many leaves there are. Where branches of a
decision graph merge, the later one ends in an arrow with the name of the leaf or split it leads to, and a thin line
goes there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from arbornet.data import calendar
from arbornet.data.units import unbent
from arbornet.show.draw.axis import Axis, around, between, by_factor, measured
from arbornet.show.draw.band import band, spread
from arbornet.show.draw.network import shape
from arbornet.show.draw.parts import Again, Leaf, Node, Range, Split, Tree
from arbornet.show.draw.scene import Area, Box, Curve, Group, Line, Mark, Point, Scene, Text, shortened, text_width

MARGIN = 14.0
ROW = 58.0
STUB = 26.0
CHART_HEIGHT = 38.0
GRID_POINTS = 61
FORMULA_WIDTH = 420.0


def tree_scene(tree: Tree, chart: float = 190.0) -> Scene:
    """Draws a tree; `chart` is the width of the densities of numbers."""
    leaves = list(tree.leaves())
    total = sum(leaf.n for leaf in leaves)
    columns = _columns(tree.root)
    lefts = [MARGIN]
    for column in columns:
        lefts.append(lefts[-1] + column)
    chart_left = lefts[-1] + 6
    chart_width = chart if not tree.child.levels else min(300.0, max(120.0, 34.0 * len(tree.child.levels)))
    top = MARGIN + 26
    groups: list[Group] = [_heading(tree.child, chart_left, chart_width)]
    cursor = top
    places: dict[str, Point] = {}
    axis = leaf_axis(tree, leaves) if not tree.child.levels else None
    peak = max((p for leaf in leaves for p in leaf.probabilities), default=1.0)

    def grow(node: Split | Leaf | Again, depth: int, path: Sequence[str]) -> float:
        """Adds a subtree; returns the height of its root."""
        nonlocal cursor
        if isinstance(node, Again):
            y, cursor = cursor + STUB / 2, cursor + STUB
            says = f"→ {node.name}"
            x = lefts[depth] + 4
            marks: list[Mark] = [Text(x, y + 4.5, says, 12, "start", bold=True)]
            if (place := places.get(node.name)) is not None:
                end = x + text_width(says, 12) + 8
                goal = (place[0], place[1] + 6)
                if goal[0] > end:
                    bends = ((end, y), (goal[0] - 20, y), (goal[0] - 30, goal[1]), goal)
                else:  # back and up, on the left of the charts
                    bends = ((x - 3, y - 4), (x - 20, y - 24), (goal[0] - 22, goal[1] + 20), goal)
                marks.append(Curve(bends, "grid", 1.1))
            groups.append(Group(tuple(marks), f"{' and '.join(path)}: the same as {node.name}", "again"))
            return y
        if isinstance(node, Leaf):
            y, cursor = cursor + ROW / 2, cursor + ROW
            if node.name:
                places[node.name] = (chart_left - 6, y)
            if depth < len(columns):
                groups.append(Group((Line(((lefts[depth], y), (chart_left - 6, y)), "grid"),)))
            base = y + CHART_HEIGHT / 2
            chart = (
                _bars(node, tree.child, (chart_left, base), chart_width, peak)
                if axis is None
                else band(node, tree.child.kind, axis, (chart_left, base), (chart_width, CHART_HEIGHT))
                if node.along
                else _density(node, tree.child, axis, (chart_left, base), chart_width, tallest(leaves))
            )
            chart = [*chart, *_point(node, tree.child, axis, (chart_left, base), chart_width)]
            says = summary(node, tree.child)
            name = f"{node.name}: " if node.name else ""
            share = f"{name}{node.n:,.0f} {'row' if round(node.n) == 1 else 'rows'}" + (
                f" ({percent(node.n / total)})" if total else ""
            )
            texts: tuple[Text, ...] = (
                Text(chart_left + chart_width + 12, y - 1, says, 13, "start"),
                Text(chart_left + chart_width + 12, y + 15, share, 11.5, "start", "muted"),
            )
            if node.formula:
                short = shortened(node.formula, FORMULA_WIDTH, 11.5)
                texts = (*texts, Text(chart_left + chart_width + 12, y + 29, short, 11.5, "start", "muted"))
            where = " and ".join(path) or "always"
            told = f", {node.formula}" if node.formula else ""
            groups.append(Group((*chart, *texts), f"{where}: {says}, {share}{told}", "leaf"))
            return y
        below = [grow(sub, depth + 1, [*path, f"{node.variable} {label}"]) for label, sub in node.branches]
        y = (below[0] + below[-1]) / 2
        x, end = lefts[depth], lefts[depth + 1]
        name = shortened(node.variable, 150)
        if node.name:
            places[node.name] = (x, y)
            groups.append(Group((Text(x, y - 18, node.name, 11.5, "start", bold=True),), node.name, "name"))
        stem = x + text_width(name, 13) + 20
        middle = (x + stem) / 2
        groups.append(
            Group(
                (Box(x, y - 13, stem - x, 26, "paper", "line", round=4, thick=1), Text(middle, y + 4.5, name, 13)),
                f"split on {node.variable}",
                "split",
            )
        )
        for (label, _), there in zip(node.branches, below, strict=True):
            bend = stem + 26
            curve = ((stem, y), (stem + 16, y), (bend - 16, there), (bend, there))
            short = shortened(label, 170, 12)
            groups.append(
                Group(
                    (
                        Curve(curve, "line", 1.3),
                        Line(((bend, there), (end - 4, there)), "line", 1.3),
                        Text(bend + 4, there - 5, short, 12, "start", "muted"),
                    ),
                    f"{node.variable} {label}",
                    "branch",
                )
            )
        return y

    grow(tree.root, 0, [])
    bottom = cursor
    groups.append(_axis_marks(tree.child, axis, chart_left, chart_width, bottom))
    says_width = max(text_width(summary(leaf, tree.child), 13) for leaf in leaves)
    says_width = max(says_width, *(min(FORMULA_WIDTH, text_width(leaf.formula, 11.5)) for leaf in leaves))
    width = chart_left + chart_width + 12 + max(says_width, 110) + MARGIN
    kind = "Decision graph" if places else "Tree"
    title = f"{kind} of {tree.child.name} with {len(leaves)} {'leaf' if len(leaves) == 1 else 'leaves'}"
    description = "; ".join(group.title for group in groups if group.role == "leaf")
    return Scene(width, bottom + (40 if tree.child.levels else 24), title, description, tuple(groups))


def percent(share: float) -> str:
    """A share of one: `<1%` where it would round to nothing."""
    return "<1%" if 0 < share < 0.005 else f"{share:.0%}"


def _heading(child: Node, x: float, width: float) -> Group:
    box = shape(child.kind, (x + 8, MARGIN + 8), 16, 12)
    return Group((box, Text(x + 24, MARGIN + 12.5, shortened(child.name, width + 80), 13.5, "start", bold=True)))


def _columns(root: Split | Leaf) -> list[float]:
    """The width of each level of splits: the widest variable and label on it."""
    widths: list[float] = []
    level: list[Split | Leaf | Again] = [root]
    while level:
        splits = [node for node in level if isinstance(node, Split)]
        if splits:
            widths.append(
                max(
                    text_width(shortened(split.variable, 150), 13)
                    + 20
                    + 26
                    + max(text_width(shortened(label, 170, 12), 12) for label, _ in split.branches)
                    + 14
                    for split in splits
                )
            )
        level = [below for split in splits for _, below in split.branches]
    return widths


def summary(leaf: Leaf, child: Node) -> str:
    """A leaf in a few words: its likeliest level with its share, or its centre with its spread."""
    if leaf.probabilities:
        best = max(range(len(leaf.probabilities)), key=lambda i: (leaf.probabilities[i], -i))
        return f"{shortened(child.levels[best], 120)} {leaf.probabilities[best]:.0%}"
    if leaf.point is not None and leaf.point[1] * (leaf.n + 1) < 1:  # no row holds it
        return summary(replace(leaf, point=None), child)
    if leaf.point is not None:
        value, probability = leaf.point
        return f"{percent(probability)} {value:g}, else {summary(replace(leaf, point=None), child)}"
    if leaf.ranges:
        return ", ".join(_said(of, leaf, child) for of in leaf.ranges)
    if isinstance(child.bend, tuple):
        return between(leaf.deciles or around(leaf.location, spread(leaf), child.bend), child.values)
    if child.bend is not None:
        return by_factor(leaf.location, spread(leaf), child.values, child.bend)
    if child.values:
        middle = calendar.centre(leaf.location, spread(leaf), child.values)
        return f"{middle} ± {calendar.spread(spread(leaf), child.values)}"
    return measured(leaf.location, spread(leaf))


def _said(of: Range, leaf: Leaf, child: Node) -> str:
    """How probable some numbers are: `57% between 2.1 and 5.4`, of whole ones `57% from 3 to 5`."""
    if child.values:
        low, high = (calendar.centre(end, leaf.scale, child.values) for end in (of.low, of.high))
    elif of.is_whole:
        low, high = (f"{end:,.0f}" for end in (of.low, of.high))
    else:
        low, high = (measured(end, leaf.scale).split(" ±")[0] for end in (of.low, of.high))
    if low == high:
        return f"{percent(of.probability)} {low}"
    words = ("from", "to") if of.is_whole else ("between", "and")
    return f"{percent(of.probability)} {words[0]} {low} {words[1]} {high}"


def _bars(leaf: Leaf, child: Node, origin: Point, width: float, peak: float) -> list[Mark]:
    x, base = origin
    step = width / max(1, len(leaf.probabilities))
    marks: list[Mark] = [Line(((x, base), (x + width, base)), "line")]
    for i, p in enumerate(leaf.probabilities):
        height = CHART_HEIGHT * p / peak
        marks.append(
            Box(x + (i + 0.12) * step, base - height, 0.76 * step, height, child.kind, f"{child.kind}-line", thick=1)
        )
    return marks


def density(leaf: Leaf, x: float) -> float:
    """Density of a leaf of numbers; of counts the probability of the nearest one."""
    if leaf.counted:
        return _of_count(leaf, round(x))
    if leaf.cells:
        return next((cell.density for cell in leaf.cells if cell.low <= x < cell.high), 0.0)
    if leaf.scale <= 0:
        return 0.0
    z = (x - leaf.location) / leaf.scale
    if leaf.df is None:
        return math.exp(-z * z / 2) / (leaf.scale * math.sqrt(2 * math.pi))
    d = leaf.df
    norm = math.lgamma((d + 1) / 2) - math.lgamma(d / 2) - 0.5 * math.log(d * math.pi)
    return math.exp(norm - (d + 1) / 2 * math.log1p(z * z / d)) / leaf.scale


def heights(leaf: Leaf, values: Sequence[float]) -> list[Point]:
    """The density of a leaf at some values; of a histogram at both ends of each of its cells."""
    if leaf.cells:
        return [(end, cell.density) for cell in leaf.cells for end in (cell.low, cell.high)]
    return [(value, density(leaf, value)) for value in values]


def _of_count(leaf: Leaf, count: int) -> float:
    """The probability of a count: negative binomial, with the leaf's mean."""
    # The numbers above one that has a probability of its own are counted without it.
    moved = 1 if leaf.point is not None and leaf.point[0] == 0 else 0
    k, mean = count - moved, max(leaf.location - moved, 1e-9)
    if k < 0:
        return 0.0
    if leaf.size is None:
        return math.exp(k * math.log(mean) - mean - math.lgamma(k + 1))
    r = leaf.size
    ways = math.lgamma(k + r) - math.lgamma(r) - math.lgamma(k + 1)
    return math.exp(ways - r * math.log1p(mean / r) - k * math.log1p(r / mean))


def _mode(leaf: Leaf) -> float:
    """Where a leaf of numbers is densest."""
    if leaf.cells:
        return max(leaf.cells, key=lambda cell: cell.density).low
    if not leaf.counted:
        return leaf.location
    moved = 1 if leaf.point is not None and leaf.point[0] == 0 else 0
    share = 1.0 if leaf.size is None else max(0.0, 1 - 1 / leaf.size)
    return moved + math.floor(max(leaf.location - moved, 0.0) * share)


def tallest(leaves: Sequence[Leaf]) -> float:
    """The scale of the density charts: the tallest leaf, but one needle does not flatten all others."""
    peaks = sorted(density(leaf, _mode(leaf)) for leaf in leaves if not leaf.along) or [1.0]
    return min(peaks[-1], 4 * peaks[len(peaks) // 2]) or 1.0


def leaf_axis(tree: Tree, leaves: Sequence[Leaf]) -> Axis:
    """Three scales to both sides of every leaf."""
    ends = [end for leaf in leaves for end in leaf.reach]
    ends += [_on_axis(leaf.point[0], tree.child) for leaf in leaves if leaf.point is not None]
    low, high = min(ends), max(ends)
    low, high = (low, high) if high > low else (low - 1, high + 1)
    return Axis(low, high, tree.child.values, tree.child.bend)


def _density(leaf: Leaf, child: Node, axis: Axis, origin: Point, width: float, tallest: float) -> list[Mark]:
    x, base = origin
    values = [axis.low + (axis.high - axis.low) * i / (GRID_POINTS - 1) for i in range(GRID_POINTS)]
    # The top of the curve itself belongs to the grid.
    values = sorted({*values, leaf.location})
    drawn = heights(leaf, values)
    points = [(x + width * axis.share(v), base - CHART_HEIGHT * min(1.0, height / tallest)) for v, height in drawn]
    middle = x + width * axis.share(leaf.location)
    top = base - CHART_HEIGHT * min(1.0, density(leaf, leaf.location) / tallest)
    return [
        Area(((x, base), *points, (x + width, base)), f"{child.kind}-line", 0.3),
        Line(tuple(points), f"{child.kind}-line", 1.5),
        Line(((x, base), (x + width, base)), "line"),
        Line(((middle, base), (middle, top)), "line", dashed=True),
    ]


def _point(leaf: Leaf, child: Node, axis: Axis | None, origin: Point, width: float) -> list[Mark]:
    """A bar where a number has a probability of its own, as high as this."""
    if leaf.point is None or axis is None:
        return []
    (x, base), (value, probability) = origin, leaf.point
    at = x + width * min(max(axis.share(_on_axis(value, child)), 0.0), 1.0)
    return [Line(((at, base), (at, base - CHART_HEIGHT * probability)), f"{child.kind}-line", 3)]


def _on_axis(value: float, child: Node) -> float:
    """A number of the child where the charts have it: its logarithm or normal score, if it is taken so."""
    if child.bend is None or isinstance(child.bend, tuple):
        return float(unbent(child.bend, np.array([value]))[0])
    return math.log(max(value + child.bend, 1e-300))


def _axis_marks(child: Node, axis: Axis | None, x: float, width: float, y: float) -> Group:
    marks: list[Mark] = []
    if axis:
        end = -math.inf
        for tick, label in axis.ticks():
            at, half = x + width * axis.share(tick), text_width(label, 11.5) / 2
            marks.append(Line(((at, y - 8), (at, y - 3)), "line"))
            if at - half > end:  # where there is no room a tick stays without its number
                marks.append(Text(at, y + 10, label, 11.5, paint="muted"))
                end = at + half + 4
    else:
        step = width / max(1, len(child.levels))
        widest = max((text_width(level, 11.5) for level in child.levels), default=0.0)
        every = 1 if widest <= step else 2  # two lines of labels where one is too narrow
        for i, level in enumerate(child.levels):
            says = shortened(level, step * every - 2, 11.5)
            marks.append(Text(x + (i + 0.5) * step, y + 10 + 14 * (i % every), says, 11.5, paint="muted"))
    return Group(tuple(marks), "", "axis")
