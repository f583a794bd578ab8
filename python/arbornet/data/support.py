"""What numbers of a column look like: multiples of a step, and none below a least number.

The models are continuous: what they draw has all the digits of a float, and may lie below 0 where no value does. The
way to a number of the column is `the nearest multiple of the step, and the least number for all below it`. It never
changes the order of two numbers, so a quantile of what is drawn is the drawn way's value at that quantile. Densities
and probabilities of events stay those of the numbers before it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from arbornet._core import ColumnError
from arbornet.data.heaps import FEWEST_ROWS, Numbers, as_heaped, heaps_of
from arbornet.data.kinds import Continuous
from arbornet.data.units import log_of, to_original, to_stored

if TYPE_CHECKING:
    from arbornet.data.column import Column
    from arbornet.data.infer import Profile

Ends = tuple[float, float]
Steps = tuple[float, float, float, float]
EVERYTHING: Ends = (-math.inf, math.inf)
STEPPED = ("integer", "number")
"""What has the largest step that few decimals write; dates have that of their type."""
TIMES = {"datetime": 86_400.0, "time": 1.0, "duration": 1.0}
"""Seconds of one in the numbers that stand for moments and times: they have the largest of these units."""
UNITS = (86_400.0, 3600.0, 60.0, 1.0)
FROM_ZERO = (*STEPPED, "duration")
MOST_DECIMALS = 6
#: A number that many rows share stands for this part of the range where no step is known.
POINT_SHARE = 1000.0
#: Of counts, as the core has it.
MOST_COUNTED = 1e6
#: A multiple of the step that an end of an interval misses by rounding only.
SLACK = 1e-9
#: Of one in stored units, as the core has it.
ROUNDING = 1e-12
#: Whole numbers below it are floats.
EXACT = 2.0**53


def check_counts(column: Column, values: Numbers) -> None:
    """That a column with leaves of counts holds counts.

    Raises:
        ColumnError: If it holds another number, with its row.
    """
    bad = (values != np.floor(values)) | (values < 0) | (values > MOST_COUNTED)
    rows = np.flatnonzero(bad & ~np.isnan(values))
    if rows.size:
        raise ColumnError(
            f"column '{column.name}' holds {values[rows[0]]:.10g} (first in row {rows[0]}), and leaf='counts' is for "
            f"whole numbers from 0 to {MOST_COUNTED:,.0f}; choose leaf='normal', or leaf='lognormal' if none is below 0"
        )


def unit_of(class_: str, values: Numbers) -> float | None:
    """The day, hour, minute or second, in stored numbers, that all moments or times are multiples of.

    Args:
        class_: What the values are.
        values: The numbers that stand for them; NaN is missing.
    """
    size = TIMES.get(class_)
    known = values[~np.isnan(values)]
    if size is None or known.size == 0:
        return None
    seconds = known * size
    blur = 4 * np.finfo(np.float64).eps * float(np.abs(seconds).max())
    for unit in UNITS:
        if float(np.abs(seconds - unit * np.round(seconds / unit)).max()) <= blur:
            return unit / size
    return None


def with_support(
    column: Column, seen: Profile, values: Callable[[], Numbers], weights: Numbers | None = None
) -> Column:
    """The column with its step, its least number and its heaps, as declared or as all of its values have them.

    Args:
        column: The column.
        seen: Its profile.
        values: Gives its numbers.
        weights: How often each row counts.

    Raises:
        ColumnError: If a value is below the least number that was declared.
    """
    kind = column.kind
    if not isinstance(kind, Continuous):
        return column
    smallest = seen.range_[0] if seen.range_ is not None else math.inf
    step, least = kind.step, kind.least
    if kind.leaf == "counts":
        step, least = (1.0 if step == "auto" else step), (0.0 if least == "auto" else least)
    if least is not None and least != "auto" and smallest < least:
        raise ColumnError(
            f"column '{column.name}' holds {smallest:g}, below its declared least={least:g}; "
            "declare a smaller one, least=None, or replace such values"
        )
    if step == "auto":
        step = seen.step if column.class_ in STEPPED else None
        step = unit_of(column.class_, values()) if column.class_ in TIMES else step
    if least == "auto":
        # No number of a logarithmic scale is below 0.
        able = not kind.is_log and column.class_ in FROM_ZERO and math.isfinite(smallest)
        least = 0.0 if able and smallest >= 0 else None
    point = _point(kind, step, seen.range_)
    # Who wants all digits, wants no heaps. Few rows are not worth a call of the core.
    able = kind.step is not None and seen.n_values >= (FEWEST_ROWS if weights is None else 1)
    heaps = heaps_of(values(), step, None if point is None else point[0], weights) if able else None
    places, numbers = heaps or (None, None)
    return replace(column, step=step, least=least, point=point, heap_places=places, heap_numbers=numbers)


def _point(kind: Continuous, step: float | None, range_: Ends | None) -> tuple[float, float] | None:
    """A number that many rows share, with the length it stands for."""
    if not isinstance(kind.point, float):
        return None
    # Of counts it is as long as all others, whatever is drawn.
    return kind.point, 1.0 if kind.leaf == "counts" else length_of(step, *range_ or (0.0, 0.0))


def length_of(step: float | None, low: float, high: float) -> float:
    """The length of numbers that one stands for: the column's step, or a share of its range."""
    share = high / POINT_SHARE - low / POINT_SHARE
    return step or (share if 0 < share < math.inf else 1.0)


