"""Intervals as evidence about numbers that were cut into bins.

A network knows only the bin of such a number. An interval that covers a part of a bin has the probability of the share
of the bin's values in it, by the values of the table that the schema keeps (`Column.ranked`). That is exact unless
other evidence says where in its bin a value lies. A schema without those values assumes that they are spread evenly
between the bin's ends: whole numbers by count, others by length.
"""

from __future__ import annotations

import dataclasses
import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from arbornet.data.kinds import Binned, Continuous

if TYPE_CHECKING:
    from arbornet.data.column import Column

Interval = tuple[float, float]
"""From the first value that is inside to the first that is not, in the column's own units; ends may be infinite."""


def is_interval(column: Column, value: object) -> bool:
    """Whether a value means an interval of a binned number, not some of its bins."""
    if not isinstance(column.kind, Binned) or not isinstance(value, tuple | list) or len(value) != 2:
        return False
    return not any(isinstance(end, str) and end in (column.levels or ()) for end in value)


def plain(column: Column) -> Column:
    """The column as one of numbers in its own units."""
    return dataclasses.replace(column, kind=Continuous(), scale=(0.0, 1.0), cuts=None)


def shares(column: Column, interval: Interval) -> list[float]:
    """Of every bin, the share of its values that lies in an interval."""
    ends = pairwise((-math.inf, *(column.cuts or ()), math.inf))
    return [_share(column, bin_, interval) for bin_ in ends]


def possible(column: Column, interval: Interval) -> list[float]:
    """How probable an interval is in every bin: the shares, or if it holds nothing that was seen, 1 where it may be."""
    covered = shares(column, interval)
    if any(covered):
        return covered
    return [_touches(bin_, interval) for bin_ in pairwise((-math.inf, *(column.cuts or ()), math.inf))]


def both(a: Interval, b: Interval) -> Interval:
    """What lies in both."""
    return max(a[0], b[0]), min(a[1], b[1])


def within(part: Sequence[float], whole: Sequence[float]) -> list[float]:
    """Of every bin, the share that lies in a part, given that it lies in the whole."""
    return [min(1.0, p / w) if w > 0 else 0.0 for p, w in zip(part, whole, strict=True)]


def _touches(bin_: Interval, interval: Interval) -> float:
    """The upper end of a bin belongs to it, that of an interval does not."""
    return float(bin_[0] < interval[1] and interval[0] <= bin_[1])


def _share(column: Column, bin_: Interval, interval: Interval) -> float:
    (start, end), (low, high) = bin_, interval
    if not _touches(bin_, interval):
        return 0.0
    if low <= start and high > end:
        return 1.0
    values = column.ranked or ()
    if column.class_ in ("integer", "date"):
        first, last = bisect_right(values, start), bisect_right(values, end)
        inside = min(last, bisect_left(values, high)) - max(first, bisect_left(values, low))
        return max(0, inside) / (last - first) if first < last else _even_whole(column, bin_, interval)
    first_place, last_place = _place(values, start, "after"), _place(values, end, "after")
    if first_place == last_place:
        return _even(column, bin_, interval)
    lower = _place(values, low, "before") if low > start else first_place
    upper = _place(values, high, "before") if high <= end else last_place
    return min(1.0, max(0.0, upper - lower) / (last_place - first_place))


def _place(values: Sequence[float], x: float, side: Literal["before", "after"]) -> float:
    """How far along ranked values a number stands, before or after those like it; between two by its distance."""
    after = bisect_left(values, x) if side == "before" else bisect_right(values, x)
    if after == 0 or after == len(values):
        return max(0.0, after - 1.0)
    low, high = values[after - 1], values[after]
    return after - 1 + (x - low) / (high - low)


def _seen(column: Column, bin_: Interval) -> Interval:
    """The ends of a bin, the outer ones where the column ends; infinite if nothing was seen there."""
    (start, end), (low, high) = bin_, column.range_ or (-math.inf, math.inf)
    return (low if start == -math.inf and low <= end else start), (high if end == math.inf and high > start else end)


def _even(column: Column, bin_: Interval, interval: Interval) -> float:
    """The share by length."""
    (start, end), (low, high) = _seen(column, bin_), interval
    if math.isinf(start) or math.isinf(end):
        return 1.0
    if start == end:
        return float(low <= start < high)
    return max(0.0, min(end, high) - max(start, low)) / (end - start)


def _even_whole(column: Column, bin_: Interval, interval: Interval) -> float:
    """The share by the number of whole numbers."""
    (start, end), (low, high) = _seen(column, bin_), interval
    if math.isinf(start) or math.isinf(end):
        return 1.0
    first, last = math.ceil(start) if bin_[0] == -math.inf else math.floor(start) + 1, math.floor(end)
    if first > last:
        return _even(column, bin_, interval)
    from_, to = math.ceil(max(low, first)), math.ceil(min(high, last + 1)) - 1
    return max(0, to - from_ + 1) / (last - first + 1)
