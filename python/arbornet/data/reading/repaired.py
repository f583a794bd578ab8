"""Columns of a text file as their reader should have understood them.

Fields of blanks alone are missing. Where commas do not part the fields, they may be decimal: `1,5`. Dates and moments
are those of ISO 8601. What needs the fields of a column of numbers is in `digits`.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

ISO_DATE = r"^\d{4}-\d\d-\d\d$"
ISO_MOMENT = r"^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?$"
_WHOLE = r"^[-+]?\d{1,18}$"
_NUMBER = r"^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$"
_COMMA = r"^[-+]?\d+(,\d+)?([eE][-+]?\d+)?$"
_THOUSANDS = r"^[-+]?\d{1,3}(,\d{3})*$"
LEADING_ZERO = r"^[-+]?0\d"


def unblanked(column: pl.Series, nulls: Sequence[str]) -> pl.Series:
    """Texts without the blanks around words for a missing value; numbers, if the others are that."""
    if column.dtype != pl.String or not column.str.contains(r"^\s|\s$").any():
        return column
    bare = column.str.strip_chars()
    known = column.set(bare.is_in(list(nulls) if "" in nulls else ["", *nulls]).fill_null(False), None)
    if known.null_count() == len(known):
        return known
    rest = known.str.strip_chars()
    made = as_numbers(rest)
    if made.dtype != pl.String:
        return made
    return rest if known.drop_nulls().str.starts_with(" ").all() else known


def as_numbers(column: pl.Series) -> pl.Series:
    """Texts that are all numbers as numbers, unless one has leading zeros; other columns as they are."""
    if column.dtype != pl.String or column.null_count() == len(column) or column.str.contains(LEADING_ZERO).any():
        return column
    for pattern, dtype in ((_WHOLE, pl.Int64), (_NUMBER, pl.Float64)):
        if column.str.contains(pattern).all():
            return column.str.strip_prefix("+").cast(dtype)
    return column


def with_decimal_commas(column: pl.Series, is_certain: bool = False) -> pl.Series:
    """Texts such as `1,5` as numbers; texts that could as well be thousands, `1,500`, stay, unless it is certain."""
    if column.dtype != pl.String or not column.str.contains(_COMMA).all() or column.null_count() == len(column):
        return column
    if (not is_certain and column.str.contains(_THOUSANDS).all()) or column.str.contains(LEADING_ZERO).any():
        return column
    return column.str.replace(",", ".", literal=True).cast(pl.Float64)


def dated(column: pl.Series) -> pl.Series:
    """Texts that are all dates, or moments, as ISO 8601 writes them, as such; other columns as they are."""
    if column.dtype != pl.String or column.null_count() == len(column):
        return column
    for pattern, dtype in ((ISO_DATE, pl.Date), (ISO_MOMENT, pl.Datetime("us"))):
        if column.str.contains(pattern).all():
            try:
                return column.str.strptime(dtype)
            except pl.exceptions.PolarsError:
                return column  # there is no 31 February
    return column