def supported(column: Column, values: Numbers, limit: Ends | None = None) -> Numbers:
    """Numbers in the user's units as those of the column that they stand for; NaN stays.

    Args:
        column: A continuous column.
        values: The numbers.
        limit: An interval in stored units in which they are, the low end within: they stay in it.
    """
    values = _at_point(column, values)
    least = _least(column)
    if column.step is None and least is None:
        return values
    low, high = EVERYTHING if limit is None else (_end(column, limit[0]), _end(column, limit[1]))
    if column.step is not None:
        values, (low, high) = _stepped(values, column.step, low, high)
    elif math.isfinite(high):
        high = math.nextafter(high, -math.inf)
    if least is not None and least <= high:
        low = max(low, least)
    return values if (low, high) == EVERYTHING else np.clip(values, low, high)


def as_drawn(column: Column, values: Numbers, limit: Ends | None = None) -> Numbers:
    """Numbers that were drawn, in the user's units, as those of the column: heaped as its rows are, and `supported`.

    Args:
        column: A continuous column.
        values: The numbers.
        limit: An interval in stored units in which they are, the low end within: they stay in it.
    """
    low, high = EVERYTHING if limit is None else (_end(column, limit[0]), _end(column, limit[1]))
    return supported(column, as_heaped(column, _at_point(column, values), low, high), limit)


def _at_point(column: Column, values: Numbers) -> Numbers:
    """The numbers, with those exactly at the number that many rows share that rounding on the way here has moved."""
    if column.point is None or column.scale is None:
        return values
    stored = to_stored(column.scale, np.array([column.point[0]]))[0]
    near = np.abs(to_stored(column.scale, values) - stored) <= ROUNDING * (1 + abs(stored))
    return np.where(near, column.point[0], values) if near.any() else values


def drawn_range(column: Column) -> Ends:
    """The range of a column's draws in stored units: as observed, with half a step on either side for rounding."""
    if column.levels is not None or column.range_ is None:
        return EVERYTHING
    step = _drawn_step(column)
    ends = np.array(column.range_) + np.array((-step / 2, step / 2))
    low, high = to_stored(column.scale, ends).tolist()
    # What lies below 0 has no logarithm.
    return (low if low == low else -math.inf), (high if high == high else math.inf)


