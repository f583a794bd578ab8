"""Which columns of numbers are taken by their logarithm: those whose simplest model that makes much more probable.

The model is one normal leaf for all rows, in the user's units. What it says of standardised values depends on their
number only, so a logarithm gains the difference of what standardising costs on either scale: with `t = ln(x + shift)`,
`ln sd(x) - ln sd(t) - mean(t)` nats a row. Money, counts, durations and concentrations gain; what is symmetric loses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from arbornet._core import ParameterError
from arbornet.data.frames import Raw
from arbornet.data.kinds import Continuous
from arbornet.data.looks.written import as_read

if TYPE_CHECKING:
    from arbornet.data.schema import Column

Scales: TypeAlias = Literal["linear", "auto"]
"""Whether every column keeps its linear scale, or skewed ones are taken by their logarithm."""

#: Nats a row that a logarithm has to gain; and of numbers of which some are 0, since a part of what these gain is the
#: density that is heaped up there.
WORTH_IT = 0.1
WITH_ZEROS = 0.2
#: Fewer rows with a value say little about how they are spread.
FEW_ROWS = 20
#: What dates and times of day hold has no zero, and so no logarithm.
CLASSES = ("number", "integer", "duration")


def check_scales(scales: object) -> None:
    """Raises ParameterError if this is no way to choose scales."""
    if scales not in ("linear", "auto"):
        raise ParameterError(f"scales={scales!r}: choose 'linear' or 'auto'")


def with_scales(raw: Raw, columns: Sequence[Column], weights: NDArray[np.float64] | None = None) -> list[Column]:
    """The columns, those of them on a logarithmic scale that gain by it.

    Args:
        raw: The frame.
        columns: Its columns as they were inferred.
        weights: How often each row counts, if not all count once.
    """
    able = [column for column in columns if _may_be_log(column)]
    read = as_read(raw, able, 1)
    chosen = {}
    for column in able:
        values = read.numbers(read.places[column.name])
        if gain(values, weights) > (WITH_ZEROS if (values == 0).any() else WORTH_IT):
            reason = f"{column.reason}, skewed: their logarithm is more like a normal distribution"
            chosen[column.name] = replace(column, kind=Continuous("log"), reason=reason)
    return [chosen.get(column.name, column) for column in columns]


def _may_be_log(column: Column) -> bool:
    plain = column.used and column.kind == Continuous() and column.class_ in CLASSES
    return plain and column.range_ is not None and 0 <= column.range_[0] < column.range_[1]


def gain(values: NDArray[np.float64], weights: NDArray[np.float64] | None = None) -> float:
    """What a logarithm gains in the log density of a normal distribution, in nats a row; minus infinity if it cannot.

    Args:
        values: Numbers, NaN where one is missing.
        weights: How often each counts.
    """
    # In an order of their own, so that sums are the same for any order of the rows.
    order = np.argsort(values) if weights is None else np.lexsort((weights, values))
    known = order[~np.isnan(values[order])]
    known = known if weights is None else known[weights[known] > 0]
    x, w = values[known], None if weights is None else weights[known]
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
