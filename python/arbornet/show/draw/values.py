"""The picture of a variable's values: a histogram of numbers, or a bar for each level."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arbornet.show.draw.axis import DATES, Axis, date_edges, has_calendar, number_at, said
from arbornet.show.draw.parts import Node
from arbornet.show.draw.scene import Box, Group, Line, Mark, Scene, Text, shortened, text_width

MARGIN = 10.0
BAR = 22.0
MOST_BARS = 30


@dataclass(frozen=True)
class Histogram:
    """Counts of numbers between edges, one edge more than counts."""

    edges: tuple[float, ...]
    counts: tuple[int, ...]

    @classmethod
    def of(cls, values: Sequence[float] | NDArray[np.float64], what: str = "") -> Histogram:
        """Bins of one round width (1, 2 or 5 times a power of ten), between 8 and 40 of them where there is spread.

        Dates, told by `what`, come in days, months or years of the calendar.
        """
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
        if what in DATES and has_calendar(low, high):
            edges = np.array(date_edges(low, high, wish))
            counts, _ = np.histogram(numbers, edges)
            return cls(tuple(edges.tolist()), tuple(int(c) for c in counts))
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
    width, height = 320.0, 110.0
    axis = Axis(values.edges[0], values.edges[-1], node.values, node.bend)
    peak = max(values.counts) or 1
    groups = []
    base = MARGIN + height

    def at(x: float) -> float:
        return MARGIN + width * axis.share(x)

    def says(x: float) -> str:
        if node.bend is not None:
            x = float(f"{number_at(x, node.bend):.3g}")
        return said(x, node.values)

    for low, high, count in zip(values.edges[:-1], values.edges[1:], values.counts, strict=True):
        tall = height * count / peak
        box = Box(at(low) + 0.5, base - tall, at(high) - at(low) - 1, tall, node.kind, f"{node.kind}-line", thick=1)
        groups.append(Group((box,), f"{says(low)} to {says(high)}: {count:,}"))
    marks: list[Mark] = [Line(((MARGIN, base), (MARGIN + width, base)), "line")]
    for tick, label in axis.ticks():
        # A label at an end of the axis stays within the picture.
        room = text_width(label, 12) / 2
        middle = min(max(at(tick), room), width + 2 * MARGIN - room)
        marks += [
            Line(((at(tick), base), (at(tick), base + 5)), "line"),
            Text(middle, base + 19, label, 12, paint="muted"),
        ]
    groups.append(Group(tuple(marks)))
    total = sum(values.counts)
    description = f"{total:,} values from {says(values.edges[0])} to {says(values.edges[-1])}"
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
    label = min(130.0, max((text_width(level, 12) for level, _ in rows), default=0.0))
    left, width = MARGIN + label + 8, 110.0
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
    return Scene(left + width + 100, 2 * MARGIN + len(rows) * BAR, f"Levels of {node.name}", description, tuple(groups))