def drawn_steps(column: Column) -> Steps | None:
    """What the numbers of a column that are drawn into its gaps are multiples of, if they are.

    Returns:
        Whole numbers times the first over the second; the first and the last of them, infinite where there is none.
    """
    step = _drawn_step(column)
    if column.levels is not None or not step:
        return None
    units, per = _fraction(step)
    low, high = column.range_ or EVERYTHING
    least = _least(column)
    low = low if least is None else max(low, least)
    if any(math.isfinite(end) and not abs(end) / step < EXACT for end in (low, high)):
        return None
    first = math.ceil(low * per / units - SLACK) * units / per if math.isfinite(low) else low
    last = math.floor(high * per / units + SLACK) * units / per if math.isfinite(high) else high
    return (units, per, first, last) if first <= last else None


def _drawn_step(column: Column) -> float:
    """The step of what is drawn; 0 for none."""
    return column.step or (1.0 if column.class_ in ("date", "integer") else 0.0)


def within_observed(column: Column, values: Numbers) -> Numbers:
    """Numbers that were drawn within their range, without what rounding leaves beyond it."""
    if column.range_ is None:
        return values
    low, high = supported(column, np.array(column.range_))
    return np.clip(values, low, high, out=values)


def is_of_column(column: Column, values: Numbers) -> bool:
    """Whether all of these are numbers that the column can hold."""
    return np.array_equal(supported(column, values), values, equal_nan=True)


def bounded(column: Column, values: Numbers) -> Numbers:
    """Numbers, none below the least: point predictions, which keep what they tell between two steps."""
    return values if column.least is None else np.maximum(values, column.least)


def _least(column: Column) -> float | None:
    if column.step is not None and log_of(column.scale) == 0:  # above 0
        return max(column.step, column.least or 0.0)
    return column.least


def _end(column: Column, stored: float) -> float:
    """An end of an interval in the user's units; an open one stays open."""
    return float(to_original(column.scale, np.array([stored]))[0]) if math.isfinite(stored) else stored


def _stepped(values: Numbers, step: float, low: float, high: float) -> tuple[Numbers, Ends]:
    """The nearest multiples of a step within an interval, and the outermost of them; if there is none, the numbers.

    The low end is in the interval, the high end is not.
    """
    units, per = _fraction(step)
    if any(math.isfinite(end) and not abs(end) / step < EXACT for end in (low, high)):
        return values, (low, high)
    first = math.ceil(low * per / units - SLACK) if math.isfinite(low) else low
    last = math.ceil(high * per / units - SLACK) - 1 if math.isfinite(high) else high
    if first > last:
        return values, (low, high)
    # In place, as there may be just room enough for the rows. What overflows is told apart below.
    with np.errstate(over="ignore"):
        multiples = values * per
        multiples /= units
        np.round(multiples, out=multiples)
        # The quotient of two whole numbers is the float that its decimals are read as. Without the zero's sign.
        multiples *= units
        multiples /= per
        multiples += 0.0
    sizes = [abs(float(end)) for end in (np.nanmin(multiples), np.nanmax(multiples))] if _any(multiples) else [0.0]
    if max(sizes) >= EXACT * step:  # where there are no multiples between floats
        multiples = np.where(np.abs(multiples) < EXACT * step, multiples, values)
    return multiples, (first * units / per, last * units / per)


def _any(values: Numbers) -> bool:
    return bool(values.size) and not bool(np.isnan(values).all())


def _fraction(step: float) -> tuple[float, float]:
    """A step as a whole number over a power of ten, or one over a whole number, if it is one."""
    for decimals in range(MOST_DECIMALS + 1):
        per = 10.0**decimals
        units = round(step * per)
        if units > 0 and units / per == step:
            return float(units), per
    # Hours, minutes and seconds of a day.
    parts = round(1.0 / step) if step > 1.0 / EXACT else 0
    return (1.0, float(parts)) if parts > 0 and 1.0 / parts == step else (step, 1.0)
