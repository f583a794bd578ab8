"""The picture of a variable's values: a histogram of numbers, or a bar for each level."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from arbornet.draw.parts import Node
from arbornet.draw.scene import Box, Group, Line, Mark, Scene, Text, shortened, text_width
from arbornet.draw.tree import Axis

MARGIN = 10.0
BAR = 22.0
MOST_BARS = 30


@dataclass(frozen=True)
class Histogram:
    """Counts of numbers between edges, one edge more than counts."""

    edges: tuple[float, ...]
    counts: tuple[int, ...]

    @classmethod
    def of(cls, values: Any) -> Histogram:
        """Bins of one round width (1, 2 or 5 times a power of ten), between 8 and 40 of them where there is spread."""
        numbers = np.asarray(values, dtype=float)
        numbers = numbers[np.isfinite(numbers)]
        if not numbers.size:
            return cls((0.0, 1.0), (0,))
        low, high = float(numbers.min()), float(numbers.max())
        if low == high:
            half = abs(low) / 2 or 0.5
            return cls((low - half, low + half), (numbers.size,))
        quarter, three_quarters = np.quantile(numbers, [0.25, 0.75])
        # Freedman and Diaconis (1981); whole numbers keep bins of at least one.
        wish = 2 * float(three_quarters - quarter) / numbers.size ** (1 / 3)
        wish = min(max(wish, (high - low) / 40), (high - low) / 8)
        if bool((numbers == np.round(numbers)).all()):
            wish = max(wish, 1.0)
        power = 10.0 ** math.floor(math.log10(wish))
        step = next(f * power for f in (1, 2, 5, 10) if f * power >= wish * 0.999)
        first, last = math.floor(low / step), math.floor(high / step) + 1
        edges = np.arange(first, last + 1) * step
        counts, _ = np.histogram(numbers, edges)
        return cls(tuple(float(e) for e in edges), tuple(int(c) for c in counts))


@dataclass(frozen=True)
class Bars:
    """Counts of the levels, in their order."""

    levels: tuple[str, ...]
    counts: tuple[int, ...]


def values_scene(node: Node, values: Histogram | Bars) -> Scene:
    """Draws the values of a variable in its kind's colour."""
    return _histogram(node, values) if isinstance(values, Histogram) else _bars(node, values)


def _histogram(node: Node, values: Histogram) -> Scene:
    width, height = 420.0, 130.0
    axis = Axis(values.edges[0], values.edges[-1])
    peak = max(values.counts) or 1
    groups = []
    base = MARGIN + height

    def at(x: float) -> float:
        return MARGIN + width * axis.share(x)

    for low, high, count in zip(values.edges[:-1], values.edges[1:], values.counts, strict=True):
        tall = height * count / peak
        box = Box(at(low) + 0.5, base - tall, at(high) - at(low) - 1, tall, node.kind, f"{node.kind}-line", thick=1)
        groups.append(Group((box,), f"{low:.6g} to {high:.6g}: {count:,}"))
    marks: list[Mark] = [Line(((MARGIN, base), (MARGIN + width, base)), "line")]
    for tick in axis.ticks():
        marks += [
            Line(((at(tick), base), (at(tick), base + 5)), "line"),
            Text(at(tick), base + 19, f"{tick:.6g}", 11.5, paint="muted"),
        ]
    groups.append(Group(tuple(marks)))
    total = sum(values.counts)
    description = f"{total:,} values from {values.edges[0]:.6g} to {values.edges[-1]:.6g}"
    return Scene(width + 2 * MARGIN, base + 28, f"Histogram of {node.name}", description, tuple(groups))


def _bars(node: Node, values: Bars) -> Scene:
    """One row a level; when there are very many, the rarest are counted together."""
    rows = list(zip(values.levels, values.counts, strict=True))
    if len(rows) > MOST_BARS:
        kept = sorted(sorted(range(len(rows)), key=lambda i: (-rows[i][1], i))[: MOST_BARS - 1])
        rest = sum(values.counts) - sum(rows[i][1] for i in kept)
        rows = [*(rows[i] for i in kept), (f"{len(rows) - len(kept)} rarer levels", rest)]
    total = sum(values.counts) or 1
    peak = max((count for _, count in rows), default=0) or 1
    label = min(150.0, max((text_width(level, 12) for level, _ in rows), default=0.0))
    left, width = MARGIN + label + 8, 200.0
    groups = []
    for i, (level, count) in enumerate(rows):
        y = MARGIN + i * BAR
        groups.append(
            Group(
                (
                    Text(left - 8, y + 13, shortened(level, label, 12), 12, "end"),
                    Box(left, y + 2, width * count / peak, BAR - 7, node.kind, f"{node.kind}-line", thick=1),
                    Text(
                        left + width * count / peak + 8,
                        y + 13,
                        f"{count:,} ({count / total:.0%})",
                        12,
                        "start",
                        "muted",
                    ),
                ),
                f"{level}: {count:,}",
            )
        )
    description = "; ".join(group.title for group in groups)
    return Scene(left + width + 110, 2 * MARGIN + len(rows) * BAR, f"Levels of {node.name}", description, tuple(groups))
