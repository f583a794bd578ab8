"""From codes and standardised numbers back to the user's values, as Polars columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from arbornet.data.frames_out import beside
from arbornet.data.kinds import Level
from arbornet.data.units import to_original

if TYPE_CHECKING:
    from arbornet.data.column import Column
    from arbornet.data.table import Table

_MICROSECONDS_A_DAY = 86_400_000_000
#: Microseconds.
ROUNDED = 10
_NANOSECONDS_A_DAY = 86_400_000_000_000
#: Beyond these a value of the class fits no column of its type: years of six digits, 63 bits of micro- or nanoseconds.
_MOST = {"integer": 2.0**63, "date": 9e7, "datetime": 9e7, "duration": 9e12, "duration ns": 9e9, "time": 9e9}


def to_polars(table: Table) -> pl.DataFrame:
    """All rows of a table in the user's values."""
    handle = table.handle
    series = []
    for var, column in enumerate(table.schema.used):
        if handle.levels(var) is None:
            series.append(numbers_to_series(column, to_original(handle.scale(var), handle.reals(var))))
        else:
            series.append(codes_to_series(column, handle.codes(var)))
    return beside(series)


def numbers_to_series(column: Column, values: NDArray[np.float64]) -> pl.Series:
    """Numbers in original units as the type they came in: whole numbers, dates, spans of time.

    Times of day go round the clock; moments of a zone that Polars does not know are given in UTC. A column with a value
    that the type cannot hold stays one of numbers.
    """
    series = pl.Series(column.name, values, nan_to_null=True)
    most: Any = series.abs().max()
    kind = f"{column.class_} {column.unit}" if column.unit else column.class_
    if most is not None and most >= _MOST.get(kind, np.inf):
        return series
    if column.class_ == "integer":
        whole = series.round(0)
        return whole.cast(pl.Int64) if _close(series, whole) else series
    if column.class_ == "date":
        return series.round(0).cast(pl.Int32).cast(pl.Date)
    if column.class_ == "datetime":
        return _moments(series, column.zone, column.step)
    if column.class_ == "duration":
        if column.unit == "ns":
            return (series * 1e9).round(0).cast(pl.Int64).cast(pl.Duration("ns"))
        return (series * 1e6).round(0).cast(pl.Int64).cast(pl.Duration("us"))
    if column.class_ == "time":
        return ((series * 1e9).round(0).cast(pl.Int64) % _NANOSECONDS_A_DAY).cast(pl.Time)
    return series


def _moments(days: pl.Series, zone: str | None, step: float | None) -> pl.Series:
    micro = (days * _MICROSECONDS_A_DAY).round(0).cast(pl.Int64)
    if step is not None and (unit := round(step * _MICROSECONDS_A_DAY)) > 0:
        # A day as a float tells some microseconds at best: a whole minute is one.
        whole = ((micro + unit // 2) // unit) * unit
        micro = whole.zip_with((micro - whole).abs() <= ROUNDED, micro)
    if not zone:
        return micro.cast(pl.Datetime("us"))
    moments = micro.cast(pl.Datetime("us", "UTC"))
    try:
        return moments.dt.convert_time_zone(zone)
    except pl.exceptions.ComputeError:  # an offset such as +05:30
        return moments


def _close(series: pl.Series, whole: pl.Series) -> bool:
    furthest: Any = ((series - whole).abs() / (1.0 + series.abs())).max()
    return furthest is not None and float(furthest) < 1e-9


def codes_to_series(column: Column, codes: NDArray[np.unsignedinteger[Any]]) -> pl.Series:
    """Codes as levels; a code beyond the levels, or that of the level for missing values, as null."""
    levels: list[Level | None] = list(column.levels or ())
    if column.missing_level is not None:
        levels[-1] = None
    present = [level for level in levels if level is not None]
    types = {type(level) for level in present}
    if len(types) > 1 and types != {int, float}:
        levels = [None if level is None else str(level) for level in levels]
    values = pl.Series(column.name, levels, dtype=_dtype(types), strict=False)
    if types == {str} and column.word == "ordinal":
        values = values.cast(pl.Enum([str(level) for level in present]))
    places = pl.Series("codes", codes).cast(pl.UInt32)
    known = places.set(places >= len(levels), None)
    return values.gather(known).alias(column.name)


def _dtype(types: set[type]) -> pl.DataType | type[pl.DataType]:
    if types == {bool}:
        return pl.Boolean
    if types == {int}:
        return pl.Int64
    if types <= {int, float} and types:
        return pl.Float64
    return pl.String
