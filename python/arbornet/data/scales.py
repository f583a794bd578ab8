"""Which columns of numbers are taken by their logarithm, and which number of theirs has a probability of its own: those
whose simplest model that makes much more probable.

The model is one normal leaf for all rows, in the user's units. What it says of standardised values depends on their
number only, so a logarithm gains the difference of what standardising costs on either scale: with `t = ln(x + shift)`,
`ln sd(x) - ln sd(t) - mean(t)` nats a row. Money, counts, durations and concentrations gain; what is symmetric loses.
A number that a share p of the rows holds gains `p ln(p / width)` for the width of a step, and what the others gain
alone. Whether whole numbers are counts is another question, `data/counted.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from arbornet._core import ParameterError
from arbornet.data.counted import are_counts, may_be_counts
from arbornet.data.frames import Raw
from arbornet.data.kinds import Continuous
from arbornet.data.looks.written import as_read
from arbornet.data.support import length_of

if TYPE_CHECKING:
    from arbornet.data.column import Column

Scales: TypeAlias = Literal["linear", "auto"]
"""Whether every column keeps its linear scale, or skewed ones are taken by their logarithm and zero-inflated ones
with a point mass."""

#: Nats a row that a logarithm has to gain; and of numbers of which some are 0, since a part of what these gain is the
#: density that is heaped up there.
WORTH_IT = 0.1
WITH_ZEROS = 0.2
#: Fewer rows with a value say little about how they are spread.
FEW_ROWS = 20
#: What dates and times of day hold has no zero, and so no logarithm.
CLASSES = ("number", "integer", "duration")
#: Nats a row that a point mass has to gain, the least share of the rows it may hold, and how many times as many rows as
#: the next most frequent number: of few distinct numbers each is frequent.
WORTH_A_POINT = 0.1
LEAST_SHARE = 0.05
TIMES_THE_NEXT = 2
WITH_POINTS = ("number", "integer")
NUMBERS = (*CLASSES, *WITH_POINTS)


def check_scales(scales: object) -> None:
    """Raises ParameterError if this is no way to choose scales."""
    if scales not in ("linear", "auto"):
        raise ParameterError(f"scales={scales!r}: choose 'linear' or 'auto'")


def with_scales(raw: Raw, columns: Sequence[Column], weights: NDArray[np.float64] | None = None) -> list[Column]:
    """The columns: on a logarithmic scale those that gain by it, and with their point mass those that gain by that.

    Args:
        raw: The frame.
        columns: Its columns as they were inferred.
        weights: How often each row counts, if not all count once.
    """
    able = [column for column in columns if may_be_chosen(column)]
    read = as_read(raw, able, 1)
    chosen = {column.name: as_it_gains(read, column, read.places[column.name], weights) for column in able}
    return [chosen.get(column.name, column) for column in columns]


def as_it_gains(read: Raw, column: Column, place: int, weights: NDArray[np.float64] | None) -> Column:
    """A column of numbers with the scale, the point mass or the leaves of counts by which it gains enough.

    Args:
        read: The frame.
        column: The column.
        place: Where it stands in the frame.
        weights: How often each row counts, if not all count once.
    """
    column = replace(column, kind=Continuous())
    x, w = _known(read.numbers(place), weights)
    if len(x) < FEW_ROWS:
        return column
    # A table has the rows that weigh nothing, too.
    everything = read.numbers(place)
    may_be_log = column.class_ in CLASSES and not bool((everything < 0).any())
    found = _point(x, w, read.profile(place).step, may_be_log) if column.class_ in WITH_POINTS else None
    told, kind = [], Continuous()
    if found is not None:
        at, share = found
        told.append(f"{share:.0%} of the rows hold {at:g}: it has a probability of its own")
        kind = Continuous(point=at)
        if may_be_log and (1 - share) * gain(x[x != at], None if w is None else w[x != at]) > WORTH_IT:
            kind = Continuous("log", point=at)
    elif may_be_log and gain(x, w) > (WITH_ZEROS if x[0] == 0 else WORTH_IT):
        kind = Continuous("log")
    if may_be_counts(everything) and are_counts(x, w, kind):
        told = [f"whole numbers, {_share(x, w):.0%} of them 0: counts, and 0 has a probability of its own"]
        kind = Continuous(leaf="counts", point=0)
    if kind.is_log:
        told.insert(0, "skewed: their logarithm is more like a normal distribution")
    return replace(column, kind=kind, reason="; ".join([column.reason, *told])) if told else column


def _share(x: NDArray[np.float64], w: NDArray[np.float64] | None) -> float:
    """Of the zeros."""
    return float(np.average(x == 0, weights=w))


def point_of(raw: Raw, column: Column, place: int, weights: NDArray[np.float64] | None) -> float | None:
    """The number that has a probability of its own, if one gains enough by that."""
    if column.class_ not in WITH_POINTS:
        return None
    x, w = _known(raw.numbers(place), weights)
    if len(x) < FEW_ROWS:
        return None
    is_log = isinstance(column.kind, Continuous) and column.kind.is_log
    found = _point(x, w, raw.profile(place).step, is_log)
    return None if found is None else found[0]


def may_be_chosen(column: Column) -> bool:
    """Whether nothing is declared of a column of numbers, of which not all are the same."""
    plain = column.used and column.kind == Continuous() and column.class_ in NUMBERS
    return plain and column.range_ is not None and column.range_[0] < column.range_[1]


def _known(
    values: NDArray[np.float64], weights: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """The numbers that there are, ascending, and their weights: sums are the same for any order of the rows."""
    order = np.argsort(values) if weights is None else np.lexsort((weights, values))
    known = order[~np.isnan(values[order])]
    known = known if weights is None else known[weights[known] > 0]
    return values[known], None if weights is None else weights[known]


def _point(
    x: NDArray[np.float64], w: NDArray[np.float64] | None, step: float | None, may_be_log: bool
) -> tuple[float, float] | None:
    """The most frequent of some numbers, which ascend, and its share, if a probability of its own gains enough."""
    starts = np.flatnonzero(np.append(True, x[1:] != x[:-1]))
    distinct, counts = x[starts], np.diff(np.append(starts, len(x)))
    by_weight = counts if w is None else np.add.reduceat(w, starts)
    if not could_be_point(counts, by_weight):
        return None
    most = int(np.argmax(by_weight))
    at, share = float(distinct[most]), float(by_weight[most] / by_weight.sum())
    width, rest = length_of(step, x[0], x[-1]), x != at
    y, v = x[rest], None if w is None else w[rest]
    without = _best(x, w, width, may_be_log)
    mass = share * np.log(share / width) + (1 - share) * (np.log1p(-share) + _best(y, v, width, may_be_log))
    return (at, share) if mass - without > WORTH_A_POINT else None


def could_be_point(counts: NDArray[np.int64], by_weight: NDArray[Any]) -> bool:
    """Whether the most frequent number of a column is in many rows, and in many more than the next.

    Args:
        counts: In how many rows each of the distinct numbers is.
        by_weight: What these rows weigh.
    """
    most = int(np.argmax(by_weight))
    next_most = np.delete(by_weight, most).max(initial=0)
    alone = by_weight[most] >= TIMES_THE_NEXT * next_most > 0
    return bool(alone and by_weight[most] >= LEAST_SHARE * by_weight.sum() and counts[most] >= FEW_ROWS)


def _best(x: NDArray[np.float64], w: NDArray[np.float64] | None, width: float, may_be_log: bool) -> float:
    """The log density a row of a normal distribution of the numbers, or of their logarithms if that is greater.

    The normal is at least as wide as what the numbers are rounded to.
    """
    size = float(np.abs(x).max()) or 1.0
    sd = max(_moments(x / size, w)[1] * size, width / np.sqrt(12))
    normal = -np.log(sd) - 0.5 * (1 + np.log(2 * np.pi))
    return float(normal + max(gain(x, w), 0.0)) if may_be_log else float(normal)


def gain(values: NDArray[np.float64], weights: NDArray[np.float64] | None = None) -> float:
    """What a logarithm gains in the log density of a normal distribution, in nats a row; minus infinity if it cannot.

    Args:
        values: Numbers, NaN where one is missing.
        weights: How often each counts.
    """
    x, w = _known(values, weights)
    if len(x) < FEW_ROWS or not x.min() >= 0 or x.min() == x.max():
        return -np.inf
    positive = x[x > 0]
    t = np.log(x if len(positive) == len(x) else x + positive.min() / 2)
    mean, sd = _moments(t, w)
    # Of numbers of any size: the squares of those of about 1 neither overflow nor vanish.
    size = float(x.max())
    return float(np.log(_moments(x / size, w)[1]) + np.log(size) - np.log(sd) - mean)


def _moments(x: NDArray[np.float64], weights: NDArray[np.float64] | None) -> tuple[float, float]:
    mean = float(np.average(x, weights=weights))
    return mean, float(np.sqrt(np.average((x - mean) ** 2, weights=weights))) or float(np.finfo(float).tiny)
