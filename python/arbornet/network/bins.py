"""Intervals as evidence about numbers that were cut into bins.

A network knows of such a number only in which bin it lies. An interval that covers a bin in part is as probable in that
bin as the share of it that it covers: by length, or by count where values are whole (integers, dates). The outer bins
end at the smallest and at the largest value of the column. This is exact if values spread evenly within each bin.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from arbornet.kinds import Binned, Continuous

if TYPE_CHECKING:
    from arbornet.schema import Column

Interval = tuple[float, float]
"""From the first value that is inside to the first that is not, in the column's own units; ends may be infinite."""


def is_interval(column: Column, value: Any) -> bool:
    """Whether a value means an interval of a binned number, not some of its bins."""
    if not isinstance(column.kind, Binned) or not isinstance(value, tuple | list) or len(value) != 2:
        return False
    return not any(isinstance(end, str) and end in (column.levels or ()) for end in value)


def plain(column: Column) -> Column:
    """The column as one of numbers in its own units."""
    return dataclasses.replace(column, kind=Continuous(), scale=(0.0, 1.0), cuts=None)


def shares(column: Column, interval: Interval) -> list[float]:
    """Of every bin, the share that lies in an interval."""
    return [_share(column, bin_, interval) for bin_ in _bins(column)]


def possible(column: Column, interval: Interval) -> list[float]:
    """How probable the interval is in every bin: the shares, or where it holds nothing seen, the bins it touches.

    All zero where there is no such bin.
    """
    covered = shares(column, interval)
    if any(covered):
        return covered
    cuts = (-math.inf, *(column.cuts or ()), math.inf)
    low, high = interval
    return [float(start < high and low <= end) for start, end in pairwise(cuts)]


def both(a: Interval, b: Interval) -> Interval:
    """What lies in both."""
    return max(a[0], b[0]), min(a[1], b[1])


def within(part: Sequence[float], whole: Sequence[float]) -> list[float]:
    """Of every bin, the share that lies in a part, given that it lies in the whole."""
    return [p / w if w > 0 else 0.0 for p, w in zip(part, whole, strict=True)]


def _bins(column: Column) -> list[Interval]:
    """The ends of every bin, of which the upper one belongs to it; the outer ones infinite where nothing was seen."""
    cuts = column.cuts or ()
    low, high = column.range_ or (-math.inf, math.inf)
    first = low if not cuts or low <= cuts[0] else -math.inf
    last = high if not cuts or high > cuts[-1] else math.inf
    return list(zip((first, *cuts), (*cuts, last), strict=True))


def _share(column: Column, bin_: Interval, interval: Interval) -> float:
    (start, end), (low, high) = bin_, interval
    is_first = not column.cuts or end == column.cuts[0]
    if math.isinf(start) or math.isinf(end):
        return float(start < high and low <= end)
    if column.class_ in ("integer", "date"):
        first, last = (math.ceil(start) if is_first else math.floor(start) + 1), math.floor(end)
        if first <= last:
            inside = min(last, math.ceil(high) - 1 if high < math.inf else last) - max(
                first, math.ceil(low) if low > -math.inf else first
            )
            return max(0, inside + 1) / (last - first + 1)
    if start == end:
        return float(low <= start < high)
    return max(0.0, min(end, high) - max(start, low)) / (end - start)
