"""Heaping: numbers that more rows hold than their neighbours, as people write 20 or 25 hours and hardly ever 23.

A smooth density draws 23 as often as 25, so drawn rows are told from those of the table by one look at the column.
What is drawn is therefore led to numbers of the column by a way that never changes the order of two of them: where rows
are heaped, every number takes as much of the line as its share of the rows around it. Densities and quantiles stay
those of the numbers before it, as with the step of a column.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from arbornet.data.column import Column

Numbers = NDArray[np.float64]
FEWEST_ROWS = 200
"""Rows with a value, below which no heaps are looked for."""
CELL_ROWS = 50
"""Rows of a cell, of few rows; of many rows a cell has this share of them, so that a column has at most 64."""
CELL_SHARE = 1 / 64
MOST_HEAPS = 16
"""Numbers of a cell that take a part of the line each; the others share what is left between these."""
HEAP_ROWS = 3
"""Rows that share a number before it is told from its neighbours: what one person wrote is not shown by the draws."""
EVIDENCE = 0.2
"""Logarithm of how much more probable a row of a cell is with heaps than without."""
STEEPEST = 5.0
"""Slopes of a cell that need no heaps, at most."""
FLAT = 1e-6
"""Slopes that are none."""
LARGEST = 1e290
"""Columns with larger numbers are refused by the core, in words; their sums would overflow here."""
MOST_DISTINCT = 0.75
"""Distinct numbers for each row: a column that has more of them is not heaped."""
PSEUDO = 0.5
"""Added to the rows of every number that a cell could hold."""
MOST_PER_ROW = 4.0
"""Numbers that a cell can hold for each of its rows, at most: where a column has no step, it could hold any."""


@dataclass(frozen=True)
class _Cell:
    """Numbers next to each other, the rows of each, and where the cell begins and ends."""

    numbers: Numbers
    rows: Numbers
    low: float
    high: float


def heaps_of(
    values: Numbers, step: float | None, point: float | None, weights: Numbers | None = None
) -> tuple[tuple[float, ...], tuple[float, ...]] | None:
    """The way from a number that is drawn to one of the column: places, and where each of them leads.

    Between two places the way is a straight line; it is the identity where rows are not heaped, before the first place
    and beyond the last.

    Args:
        values: Numbers of all rows; NaN is missing.
        step: What they are multiples of.
        point: A number with a probability of its own, which needs none of this.
        weights: How often each row counts.

    Returns:
        Nothing if no part of the column is heaped.
    """
    known = ~np.isnan(values) & (values != point)
    if weights is not None:
        known &= weights > 0
    values, weights = values[known], None if weights is None else weights[known]
    n_rows = float(len(values) if weights is None else weights.sum())
    numbers, rows = np.unique(values, return_counts=True)
    if n_rows < FEWEST_ROWS or len(numbers) < 2 or len(numbers) > MOST_DISTINCT * n_rows:
        return None
    if max(-numbers[0], numbers[-1]) > LARGEST:
        return None
    counts = rows.astype(np.float64) if weights is None else _weighed(values, weights)
    places: list[float] = []
    led: list[float] = []
    for cell in _cells(numbers, counts, step):
        if not cell.low < cell.high or _evidence(cell, step) < EVIDENCE:
            continue
        for start, end, first, last in _parts(cell):
            if places and start <= places[-1]:
                start = float(np.nextafter(places[-1], np.inf))
            if start < end:
                places += [start, end]
                led += [first, last]
    return (tuple(places), tuple(led)) if places else None


def _weighed(values: Numbers, weights: Numbers) -> Numbers:
    """The weight of each distinct value, from the smallest; added up in the same order whatever that of the rows is."""
    order = np.lexsort((weights, values))
    values = values[order]
    starts = np.flatnonzero(np.concatenate(([True], values[1:] != values[:-1])))
    weighed: Numbers = np.add.reduceat(weights[order], starts)
    return weighed


def as_heaped(column: Column, values: Numbers, low: float = -math.inf, high: float = math.inf) -> Numbers:
    """Drawn numbers in the user's units, as the rows of the column are heaped.

    Args:
        column: A continuous column.
        values: The numbers; they may be missing.
        low: What they are not below.
        high: What they are below; a number that would be led out of this interval stays.
    """
    if column.heap_places is None or column.heap_numbers is None:
        return values
    places = np.array(column.heap_places)
    # An even place starts a part, an odd one ends it; what lies between two parts stays.
    inside = np.searchsorted(places, values, side="right") % 2 == 1
    if column.point is not None:
        inside &= values != column.point[0]
    led = np.where(inside, np.interp(values, places, np.array(column.heap_numbers)), values)
    return np.where((led >= low) & (led < high), led, values)


def _cells(numbers: Numbers, rows: Numbers, step: float | None) -> Iterator[_Cell]:
    """Halves of halves by rows, never parting those of one number, down to a few rows each; without the ends."""
    ends = np.concatenate(([0.0], np.cumsum(rows)))
    fewest = max(CELL_ROWS, CELL_SHARE * float(ends[-1]))
    between = (numbers[:-1] + numbers[1:]) / 2
    half = (step or 0.0) / 2
    open_ = [(0, len(numbers))]
    while open_:
        first, last = open_.pop()
        middle = (ends[first] + ends[last]) / 2
        cut = first + 1 + int(np.argmin(np.abs(ends[first + 1 : last] - middle))) if last - first > 1 else first
        if cut > first and min(ends[cut] - ends[first], ends[last] - ends[cut]) >= fewest:
            open_ += [(cut, last), (first, cut)]
            continue
        low = between[first - 1] if first > 0 else numbers[0] - half
        high = between[last - 1] if last < len(numbers) else numbers[-1] + half
        # The ends of a column are long, and a number drawn there would be led far away.
        if (first > 0 and last < len(numbers)) or last - first == 1:
            yield _Cell(numbers[first:last], rows[first:last], float(low), float(high))


def _evidence(cell: _Cell, step: float | None) -> float:
    """The logarithm of how much more probable a row is if each number has a frequency of its own, than on a slope."""
    n = float(cell.rows.sum())
    most = MOST_PER_ROW * n
    could = max(min((cell.high - cell.low) / step if step else most, most), len(cell.numbers))
    # Few numbers of rows occur.
    rows, times = np.unique(cell.rows, return_counts=True)
    each = [math.lgamma(PSEUDO + x) - math.lgamma(PSEUDO) for x in rows.tolist()]
    apart = math.lgamma(PSEUDO * could) - math.lgamma(PSEUDO * could + n) + float(np.dot(each, times))
    mean = float(np.dot(cell.rows, (cell.numbers - cell.low) / (cell.high - cell.low))) / n
    slope = _slope(mean)
    return apart / n - slope * mean + _log_mass(slope) + math.log(could)


def _slope(mean: float) -> float:
    """That of the density `exp(slope t)` between 0 and 1 with this mean, if it is not too steep.

    A cell far from the middle of a column has more rows at its inner end, which is no heap.
    """
    low, high = -STEEPEST, STEEPEST
    for _ in range(40):
        slope = (low + high) / 2
        at = 0.5 if abs(slope) < FLAT else 1 / -math.expm1(-slope) - 1 / slope
        low, high = (slope, high) if at < mean else (low, slope)
    return (low + high) / 2


def _log_mass(slope: float) -> float:
    return 0.0 if abs(slope) < FLAT else math.log(math.expm1(slope) / slope)


def _parts(cell: _Cell) -> Iterator[tuple[float, float, float, float]]:
    """Parts of a cell from the first to the last: where each starts and ends, and where these lead.

    A number that many rows hold takes its share of the cell; the numbers between two such take theirs together.
    """
    share = np.concatenate(([0.0], np.cumsum(cell.rows))) / cell.rows.sum()
    places = cell.low + share * (cell.high - cell.low)
    places[-1] = cell.high
    able = np.flatnonzero(cell.rows >= HEAP_ROWS)
    most = able[np.argsort(-cell.rows[able], kind="stable")[:MOST_HEAPS]]
    is_heap = np.zeros(len(cell.numbers), bool)
    is_heap[most] = True
    at = 0
    while at < len(cell.numbers):
        until = at + 1
        if not is_heap[at]:
            while until < len(cell.numbers) and not is_heap[until]:
                until += 1
        yield float(places[at]), float(places[until]), float(cell.numbers[at]), float(cell.numbers[until - 1])
        at = until
